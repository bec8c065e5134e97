"""A member of a classic consumer group: it joins, receives partitions, commits, leaves.

It reports what it is told to the `GroupLedger` that all members of a group share, which checks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from pykbroker.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykbroker.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from pykbroker.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from pykbroker.protocol.primitives import Message
from pykbroker.testing.world.catalog import TopicPromise
from pykbroker.testing.world.clients.routed_client import GROUP, RoutedClient
from pykbroker.testing.world.group_ledger import GroupLedger
from pykbroker.testing.world.world import World
from pykbroker.types import Peer

SESSION_TIMEOUT_MS = 1_000
REBALANCE_TIMEOUT_MS = 600
GROUP_TIMEOUT_MS = SESSION_TIMEOUT_MS + 2_000
"""Version 0 of JoinGroup has no rebalance timeout: the session timeout takes its place."""
FIRST_WITH_GROUPS_LIST = 8
FIRST_WITH_TOPIC_IDS = 10
FIRST_WITH_MEMBERS_LIST = 3

# Join again with the id that the member has.
JOIN_AGAIN = frozenset((ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION))


class GroupMember(RoutedClient):
    """A scripted member of a classic consumer group."""

    def __init__(
        self,
        world: World,
        name: str,
        bootstrap: Sequence[Peer],
        ledger: GroupLedger,
        topic: TopicPromise,
    ) -> None:
        super().__init__(world, name, bootstrap)
        self._ledger = ledger
        self._topic = topic
        self._member_id = ""
        self._generation = -1
        self._owned: list[int] = []
        self._shares: dict[int, dict[str, list[int]]] = {}
        """What this member assigned, by member, in the last generation that it led."""
        self.rounds = 0

    async def script(self) -> None:
        """Join, stay for a while, leave or vanish or neither, join again, until it is stopped."""
        while not self.is_stopping:
            try:
                if await self._join():
                    await self._stay()
                    await self._part()
            except KafkaError as failure:
                self.note(f"has trouble: {failure.code}")
                if not self.knows_one_node:
                    self.forget_coordinators()
            await self.pause(20, 300)

    # ---------------------------------------------------------------- joining

    async def _ask_group(self, message: Message, version: int, timeout_ms: int = 2_000) -> Any:
        """Ask the coordinator; see `ask`. Also raises KafkaError if `GroupLedger.life` has changed
        meanwhile: the answer may be that of a former coordinator.
        """
        life = self._ledger.life
        peer = None if self.knows_one_node else await self.coordinator(GROUP, self._ledger.group)
        response = await self.ask(
            message, version, peer=peer, timeout_ms=timeout_ms, purpose="group"
        )
        if self._ledger.life != life:
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION)
        return response

    async def _join(self) -> bool:
        # A node creates the topic of offsets when it is asked for a coordinator.
        coordinator = await self.coordinator(GROUP, self._ledger.group)
        version = self.version_of("JoinGroup")
        response = await self._ask_group(
            JoinGroupRequest(
                group_id=self._ledger.group,
                session_timeout_ms=SESSION_TIMEOUT_MS,
                rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
                member_id=self._member_id,
                protocol_type="consumer",
                protocols=[JoinGroupRequestProtocol(name="range", metadata=self.name.encode())],
            ),
            version,
            GROUP_TIMEOUT_MS,
        )
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self._member_id = response.member_id
            return False
        if response.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
            self._member_id = ""
        if response.error_code == ErrorCode.NOT_COORDINATOR:
            self.forget_coordinators()
        if response.error_code:
            raise KafkaError(response.error_code)
        self._member_id = response.member_id
        self._generation = response.generation_id
        leads = response.leader == self._member_id
        self._ledger.joined(self._generation, self._member_id, response.leader, coordinator.node_id)
        self.note(f"joined generation {self._generation}{' as its leader' if leads else ''}")
        assignments = self._assign(response.members, coordinator) if leads else []
        return await self._sync(assignments, coordinator)

    def _assign(
        self, members: Sequence[Any], coordinator: Peer
    ) -> list[SyncGroupRequestAssignment]:
        ids = sorted(member.member_id for member in members)
        shares = self._shares.get(self._generation, {})
        if sorted(shares) != ids:  # otherwise it joins again: its first assignment may be lost
            shares = {member_id: [] for member_id in ids}
            for index in range(self._topic.partitions):
                shares[self.dice.choice(ids)].append(index)
            self._shares = {self._generation: shares}
        self._ledger.assigned(self._generation, shares, coordinator.node_id)
        return [
            SyncGroupRequestAssignment(member_id=member_id, assignment=bytes(share))
            for member_id, share in shares.items()
        ]

    async def _sync(self, assignments: list[SyncGroupRequestAssignment], coordinator: Peer) -> bool:
        response = await self._ask_group(
            SyncGroupRequest(
                group_id=self._ledger.group,
                generation_id=self._generation,
                member_id=self._member_id,
                protocol_type="consumer",
                protocol_name="range",
                assignments=assignments,
            ),
            self.version_of("SyncGroup"),
            GROUP_TIMEOUT_MS,
        )
        if response.error_code:
            self._forget_if_unknown(response.error_code)
            return False
        self._owned = list(response.assignment)
        self._ledger.owns(self._generation, self._member_id, self._owned, coordinator.node_id)
        self.note(f"owns {self._owned} in generation {self._generation}")
        await self._fetch_committed()
        return True

    def _forget_if_unknown(self, code: int) -> None:
        if code == ErrorCode.UNKNOWN_MEMBER_ID:
            self._member_id = ""
        elif code not in JOIN_AGAIN:
            raise KafkaError(code)

    # ---------------------------------------------------------------- as a member

    async def _stay(self) -> None:
        self.rounds += 1
        for _ in range(self.dice.randint(1, 12)):
            if self.is_stopping:
                return
            await self.pause(20, 1_500 if self.dice.one_in(6) else 250)
            code = await (self._commit() if self.dice.one_in(2) else self._heartbeat())
            if code:
                self._forget_if_unknown(code)
                return

    async def _heartbeat(self) -> int:
        response = await self._ask_group(
            HeartbeatRequest(
                group_id=self._ledger.group,
                generation_id=self._generation,
                member_id=self._member_id,
            ),
            self.version_of("Heartbeat"),
        )
        return int(response.error_code)

    async def _commit(self) -> int:
        if not self._owned:
            return 0
        commit = self._ledger.commit_sent(self._generation, self.dice.choice(self._owned))
        partition = OffsetCommitRequestPartition(
            partition_index=commit.partition, committed_offset=commit.offset, committed_metadata=""
        )
        topic = OffsetCommitRequestTopic(
            name=self._topic.name, topic_id=self._topic.topic_id, partitions=[partition]
        )
        response = await self._ask_group(
            OffsetCommitRequest(
                group_id=self._ledger.group,
                generation_id_or_member_epoch=self._generation,
                member_id=self._member_id,
                topics=[topic],
            ),
            self.version_of("OffsetCommit"),
        )
        code = int(response.topics[0].partitions[0].error_code)
        self.note(f"commit of {commit.offset} for {commit.partition}: {code}")
        if not code:
            self._ledger.commit_answered(commit)
        elif code in JOIN_AGAIN or code == ErrorCode.UNKNOWN_MEMBER_ID:
            self._ledger.commit_refused(commit)
        return code

    async def _fetch_committed(self) -> None:
        if not self._owned:
            return
        version = self.version_of("OffsetFetch")
        if version >= FIRST_WITH_GROUPS_LIST:
            topics = [
                OffsetFetchRequestTopics(
                    name=self._topic.name,
                    topic_id=self._topic.topic_id,
                    partition_indexes=self._owned,
                )
            ]
            group = OffsetFetchRequestGroup(group_id=self._ledger.group, topics=topics)
            message = OffsetFetchRequest(groups=[group])
        else:
            topic = OffsetFetchRequestTopic(name=self._topic.name, partition_indexes=self._owned)
            message = OffsetFetchRequest(group_id=self._ledger.group, topics=[topic])
        snapshot = self._ledger.snapshot(self._owned)
        response = await self._ask_group(message, version)
        answer = response.groups[0] if version >= FIRST_WITH_GROUPS_LIST else response
        if answer.error_code:
            raise KafkaError(answer.error_code)
        for partition in answer.topics[0].partitions:
            if partition.error_code:
                raise KafkaError(partition.error_code)
            self._ledger.check_fetched(
                snapshot, partition.partition_index, partition.committed_offset
            )

    async def _part(self) -> None:
        """Leave in good order, or vanish, or stay a member and join again."""
        how = self.dice.choice(("leave", "vanish", "stay"))
        if not self._member_id or how == "stay":
            return
        member_id, self._member_id = self._member_id, ""
        self.note(f"will {how}")
        if how == "leave":
            version = self.version_of("LeaveGroup")
            message = LeaveGroupRequest(group_id=self._ledger.group)
            if version >= FIRST_WITH_MEMBERS_LIST:
                message.members = [MemberIdentity(member_id=member_id)]
            else:
                message.member_id = member_id
            await self._ask_group(message, version)
