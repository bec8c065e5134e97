"""OffsetFetch on the wire, in every version."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.offset_fetch import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.broker.handlers.data_plane import error_reply
from tests.broker.handlers.group_broker import TOPIC_ID, GroupBroker


def request(version: int, *, everything: bool = False, topic: str = "t") -> OffsetFetchRequest:
    """Partitions 1 and 0 of a topic, in that order; or all there is."""
    if version < 8:
        topics = None
        if not everything:
            topics = [OffsetFetchRequestTopic(name=topic, partition_indexes=[1, 0])]
        return OffsetFetchRequest(group_id="g", topics=topics)
    named = None
    if not everything:
        named = [
            OffsetFetchRequestTopics(
                name=topic if version < 10 else "",
                topic_id=TOPIC_ID if version >= 10 and topic == "t" else bytes(16),
                partition_indexes=[1, 0],
            )
        ]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=named)])


def group_of(answer: object, version: int) -> object:
    return answer if version < 8 else answer.groups[0]  # type: ignore[attr-defined]


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("version", range(1, 11))
def test_fetch(version: int, everything: bool) -> None:
    if everything and version < 2:
        return  # no way to ask
    broker = GroupBroker()
    broker.commit("g", 5)
    answer = broker.ask(HANDLER, request(version, everything=everything), version)
    (topic,) = group_of(answer, version).topics  # type: ignore[attr-defined]
    assert (topic.topic_id == TOPIC_ID) if version >= 10 else (topic.name == "t")
    found = [(p.partition_index, p.committed_offset, p.error_code) for p in topic.partitions]
    assert found == ([(0, 5, 0)] if everything else [(1, -1, 0), (0, 5, 0)])
    assert all(p.metadata == "" for p in topic.partitions)


@pytest.mark.parametrize("version", range(1, 11))
def test_not_the_coordinator(version: int) -> None:
    broker = GroupBroker(ready=False)
    call = broker.call(HANDLER, request(version), version)
    for answer in (call.answer, error_reply(HANDLER, call.request, 16, None)):
        if version == 1:
            codes = [p.error_code for p in answer.topics[0].partitions]
            assert codes == [int(ErrorCode.NOT_COORDINATOR)] * 2
        else:
            assert group_of(answer, version).error_code == ErrorCode.NOT_COORDINATOR  # type: ignore[attr-defined]


def test_several_groups() -> None:
    broker = GroupBroker()
    for number, name in enumerate("abc"):
        broker.commit(name, number)
    groups = [OffsetFetchRequestGroup(group_id=name, topics=None) for name in "cxab"]
    answer = broker.ask(HANDLER, OffsetFetchRequest(groups=groups), 9)
    found = {
        g.group_id: [p.committed_offset for t in g.topics for p in t.partitions]
        for g in answer.groups
    }
    assert found == {"c": [2], "x": [], "a": [0], "b": [1]}
    assert [g.group_id for g in answer.groups] == list("cxab")


def test_unknown_topic_ids_come_last() -> None:
    broker = GroupBroker()
    broker.commit("g", 5)
    ids = [b"x" * 16, TOPIC_ID, b"y" * 16]
    topics = [OffsetFetchRequestTopics(topic_id=i, partition_indexes=[0]) for i in ids]
    asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=topics)])
    (group,) = broker.ask(HANDLER, asked, 10).groups
    assert [topic.topic_id for topic in group.topics] == [TOPIC_ID, ids[0], ids[2]]
    unknown = int(ErrorCode.UNKNOWN_TOPIC_ID)
    assert [t.partitions[0].error_code for t in group.topics] == [0, unknown, unknown]
    assert [t.partitions[0].committed_offset for t in group.topics] == [5, -1, -1]


def test_a_deleted_topic_takes_its_offsets_with_it() -> None:
    broker = GroupBroker()
    broker.commit("g", 5)
    broker.node.delete_topic()
    answer = broker.ask(HANDLER, request(9, everything=True), 9)
    assert answer.groups[0].topics == []
    broker.node.create_topic("t", partitions=2)
    answer = broker.ask(HANDLER, request(9), 9)
    assert [p.committed_offset for p in answer.groups[0].topics[0].partitions] == [-1, -1]


def test_offsets_survive_a_restart() -> None:
    broker = GroupBroker()
    broker.stable_group("other")
    broker.commit("g", 5)
    broker.node.restart(cleanly=False)
    broker.replica_manager = broker.node.manager
    broker.groups = type(broker.groups).create(
        node_id=1,
        config=broker.config,
        replica_manager=broker.replica_manager,
        environment=broker.environment,
        wake=broker.node.end_turn,
    )
    for partition in range(3):
        broker.groups.runtime.on_elected(partition, 0)
    broker.advance(0)
    answer = broker.ask(HANDLER, request(9), 9)
    assert [p.committed_offset for p in answer.groups[0].topics[0].partitions] == [-1, 5]
    other = broker.describe("other")
    assert (other.group_state, other.members[0].member_assignment) == ("Stable", b"all")


def test_all_offsets_of_a_group_are_told_once() -> None:
    broker = GroupBroker()
    broker.commit("g", 5)
    everything = [OffsetFetchRequestGroup(group_id=group, topics=None) for group in ("g", "h")]
    answer = broker.ask(HANDLER, OffsetFetchRequest(groups=everything * 1000), 8)
    assert [group.group_id for group in answer.groups] == ["g", "h"]
