"""A group coordinator in memory, and the language of `tests/scenarios/groups_*.txt`.

A script is lines of `> command key=value ...`; everything that happens is logged below the command:

    log @0 GroupMetadata g gen=0 ...      a record was appended
    a1 <- JoinGroup MEMBER_ID_REQUIRED    the caller got its reply
    a2 waits                              the request is parked

Run `PYKBROKER_REWRITE_SCENARIOS=1 pytest tests/coordinator/test_group_scenarios.py` to write the
logs anew, and read the diff.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from pykbroker.coordinator.group.classic.group import ClassicGroup
from pykbroker.coordinator.group.group_coordinator_driver import GroupCoordinator
from pykbroker.coordinator.group.settings import GroupSettings
from pykbroker.coordinator.group.shard import GroupShard
from pykbroker.coordinator.record_codecs import GROUP_RECORD_TYPES, RecordCodec
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)
from pykbroker.protocol.messages.group_metadata_key import GroupMetadataKey
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from pykbroker.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from pykbroker.protocol.messages.list_groups_request import ListGroupsRequest
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
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from pykbroker.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from pykbroker.protocol.parts_writer import join_parts
from pykbroker.protocol.record_batch import iter_records, read_header
from tests.coordinator.memory_log import MemoryLog, VirtualLoop

CODEC = RecordCodec(GROUP_RECORD_TYPES)


def subscription(*topics: str) -> bytes:
    """A consumer's metadata: version 0 of the embedded protocol."""
    out: list[Any] = [bytearray(b"\0\0")]
    ConsumerProtocolSubscription(topics=list(topics)).encode(out, 0)
    return join_parts(out)


def error_name(code: int) -> str:
    return ErrorCode(code).name


