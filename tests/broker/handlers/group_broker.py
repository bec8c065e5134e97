"""A broker for tests of the group handlers, in virtual time: a real coordinator on the logs of a
real replica manager."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.broker.handlers import (
    Handler,
    describe_groups,
    join_group,
    offset_commit,
    sync_group,
)
from pykbroker.broker.metadata.topic_creation import TopicCreation
from pykbroker.coordinator.group.group_coordinator_driver import GroupCoordinator
from pykbroker.deferred import Deferred
from pykbroker.environment.randomness import RandomSource
from pykbroker.environment.real.randomness import Entropy
from pykbroker.environment.slices import InOneGo
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.protocol.messages.create_topics_request import CreateTopicsRequest
from pykbroker.protocol.messages.create_topics_response import (
    CreatableTopicResult,
    CreateTopicsResponse,
)
from pykbroker.protocol.messages.describe_groups_request import DescribeGroupsRequest
from pykbroker.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykbroker.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from pykbroker.protocol.primitives import Message
from tests.broker.handlers.data_plane import Broker, Call
from tests.coordinator.memory_log import VirtualLoop

TOPIC_ID = (7).to_bytes(16, "big")
OFFSETS_TOPIC_NUMBER = 99
OFFSETS_PARTITIONS = 3


class GroupBroker(Broker):
    """Broker 1 leads every partition; "t" has two. `__consumer_offsets` is there if `ready`."""

    def __init__(
        self, *, ready: bool = True, random: RandomSource | None = None, **overrides: Any
    ) -> None:
        super().__init__(
            {
                "offsets.topic.num.partitions": str(OFFSETS_PARTITIONS),
                "group.initial.rebalance.delay.ms": "0",
                **{key.replace("_", "."): value for key, value in overrides.items()},
            }
        )
        self.loop = VirtualLoop(self.node.now_ms)
        environment: Any = SimpleNamespace(
            scheduler=self.loop, clock=self.loop, random=random or Entropy(), slices=InOneGo()
        )
        self.environment = environment
        self.groups = GroupCoordinator.create(
            node_id=1,
            config=self.config,
            replica_manager=self.replica_manager,
            environment=environment,
            wake=self.node.end_turn,
        )
        self.created: list[CreateTopicsRequest] = []
        self.topic_creation = TopicCreation(
            self._create, config=lambda: self.config, now_ms=self.loop.now_ms
        )
        self.creation_error = 0
        self._apply = self.node.apply
        self.node.apply = self.apply  # type: ignore[method-assign]
        self.node.create_topic("t", partitions=2)
        self.register(1, "here", 9092)
        if ready:
            self.make_offsets_topic()

    def now_ms(self) -> int:
        return self.loop.now_ms()

    def apply(self, *records: Any) -> None:
        """Publish to the replica manager, then to the coordinator."""
        delta = MetadataDelta(self.node.image)
        for record in records:
            delta.replay(record)
        self._apply(*records)
        self.groups.apply(delta, self.node.image)
        self.node.end_turn()

    def make_offsets_topic(self) -> None:
        self.node.create_topic(
            GROUP_METADATA_TOPIC,
            partitions=OFFSETS_PARTITIONS,
            number=OFFSETS_TOPIC_NUMBER,
            cleanup_policy="compact",
        )

    def _create(self, request: CreateTopicsRequest, deadline_ms: int) -> Deferred:
        self.created.append(request)
        if not self.creation_error and request.topics[0].name == GROUP_METADATA_TOPIC:
            self.make_offsets_topic()
        results = [
            CreatableTopicResult(name=topic.name, error_code=self.creation_error)
            for topic in request.topics
        ]
        deferred = Deferred()
        deferred.resolve(CreateTopicsResponse(topics=results))
        return deferred

    def advance(self, by_ms: int) -> None:
        self.node.now_ms += by_ms
        self.loop.advance(by_ms, self.node.end_turn)

    def call(self, handler: Handler, message: Message, version: int, client_id: str = "c") -> Call:
        """Ask a handler and end the turn."""
        call = Call(self, handler, message, version, client_id)
        self.node.end_turn()
        return call

    def ask(self, handler: Handler, message: Message, version: int) -> Any:
        return self.call(handler, message, version).answer

    # ---- a group to ask about

    def stable_group(self, group: str = "g") -> str:
        """A consumer group with one static member; its member id."""
        request = JoinGroupRequest(
            group_id=group,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=60_000,
            group_instance_id="i",
            protocol_type="consumer",
            protocols=[
                JoinGroupRequestProtocol(
                    name="range", metadata=b"\0\0\0\0\0\1\0\1t\xff\xff\xff\xff"
                )
            ],
        )
        call = self.call(join_group.HANDLER, request, 9)
        self.advance(0)
        member_id: str = call.answer.member_id
        assignment = SyncGroupRequestAssignment(member_id=member_id, assignment=b"all")
        sync = SyncGroupRequest(
            group_id=group,
            generation_id=1,
            member_id=member_id,
            group_instance_id="i",
            protocol_type="consumer",
            protocol_name="range",
            assignments=[assignment],
        )
        assert self.ask(sync_group.HANDLER, sync, 5).assignment == b"all"
        return member_id

    def commit(self, group: str = "simple", offset: int = 5, partition: int = 0) -> None:
        """A simple group's offset for "t"."""
        at = OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
        request = OffsetCommitRequest(
            group_id=group, topics=[OffsetCommitRequestTopic(name="t", partitions=[at])]
        )
        answer = self.ask(offset_commit.HANDLER, request, 9)
        assert answer.topics[0].partitions[0].error_code == 0

    def describe(self, group: str = "g") -> Any:
        request = DescribeGroupsRequest(groups=[group])
        return self.ask(describe_groups.HANDLER, request, 6).groups[0]
