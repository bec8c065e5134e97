"""One classic group: its members and its place in the rebalance.

State, durable: `durable`, the last `GroupMetadataValue` replayed (generation, protocol, leader,
    members with subscription and assignment). Only this survives, and only `replay_record` changes
    it, both live and in recovery.
State, volatile: everything else, about the rebalance in progress: waiting and pending members, the
    state, a generation not yet written. As in Kafka, it is kept only in memory: after a fail-over a
    group is Stable or Empty by its last record, and members of a later generation join again.
In:  the functions of `join.py`, `sync.py`, `session.py`, `rebalance.py`; `replay_record`.
Invariants: `awaiting_join_count` is the number of members with a parked JoinGroup; `supported`
    counts the members that list a protocol name; a static member's instance id maps to its
    member id.
Source: Kafka's `ClassicGroup.java`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from pykbroker.coordinator.group.classic.member import ClassicMember
from pykbroker.coordinator.group.classic.states import RULES, GroupState
from pykbroker.coordinator.partitioning import java_hash_order
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)
from pykbroker.protocol.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from pykbroker.protocol.primitives import DecodeError

CONSUMER_PROTOCOL_TYPE = "consumer"
GROUP_TYPE = "classic"


class ClassicGroup:
    """One classic group."""

    __slots__ = (
        "awaiting_join_count",
        "durable",
        "generation",
        "group_id",
        "initial_delay_ms",
        "initial_remaining_ms",
        "leader_id",
        "members",
        "new_member_added",
        "pending_members",
        "pending_sync",
        "previous_state",
        "protocol_name",
        "protocol_type",
        "recorded_members",
        "state",
        "state_timestamp_ms",
        "static_members",
        "subscribed_topics",
        "supported",
    )

    def __init__(self, group_id: str, now_ms: int) -> None:
        self.group_id = group_id
        self.durable: GroupMetadataValue | None = None
        self.recorded_members: set[str] = set()
        self.state = GroupState.EMPTY
        self.previous_state = GroupState.DEAD
        self.state_timestamp_ms = now_ms
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader_id: str | None = None
        self.members: dict[str, ClassicMember] = {}
        self.static_members: dict[str, str] = {}
        self.pending_members: dict[str, int] = {}  # member id -> its timer's deadline
        self.pending_sync: set[str] = set()
        self.awaiting_join_count = 0
        self.supported: dict[str, int] = {}
        self.subscribed_topics: frozenset[str] | None = None
        self.new_member_added = False
        self.initial_delay_ms = 0
        self.initial_remaining_ms = 0

    # ---- queries

    @property
    def uses_consumer_protocol(self) -> bool:
        """Whether the members use the embedded consumer protocol (such as KafkaConsumer)."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    @property
    def all_joined(self) -> bool:
        """Whether all members have joined, and no pending one is awaited."""
        return len(self.members) == self.awaiting_join_count and not self.pending_members

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of the members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def supports(self, protocol_type: str, names: Iterable[str]) -> bool:
        """Return whether a member with these protocols can join: it has the members' protocol
        type, and all of them support one of its protocols. In an Empty group any type and
        protocol will do.
        """
        if self.state is GroupState.EMPTY:
            return bool(protocol_type) and any(True for _ in names)
        count = len(self.members)
        return self.protocol_type == protocol_type and any(
            self.supported.get(name, 0) == count for name in names
        )

    def check_member(self, member_id: str, group_instance_id: str | None) -> int:
        """Return 0, or the error code for a request in this member's name."""
        if group_instance_id is not None:
            existing = self.static_members.get(group_instance_id)
            if existing is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if existing != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def select_protocol(self) -> str:
        """Return the protocol of the next generation: supported by all, preferred by most.

        A tie is decided by the order of Java's HashMap.
        """
        count = len(self.members)
        candidates = {name for name, number in self.supported.items() if number == count}
        votes: dict[str, int] = {}
        for member in self.members.values():
            choice = member.vote(candidates)
            votes[choice] = votes.get(choice, 0) + 1
        return max(java_hash_order(votes), key=votes.__getitem__)

    def is_subscribed(self, topic: str) -> bool:
        """Return whether the members consume `topic`. Unknown subscriptions
        of consumers count as yes.
        """
        if self.subscribed_topics is None:
            return self.uses_consumer_protocol
        return topic in self.subscribed_topics

    # ---- membership

    def add(self, member: ClassicMember) -> None:
        """Add a member. The caller has checked `supports`, unless it is replayed."""
        if member.group_instance_id is not None:
            self.static_members[member.group_instance_id] = member.member_id
        if not self.members:
            self.protocol_type = member.protocol_type
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self._count_protocols(member, 1)
        if member.awaiting_join is not None:
            self.awaiting_join_count += 1
        self.pending_members.pop(member.member_id, None)

    def remove(self, member_id: str) -> None:
        """Remove a member or a pending member; another member becomes the leader if necessary."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._count_protocols(member, -1)
            if member.awaiting_join is not None:
                self.awaiting_join_count -= 1
            if member.group_instance_id is not None:
                self.static_members.pop(member.group_instance_id, None)
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)
        self.pending_members.pop(member_id, None)
        self.pending_sync.discard(member_id)

    def replace_static(self, old_id: str, new_id: str) -> ClassicMember:
        """Give a static member a new member id. The caller has answered the old member's parked
        requests. Returns the new object.
        """
        old = self.members.pop(old_id)
        self._count_protocols(old, -1)
        member = ClassicMember(
            member_id=new_id,
            group_instance_id=old.group_instance_id,
            client_id=old.client_id,
            client_host=old.client_host,
            rebalance_timeout_ms=old.rebalance_timeout_ms,
            session_timeout_ms=old.session_timeout_ms,
            protocol_type=old.protocol_type,
            protocols=old.protocols,
            assignment=old.assignment,
        )
        self._count_protocols(member, 1)
        self.members[new_id] = member
        if self.leader_id == old_id:
            self.leader_id = new_id
        if old.group_instance_id is not None:
            self.static_members[old.group_instance_id] = new_id
        return member

    def set_protocols(
        self, member: ClassicMember, protocols: tuple[tuple[str, bytes], ...]
    ) -> None:
        """Set the protocols of a member."""
        self._count_protocols(member, -1)
        member.protocols = protocols
        self._count_protocols(member, 1)

    def park_join(self, member: ClassicMember, caller: Hashable | None) -> None:
        """Set or clear the parked JoinGroup of a member that is in the group."""
        if (caller is None) != (member.awaiting_join is None):
            self.awaiting_join_count += 1 if caller is not None else -1
        member.awaiting_join = caller

    def elect_joined_leader(self) -> bool:
        """Make sure that the leader is a member that has joined; return False if no member has."""
        leader = None if self.leader_id is None else self.members.get(self.leader_id)
        if leader is not None and leader.awaiting_join is not None:
            return True
        for member in self.members.values():
            if member.awaiting_join is not None:
                self.leader_id = member.member_id
                return True
        return False

    # ---- states

    def transition(self, state: GroupState, now_ms: int) -> None:
        """Change to `state`; a transition that is not in the table is a bug."""
        if all(state is not target for _, target in RULES[self.state].leads_to):
            raise RuntimeError(f"group {self.group_id}: {self.state} does not lead to {state}")
        self.previous_state = self.state
        self.state = state
        self.state_timestamp_ms = now_ms

    def start_generation(self, now_ms: int) -> None:
        """End the join phase: CompletingRebalance with members, Empty without.

        This is volatile: the record of the new generation is written at the leader's sync, or
        immediately if the group is empty.
        """
        self.generation += 1
        if self.members:
            self.protocol_name = self.select_protocol()
            self.transition(GroupState.COMPLETING_REBALANCE, now_ms)
        else:
            self.protocol_name = None
            self.transition(GroupState.EMPTY, now_ms)
        self.learn_subscribed_topics()
        self.pending_sync.clear()

    def learn_subscribed_topics(self) -> None:
        """Note the topics of this generation, or of a loaded group. A static member that returns
        may change its subscription; that counts from the next generation on.
        """
        self.subscribed_topics = self._compute_subscribed_topics()

    # ---- durable state

    def to_record_value(self, assignments: dict[str, bytes] | None = None) -> GroupMetadataValue:
        """Return the record of this generation. `assignments` by member id;
        None leaves them unchanged.
        """
        members = []
        for member in self.members.values():
            if assignments is None:
                assignment = member.assignment
            else:
                assignment = assignments.get(member.member_id, b"")
            members.append(
                MemberMetadata(
                    member_id=member.member_id,
                    group_instance_id=member.group_instance_id,
                    client_id=member.client_id,
                    client_host=member.client_host,
                    rebalance_timeout=member.rebalance_timeout_ms,
                    session_timeout=member.session_timeout_ms,
                    subscription=member.metadata(self.protocol_name),
                    assignment=assignment,
                )
            )
        return GroupMetadataValue(
            protocol_type=self.protocol_type or "",
            generation=self.generation,
            protocol=self.protocol_name,
            leader=self.leader_id,
            current_state_timestamp=self.state_timestamp_ms,
            members=members,
        )

    def replay_record(self, value: GroupMetadataValue) -> None:
        """Set the durable state to `value`, and adapt the volatile state.

        Members of an earlier record that are missing in this one are removed. Members that joined
        since (they are in no record yet) stay: the record of a new group is written while its first
        member waits.
        """
        recorded = {record.member_id for record in value.members}
        for member_id in self.recorded_members - recorded:
            self.remove(member_id)
        for record in value.members:
            self._replay_member(value, record)
        self.durable = value
        self.recorded_members = recorded
        self.generation = value.generation
        if value.members or not self.members:
            self.protocol_type = value.protocol_type or None
            self.protocol_name = value.protocol
            self.leader_id = value.leader
            state = GroupState.STABLE if value.members else GroupState.EMPTY
            if self.state is not state:
                self.previous_state = self.state
                self.state = state
            self.state_timestamp_ms = value.current_state_timestamp

    def _replay_member(self, value: GroupMetadataValue, record: MemberMetadata) -> None:
        protocols = ((value.protocol or "", record.subscription),)
        timeout = record.rebalance_timeout
        rebalance_timeout_ms = record.session_timeout if timeout == -1 else timeout
        member = self.members.get(record.member_id)
        if member is not None:
            if protocols[0] not in member.protocols:
                self.set_protocols(member, protocols)
            member.assignment = record.assignment
            member.rebalance_timeout_ms = rebalance_timeout_ms
            member.session_timeout_ms = record.session_timeout
            return
        if record.group_instance_id is not None:
            replaced = self.static_members.get(record.group_instance_id)
            if replaced is not None:
                self.remove(replaced)
        self.add(
            ClassicMember(
                member_id=record.member_id,
                group_instance_id=record.group_instance_id,
                client_id=record.client_id,
                client_host=record.client_host,
                rebalance_timeout_ms=rebalance_timeout_ms,
                session_timeout_ms=record.session_timeout,
                protocol_type=value.protocol_type,
                protocols=protocols,
                assignment=record.assignment,
            )
        )

    def _count_protocols(self, member: ClassicMember, change: int) -> None:
        supported = self.supported
        for name in {name for name, _ in member.protocols}:  # a client may name one twice
            count = supported.get(name, 0) + change
            if count:
                supported[name] = count
            else:
                supported.pop(name, None)

    def _compute_subscribed_topics(self) -> frozenset[str] | None:
        """Return the topics of all members; None if they are not known: in another protocol than
        that of consumers, or if a subscription cannot be decoded.

        Version 0 of the subscription is the prefix of all versions.
        """
        if not self.uses_consumer_protocol:
            return None
        if not self.members:
            return frozenset()
        if self.protocol_name is None:
            return None
        topics: set[str] = set()
        try:
            for member in self.members.values():
                metadata = member.metadata(self.protocol_name)
                subscription, _ = ConsumerProtocolSubscription.decode(metadata, 2, 0)
                topics.update(subscription.topics)
        except DecodeError:
            return None
        return frozenset(topics)