class GroupWorld:
    """One coordinator with one partition, its log, its time, and a transcript."""

    def __init__(self, **settings: int) -> None:
        self.loop = VirtualLoop()
        self.log = MemoryLog()
        self.log.on_append = self._appended
        self.settings = GroupSettings(num_partitions=1, **settings)
        self.lines: list[str] = []
        self._uuids = 0
        self.groups: GroupCoordinator
        self.start()
        self.log.host(0)

    def start(self) -> None:
        """A coordinator over the log as it is: a start, or a fail-over."""
        self.groups = GroupCoordinator(
            node_id=1,
            settings=self.settings,
            log=self.log,
            scheduler=self.loop,
            clock=self.loop,
            new_uuid=self._new_uuid,
        )

    def _new_uuid(self) -> str:
        self._uuids += 1
        return f"{self._uuids:02d}"

    @property
    def shard(self) -> GroupShard:
        shard: GroupShard = self.groups.runtime._hosted[0].shard
        return shard

    def group(self, group_id: str) -> ClassicGroup:
        return self.shard.groups[group_id]

    def elect(self, epoch: int = 0) -> None:
        self.groups.runtime.on_elected(0, epoch)

    def advance(self, by_ms: int) -> None:
        self.loop.advance(by_ms, self.log.end_turn)

    # ---- transcript

    def say(self, line: str) -> None:
        self.lines.append(line)

    def _appended(self, partition: int, batch: bytes) -> None:
        for record in () if read_header(batch).is_control else iter_records(batch):
            self.say(f"log @{record.offset} {show_record(record.key or b'', record.value)}")

    def _value_or_wait(self, caller: str, outcome: Deferred) -> Any:
        if not outcome.done:
            self.say(f"{caller} waits")
        return outcome.value if outcome.done else outcome

    def ask(self, caller: str, outcome: Any, show: Callable[[Any], str]) -> Any:
        """Note the reply when it comes. Ends the turn, as a worker does after the request."""
        if isinstance(outcome, Deferred):
            if not outcome.done:
                outcome.on_resolved(lambda reply: self.say(f"{caller} <- {show(reply)}"))
                self.log.end_turn()
                return self._value_or_wait(caller, outcome)
            outcome = outcome.value
        self.say(f"{caller} <- {show(outcome)}")
        self.log.end_turn()
        return outcome

    # ---- requests, also used by unit tests

    def join(
        self,
        caller: str = "a",
        *,
        group: str = "g",
        member: str = "",
        instance: str | None = None,
        client: str = "c",
        session: int = 10_000,
        rebalance: int = 60_000,
        protocols: str = "range",
        protocol_type: str = "consumer",
        topics: str = "t",
        version: int = 9,
    ) -> Any:
        """protocols: names with commas; `name:bytes` gives one its own metadata."""
        offered = []
        for part in filter(None, protocols.split(",")):
            name, _, own = part.partition(":")
            metadata = own.encode() if own else subscription(*topics.split("+"))
            offered.append(JoinGroupRequestProtocol(name=name, metadata=metadata))
        request = JoinGroupRequest(
            group_id=group,
            session_timeout_ms=session,
            rebalance_timeout_ms=rebalance,
            member_id=member,
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocols=offered,
        )
        outcome = self.groups.join(request, version, client, "127.0.0.1")
        return self.ask(caller, outcome, show_join)

    def sync(
        self,
        caller: str = "a",
        *,
        group: str = "g",
        member: str,
        generation: int,
        instance: str | None = None,
        protocol_type: str | None = "consumer",
        protocol: str | None = "range",
        assign: str = "",
    ) -> Any:
        """assign: `member=bytes` pairs with commas, from the leader."""
        assignments = []
        for part in filter(None, assign.split(",")):
            name, _, assignment = part.partition(":")
            assignments.append(
                SyncGroupRequestAssignment(member_id=name, assignment=assignment.encode())
            )
        request = SyncGroupRequest(
            group_id=group,
            generation_id=generation,
            member_id=member,
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocol_name=protocol,
            assignments=assignments,
        )
        return self.ask(caller, self.groups.sync(request), show_sync)

    def heartbeat(
        self,
        caller: str = "a",
        *,
        group: str = "g",
        member: str,
        generation: int,
        instance: str | None = None,
    ) -> Any:
        request = HeartbeatRequest(
            group_id=group,
            generation_id=generation,
            member_id=member,
            group_instance_id=instance,
        )
        outcome = self.groups.heartbeat(request)
        return self.ask(caller, outcome, lambda r: f"Heartbeat {error_name(r.error_code)}")

    def leave(self, caller: str = "a", *, group: str = "g", members: str) -> Any:
        """members: ids with commas; `id/instance` or `/instance` for static members."""
        identities = []
        for part in members.split(","):
            member_id, slash, instance = part.partition("/")
            identities.append(
                MemberIdentity(member_id=member_id, group_instance_id=instance if slash else None)
            )
        request = LeaveGroupRequest(group_id=group, members=identities)
        return self.ask(caller, self.groups.leave(request), show_leave)

    def commit(
        self,
        caller: str = "a",
        *,
        group: str = "g",
        member: str = "",
        generation: int = -1,
        instance: str | None = None,
        offsets: str = "t-0:5",
        metadata: str = "",
        retention: int = -1,
        version: int = 9,
    ) -> Any:
        """offsets: `topic-partition:offset` with commas."""
        topics: dict[str, list[OffsetCommitRequestPartition]] = {}
        for part in offsets.split(","):
            name, _, offset = part.partition(":")
            topic, _, index = name.rpartition("-")
            topics.setdefault(topic, []).append(
                OffsetCommitRequestPartition(
                    partition_index=int(index),
                    committed_offset=int(offset),
                    committed_metadata=metadata,
                )
            )
        request = OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=generation,
            member_id=member,
            group_instance_id=instance,
            retention_time_ms=retention,
            topics=[
                OffsetCommitRequestTopic(
                    name=topic, topic_id=topic.encode().ljust(16, b"."), partitions=partitions
                )
                for topic, partitions in topics.items()
            ],
        )
        return self.ask(caller, self.groups.commit_offsets(request, version), show_commit)

    def fetch(
        self, caller: str = "a", *, group: str = "g", topics: str = "*", stable: int = 0
    ) -> Any:
        """topics: `topic-partition` with commas, or * for all."""
        asked = None
        if topics != "*":
            asked = []
            for part in topics.split(","):
                topic, _, index = part.rpartition("-")
                asked.append(OffsetFetchRequestTopics(name=topic, partition_indexes=[int(index)]))
        request = OffsetFetchRequestGroup(group_id=group, topics=asked)
        outcome = self.groups.fetch_offsets(request, bool(stable))
        return self.ask(caller, outcome, show_fetch)

    def delete_offsets(self, caller: str = "a", *, group: str = "g", topics: str) -> Any:
        asked = []
        for part in topics.split(","):
            topic, _, index = part.rpartition("-")
            asked.append(
                OffsetDeleteRequestTopic(
                    name=topic,
                    partitions=[OffsetDeleteRequestPartition(partition_index=int(index))],
                )
            )
        request = OffsetDeleteRequest(group_id=group, topics=asked)
        return self.ask(caller, self.groups.delete_offsets(request), show_offset_delete)

    def describe(self, caller: str = "a", *, groups: str = "g", version: int = 6) -> Any:
        outcome = self.groups.describe(groups.split(","), version)
        return self.ask(caller, outcome, lambda found: "; ".join(map(show_described, found)))

    def list(self, caller: str = "a", *, states: str = "", types: str = "") -> Any:
        request = ListGroupsRequest(
            states_filter=[s for s in states.split(",") if s],
            types_filter=[t for t in types.split(",") if t],
        )
        return self.ask(caller, self.groups.list_groups(request, 5), show_list)

    def delete_groups(self, caller: str = "a", *, groups: str = "g") -> Any:
        outcome = self.groups.delete_groups(groups.split(","))
        return self.ask(
            caller,
            outcome,
            lambda results: (
                "DeleteGroups "
                + " ".join(f"{r.group_id}={error_name(r.error_code)}" for r in results)
            ),
        )

    # ---- the rest of the world

    def delete_topics(self, topics: str) -> None:
        deleted = [(name.encode().ljust(16, b"."), name) for name in topics.split(",")]
        self.groups.runtime.write_all(GroupShard.topics_deleted, deleted)
        self.log.end_turn()

    def restart(self) -> None:
        """The broker dies and another one takes over its log. Its clients see nothing of that."""
        seen = len(self.lines)
        self.groups.stop()
        del self.lines[seen:]
        for hosted in self.log.partitions.values():
            hosted.listeners.clear()
        self.start()
        self.elect()
        self.advance(0)

    def durable_state(self) -> tuple[Any, Any]:
        """What must be a function of the log."""
        groups = {name: group.durable for name, group in self.shard.groups.items()}
        committed = {
            (group, topic, index): entry.as_tuple()
            for group, topics in self.shard.offsets.committed.items()
            for topic, entries in topics.items()
            for index, entry in entries.items()
        }
        return groups, committed

    def run(self, command: str) -> None:
        """One line of a script, without the '>'."""
        verb, *arguments = command.split()
        values: dict[str, Any] = {}
        for argument in arguments:
            key, equals, value = argument.partition("=")
            if not equals:
                values["caller"] = key
            else:
                values[key] = int(value) if value.lstrip("-").isdigit() else value
        if verb == "settings":
            values.pop("caller", None)
            known = {field.name for field in fields(GroupSettings)}
            assert values.keys() <= known, values
            self.settings = GroupSettings(num_partitions=1, **values)
            self.start()
        elif verb == "elect":
            self.elect(values.get("epoch", 0))
        elif verb == "resign":
            self.groups.runtime.on_resigned(0)
        elif verb == "advance":
            self.advance(values["ms"])
        elif verb == "restart":
            self.restart()
        elif verb == "hold-commits":
            self.log.hold_commits = True
        elif verb == "commit-log":
            self.log.hold_commits = False
            self.log.commit()
        elif verb == "refuse-append":
            self.log.refuse_with = int(ErrorCode[values["code"]])
        elif verb == "state":
            self.say(show_state(self.group(values.get("group", "g"))))
        elif verb == "delete-topics":
            self.delete_topics(values["topics"])
        else:
            getattr(self, verb.replace("-", "_"))(**values)


