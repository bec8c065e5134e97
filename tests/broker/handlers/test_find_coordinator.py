"""FindCoordinator: the coordinator's node, and the topic it needs."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.find_coordinator import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from pykbroker.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from pykbroker.protocol.primitives import uuid_to_str
from tests.broker.handlers.data_plane import error_reply
from tests.broker.handlers.group_broker import GroupBroker
from tests.broker.handlers.transaction_broker import TransactionBroker


@pytest.mark.parametrize("version", range(7))
def test_the_coordinator(version: int) -> None:
    broker = GroupBroker()
    if version < 4:
        answer = broker.ask(HANDLER, FindCoordinatorRequest(key="g"), version)
        if version >= 1:
            assert answer.error_message == "NONE"
        found = [answer]
    else:
        request = FindCoordinatorRequest(coordinator_keys=["g", "h"])
        found = broker.ask(HANDLER, request, version).coordinators
        assert [coordinator.key for coordinator in found] == ["g", "h"]
    for one in found:
        assert (one.error_code, one.node_id, one.host, one.port) == (0, 1, "here", 9092)
    assert broker.created == []


def test_the_topic_is_made_at_the_first_request() -> None:
    broker = GroupBroker(ready=False)
    answer = broker.ask(HANDLER, FindCoordinatorRequest(coordinator_keys=["g"]), 6)
    assert answer.coordinators[0].node_id == 1
    (request,) = broker.created
    (topic,) = request.topics
    assert (topic.name, topic.num_partitions, topic.replication_factor) == (
        GROUP_METADATA_TOPIC,
        3,
        1,
    )
    assert {config.name: config.value for config in topic.configs} == {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": "104857600",
    }


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("version", [1, 6])
def test_a_transactional_id(version: int, is_there: bool) -> None:
    broker = TransactionBroker(ready=is_there)
    if version < 4:
        answer = broker.ask(HANDLER, FindCoordinatorRequest(key="id", key_type=1), version)
    else:
        request = FindCoordinatorRequest(key_type=1, coordinator_keys=["id"])
        (answer,) = broker.ask(HANDLER, request, version).coordinators
    assert (answer.error_code, answer.node_id, answer.port) == (0, 1, 9092)
    assert len(broker.created) == (0 if is_there else 1)
    for request_made in broker.created:
        (topic,) = request_made.topics
        assert (topic.name, topic.num_partitions) == (TRANSACTION_STATE_TOPIC, 2)
        assert {config.name: config.value for config in topic.configs} == {
            "unclean.leader.election.enable": "false",
            "compression.type": "uncompressed",
            "cleanup.policy": "compact",
            "min.insync.replicas": "1",
            "segment.bytes": "104857600",
        }


@pytest.mark.parametrize("version", [0, 3, 6])
def test_a_topic_that_cannot_be_made(version: int) -> None:
    broker = GroupBroker(ready=False)
    broker.creation_error = int(ErrorCode.INVALID_REPLICATION_FACTOR)
    request = FindCoordinatorRequest(
        key="g" if version < 4 else "", coordinator_keys=["g"][: version >= 4]
    )
    answer = broker.ask(HANDLER, request, version)
    one = answer if version < 4 else answer.coordinators[0]
    assert one.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert (one.node_id, one.host, one.port) == (-1, "", -1)


SHARE_KEY = f"a:b:{uuid_to_str(bytes(range(16)))}:3"


@pytest.mark.parametrize(
    ("key_type", "key", "version", "code"),
    [
        (2, SHARE_KEY, 6, "COORDINATOR_NOT_AVAILABLE"),
        (2, SHARE_KEY, 5, "INVALID_REQUEST"),
        (2, "no share key", 6, "INVALID_REQUEST"),
        (2, ":AAAA:1", 6, "INVALID_REQUEST"),
        (2, "g:AAAA:1", 6, "INVALID_REQUEST"),
    ],
)
def test_other_key_types(key_type: int, key: str, version: int, code: str) -> None:
    broker = GroupBroker()
    if version < 4:
        request = FindCoordinatorRequest(key=key, key_type=key_type)
        answer = broker.ask(HANDLER, request, version)
    else:
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
        (answer,) = broker.ask(HANDLER, request, version).coordinators
    assert answer.error_code == ErrorCode[code]


@pytest.mark.parametrize("version", [1, 3, 4, 6])
def test_a_key_type_that_there_is_not(version: int) -> None:
    broker = GroupBroker()
    if version < 4:
        answer = broker.ask(HANDLER, FindCoordinatorRequest(key="k", key_type=9), version)
    else:
        request = FindCoordinatorRequest(key_type=9, coordinator_keys=["k"])
        (answer,) = broker.ask(HANDLER, request, version).coordinators
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert answer.error_message.startswith("This most likely occurs because of a request being ma")


def test_a_whole_request_that_failed() -> None:
    broker = GroupBroker()
    call = broker.call(HANDLER, FindCoordinatorRequest(key="g"), 3)
    reply = error_reply(HANDLER, call.request, 15, "why")
    assert (reply.error_code, reply.error_message, reply.node_id) == (15, "why", -1)
    call = broker.call(HANDLER, FindCoordinatorRequest(coordinator_keys=["g", "h"]), 4)
    reply = error_reply(HANDLER, call.request, 15, "why")
    assert [(one.key, one.error_code) for one in reply.coordinators] == [("g", 15), ("h", 15)]
