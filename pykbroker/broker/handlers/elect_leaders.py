"""ElectLeaders (43): decided by the active controller.

Behaviour: elects the preferred leader of each partition, or (unclean) any leader for a partition
without one. A partition that needs no election gets ELECTION_NOT_NEEDED; if all partitions are
requested (null) it is omitted. With a `timeout_ms` of 0 or less the answer is REQUEST_TIMED_OUT,
unless the list of topics is empty.
Versions: 0-2. 1+ election type and a top-level error; 0 elects preferred leaders only.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.errors import ErrorCode, KafkaError, message_beyond
from pykbroker.protocol.messages.elect_leaders_response import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

if TYPE_CHECKING:
    from pykbroker.broker.handlers import Outcome
    from pykbroker.broker.services import NodeServices
    from pykbroker.network.request import Request

API_KEY = 43


def handle(services: NodeServices, request: Request) -> Outcome:
    """Pass the request to the active controller, unless its list is empty or it has no time
    left.
    """
    message = request.message
    if message.topic_partitions is not None and not message.topic_partitions:
        return ElectLeadersResponse()
    if message.timeout_ms <= 0:
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)
    return to_controller(services, request, timeout_ms=message.timeout_ms)


def error_reply(request: Request, code: int, message: str | None = None) -> ElectLeadersResponse:
    """Return `code` for every partition, and from version 1 on for the whole request."""
    text = message_beyond(code, message)
    return ElectLeadersResponse(
        error_code=code if request.api_version >= 1 else 0,
        replica_election_results=[
            ReplicaElectionResult(
                topic=topic.topic,
                partition_result=[
                    PartitionResult(partition_id=number, error_code=code, error_message=text)
                    for number in topic.partitions
                ],
            )
            for topic in request.message.topic_partitions or ()
        ],
    )


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=2, error_reply=error_reply
)