# ---- how things look in a transcript


def show_record(key: bytes, value: bytes | None) -> str:
    record = CODEC.decode(key, value)
    assert record is not None
    if isinstance(record.key, GroupMetadataKey):
        if record.value is None:
            return f"GroupMetadata {record.key.group} tombstone"
        members = ", ".join(f"{m.member_id}={m.assignment.decode()}" for m in record.value.members)
        return (
            f"GroupMetadata {record.key.group} gen={record.value.generation} "
            f"protocol={record.value.protocol} leader={record.value.leader} members=[{members}]"
        )
    name = f"OffsetCommit {record.key.group} {record.key.topic}-{record.key.partition}"
    if record.value is None:
        return f"{name} tombstone"
    return f"{name} offset={record.value.offset} v{record.value_version}"


def show_state(group: ClassicGroup) -> str:
    members = ", ".join(
        f"{member.member_id}={member.assignment.decode()}" for member in group.members.values()
    )
    return (
        f"state {group.group_id} {group.state.value} gen={group.generation} "
        f"leader={group.leader_id} members=[{members}] pending={list(group.pending_members)}"
    )


def show_join(reply: Any) -> str:
    if reply.error_code:
        return f"JoinGroup {error_name(reply.error_code)} member={reply.member_id}"
    members = "".join(f" {m.member_id}" for m in reply.members)
    skip = " skip" if reply.skip_assignment else ""
    return (
        f"JoinGroup gen={reply.generation_id} member={reply.member_id} leader={reply.leader} "
        f"protocol={reply.protocol_type}/{reply.protocol_name}{skip} members=[{members.strip()}]"
    )


