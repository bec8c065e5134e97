"""No request holds the event loop for longer because it names more.

For each array in each API's request: the longest stretch in which the node does nothing else, in
steps, is the same for a hundred elements and for five times as many. A real node tells how long the
stretches are: `python -m benchmarks.micro.bench_holds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from benchmarks.micro.bench_holds import NODES_ONLY, attacks
from pykbroker.broker.handlers import Route, make_routes
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from pykbroker.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from pykbroker.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykbroker.protocol.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from pykbroker.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.harness.stretches import CountedNode

FEW, MANY = 100, 500

# What is handled without a pause is less here, so that some hundred elements are many.
LIMITS = {
    "broker.metadata.config_admin:FEW": 20,
    "broker.handlers.add_partitions_to_txn:LONG_BYTES": 500,
    "broker.handlers.delete_groups:AT_ONCE": 20,
    "broker.handlers.delete_records:FEW": 20,
    "broker.handlers.describe_configs:FEW": 10,
    "broker.handlers.describe_groups:AT_ONCE": 20,
    "broker.handlers.describe_transactions:FEW": 20,
    "broker.handlers.fetch:LONG_BYTES": 500,
    "broker.requests.fetching:MANY": 50,
    "broker.handlers.list_transactions:FEW": 20,
    "broker.handlers.offset_fetch:FEW": 20,
    "broker.handlers.offset_fetch:LONG_BYTES": 200,
    "broker.handlers.leave_group:AT_ONCE": 10,
    "broker.handlers.write_txn_markers:FEW": 20,
    "broker.requests.long_produce:PIECE": 10,
    "broker.requests.worker:LOOP_ELEMENTS": 50,
    "kraft.controller.requests:MANY_PARTITIONS": 20,
}

ROUTES = [route for route in make_routes() if route.on_broker and route.api.name not in NODES_ONLY]


@pytest.fixture(scope="module")
def node() -> Iterator[CountedNode]:
    with pytest.MonkeyPatch.context() as patch:
        for place, limit in LIMITS.items():
            module, name = place.split(":")
            patch.setattr(import_module(f"pykbroker.{module}"), name, limit)
        counted = CountedNode(patch)
        prepare(counted)
        yield counted
        counted.close()


def prepare(node: CountedNode) -> None:
    """Both coordinators serve, and there is a group."""
    for key_type in (0, 1):
        find = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["g"])
        while node.ask(find).coordinators[0].error_code:
            """The topic is made."""
    join = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=6000,
        rebalance_timeout_ms=6000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range")],
    )
    while node.ask(join).error_code != ErrorCode.MEMBER_ID_REQUIRED:
        """The coordinator loads."""


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.api.name)
def test_the_longest_stretch_does_not_grow(node: CountedNode, route: Route) -> None:
    many = dict(attacks(route.api, MANY))
    grown = {}
    for array, few in attacks(route.api, FEW):
        before, after = node.longest_of(few), node.longest_of(many[array])
        if after - before > (MANY - FEW) * 0.9:  # about a step for each element
            grown[array] = (before, after)
    assert not grown


PARTITIONS = 400
FEW_OF_THEM = 80

Make = Callable[[int], Any]


def commit(count: int) -> OffsetCommitRequest:
    partitions = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=1)
        for index in range(count)
    ]
    topic = OffsetCommitRequestTopic(name="big", partitions=partitions)
    return OffsetCommitRequest(group_id="h", generation_id_or_member_epoch=-1, topics=[topic])


def fetch(count: int) -> OffsetFetchRequest:
    topic = OffsetFetchRequestTopics(name="big", partition_indexes=list(range(count)))
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="h", topics=[topic])])


def fetch_of_one(count: int) -> OffsetFetchRequest:
    topic = OffsetFetchRequestTopic(name="big", partition_indexes=list(range(count)))
    return OffsetFetchRequest(group_id="h", topics=[topic])


def delete(count: int) -> OffsetDeleteRequest:
    partitions = [OffsetDeleteRequestPartition(partition_index=index) for index in range(count)]
    topic = OffsetDeleteRequestTopic(name="big", partitions=partitions)
    return OffsetDeleteRequest(group_id="h", topics=[topic])


EXISTING: dict[str, tuple[Make, int]] = {
    "OffsetCommit": (commit, 9),
    "OffsetFetch": (fetch, 9),
    "OffsetFetch of one group": (fetch_of_one, 7),
    "OffsetDelete": (delete, 0),
}


@pytest.mark.parametrize("case", EXISTING)
def test_nor_does_it_where_what_is_named_exists(node: CountedNode, case: str) -> None:
    make, version = EXISTING[case]
    topic = CreatableTopic(name="big", num_partitions=PARTITIONS, replication_factor=1)
    node.ask(CreateTopicsRequest(topics=[topic], timeout_ms=60_000))
    measured = []
    for count in (FEW_OF_THEM, PARTITIONS):
        stretches = []
        for _ in range(2):
            committed = node.ask(commit(PARTITIONS), 9)
            assert not any(at.error_code for at in committed.topics[0].partitions)
            node.ask(make(count), version)
            stretches.append(node.longest)
        measured.append(min(stretches))
    before, after = measured
    assert after - before <= (PARTITIONS - FEW_OF_THEM) * 0.9
