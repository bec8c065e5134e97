"""Leader elections, requested by a client or by timer.

    PREFERRED (0)   the first replica leads again, if it can lead without losing records
    UNCLEAN (1)     a partition without a leader gets one, in sync or not, and may lose records

By timer, the first kind is held if `auto.leader.rebalance.enable` is set, the second for topics
with `unclean.leader.election.enable`.

Source: Kafka's `ReplicationControlManager.electLeaders`, `.maybeBalancePartitionLeaders` and
`.maybeElectUncleanLeaders`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller import partition_change
from pykbroker.kraft.controller.batch_size import check_batch_size
from pykbroker.kraft.controller.partitions import changed_partition, found_partition
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.partition_image import NO_LEADER
from pykbroker.protocol.messages.elect_leaders_response import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

if TYPE_CHECKING:
    from pykbroker.kraft.image import TopicImage
    from pykbroker.kraft.partition_image import PartitionImage

PREFERRED: Final = 0
UNCLEAN: Final = 1
MAX_ELECTIONS: Final = 1_000
"""In one decision by the clock."""
_ELECTIONS: Final = {
    PREFERRED: partition_change.PREFERRED,
    UNCLEAN: partition_change.UNCLEAN,
}


def elect_leaders(state: ControllerState, request: Any) -> Decision[MetadataRecord]:
    """Decide an ElectLeadersRequest; the reply is an ElectLeadersResponse.

    A request without topics (null) covers every partition; its reply omits partitions that need no
    election. Raises KafkaError for an unknown type of election, or if too many leaders would
    change.
    """
    election = request.election_type
    if election not in _ELECTIONS:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown election type {election}")
    records: list[MetadataRecord] = []
    reply = ElectLeadersResponse()
    asked: Iterable[tuple[str, Iterable[int]]]
    if request.topic_partitions is None:
        topics = state.image.topics_by_name.values()
        asked = ((topic.name, topic.partitions) for topic in topics)
    else:
        asked = ((topic.topic, topic.partitions) for topic in request.topic_partitions)
    for name, numbers in paced(asked, state.breathe):
        result = ReplicaElectionResult(topic=name)
        reply.replica_election_results.append(result)
        for number in paced(numbers, state.breathe):
            answer = PartitionResult(partition_id=number, error_message=None)
            try:
                record = _elect_leader(state, name, number, election)
            except KafkaError as refusal:
                if (
                    request.topic_partitions is None
                    and refusal.code == ErrorCode.ELECTION_NOT_NEEDED
                ):
                    continue
                answer.error_code, answer.error_message = refusal.code, refusal.message
            else:
                check_batch_size(len(records) + 1)
                records.append(record)
            result.partition_result.append(answer)
    return Decision(records=records, reply=reply, atomic=False)


def _elect_leader(state: ControllerState, name: str, number: int, election: int) -> MetadataRecord:
    if name not in state.image.topics_by_name:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
    found = found_partition(state, name, number)
    if found is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{number}"
        )
    topic, partition = found
    if election == PREFERRED:
        is_needed = partition.leader != partition.preferred_leader
    else:
        is_needed = partition.leader == NO_LEADER
    if not is_needed:
        raise KafkaError(ErrorCode.ELECTION_NOT_NEEDED)
    record = changed_partition(
        state,
        topic,
        number,
        partition,
        partition_change.Targets(),
        election=_ELECTIONS[election],
    )
    if record is None:
        raise KafkaError(
            ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
            if election == PREFERRED
            else ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
        )
    return record


def balance_leaders(state: ControllerState) -> Decision[MetadataRecord]:
    """Elect preferred leaders; the reply is whether there may be more to elect."""
    return _elect_all(state, PREFERRED, state.at(state.index.imbalanced()))


def elect_unclean_leaders(state: ControllerState) -> Decision[MetadataRecord]:
    """Elect unclean leaders where the topic allows it; the reply as for `balance_leaders`."""
    leaderless = state.at(state.index.leaderless())
    allowed = (
        entry for entry in paced(leaderless, state.breathe) if state.elects_unclean(entry[0].name)
    )
    return _elect_all(state, UNCLEAN, allowed)


def _elect_all(
    state: ControllerState,
    election: int,
    partitions: Iterable[tuple[TopicImage, int, PartitionImage]],
) -> Decision[MetadataRecord]:
    records = []
    for entry in paced(partitions, state.breathe):
        record = changed_partition(
            state, *entry, partition_change.Targets(), election=_ELECTIONS[election]
        )
        if record is not None:
            records.append(record)
            if len(records) == MAX_ELECTIONS:
                return Decision(records=records, reply=True, atomic=False)
    return Decision(records=records, reply=False, atomic=False)