def show_sync(reply: Any) -> str:
    if reply.error_code:
        return f"SyncGroup {error_name(reply.error_code)}"
    return f"SyncGroup assignment={reply.assignment.decode()}"


def show_leave(reply: Any) -> str:
    if reply.error_code:
        return f"LeaveGroup {error_name(reply.error_code)}"
    members = " ".join(
        f"{m.member_id or '/' + m.group_instance_id}={error_name(m.error_code)}"
        for m in reply.members
    )
    return f"LeaveGroup {members}"


def show_commit(reply: Any) -> str:
    return "OffsetCommit " + " ".join(
        f"{topic.name}-{p.partition_index}={error_name(p.error_code)}"
        for topic in reply.topics
        for p in topic.partitions
    )


def show_fetch(reply: Any) -> str:
    if reply.error_code:
        return f"OffsetFetch {error_name(reply.error_code)}"
    parts = []
    for topic in reply.topics:
        for p in topic.partitions:
            what = error_name(p.error_code) if p.error_code else p.committed_offset
            parts.append(f"{topic.name}-{p.partition_index}={what}")
    return "OffsetFetch " + (" ".join(parts) or "nothing")


def show_offset_delete(reply: Any) -> str:
    if reply.error_code:
        return f"OffsetDelete {error_name(reply.error_code)}"
    return "OffsetDelete " + " ".join(
        f"{topic.name}-{p.partition_index}={error_name(p.error_code)}"
        for topic in reply.topics
        for p in topic.partitions
    )


def show_described(group: Any) -> str:
    error = f" {error_name(group.error_code)}" if group.error_code else ""
    members = ", ".join(
        f"{m.member_id} {m.client_host} metadata={len(m.member_metadata)}"
        f" assignment={m.member_assignment.decode()}"
        for m in group.members
    )
    return (
        f"{group.group_id} {group.group_state}{error} type={group.protocol_type}"
        f" protocol={group.protocol_data} [{members}]"
    )


def show_list(reply: Any) -> str:
    if reply.error_code:
        return f"ListGroups {error_name(reply.error_code)}"
    return "ListGroups " + (
        " ".join(
            f"{g.group_id}/{g.group_state}/{g.protocol_type}/{g.group_type}" for g in reply.groups
        )
        or "nothing"
    )
