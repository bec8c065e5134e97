"""One long script of group requests: every API and version, and the errors a client can cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from pykbroker.protocol.messages.delete_groups_request import DeleteGroupsRequest
from pykbroker.protocol.messages.delete_topics_request import DeleteTopicsRequest
from pykbroker.protocol.messages.describe_groups_request import DescribeGroupsRequest
from pykbroker.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from pykbroker.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from pykbroker.protocol.messages.list_groups_request import ListGroupsRequest
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
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
    OffsetFetchRequestTopics,
)
from tests.harness.waiting import wait_for
from tests.interop.group_requests import Requests


class Script(Requests):
    """Plays the script; returns the transcript."""

    # ---- the script

    def play(self) -> list[str]:
        try:
            self._prepare()
            parts: tuple[Callable[[], None], ...] = (
                self._joins,
                self._a_group_of_two,
                self._static_members,
                self._leaves,
                self._failures,
                self._several_topics,
                self._offsets,
                self._administration,
                self._coordinators,
            )
            for part in parts:
                self.lines.append(f"## {part.__name__}")
                part()
            return self.lines
        finally:
            self.close()

    def _prepare(self) -> None:
        topic = CreatableTopic(name=self.topic, num_partitions=2, replication_factor=1)
        self.answer_to(CreateTopicsRequest(topics=[topic], timeout_ms=30_000), 7)
        wait_for(self._topic_is_there, "the topic")
        wait_for(self._coordinator_is_there, "the coordinator")

    def _topic_is_there(self) -> bool:
        asked = MetadataRequest(topics=[MetadataRequestTopic(name=self.topic)])
        (found,) = self.answer_to(asked, 12).topics
        self.topic_id = found.topic_id
        return not found.error_code and len(found.partitions) == 2

    def _coordinator_is_there(self) -> bool:
        request = FindCoordinatorRequest(coordinator_keys=[self.group("g")])
        (coordinator,) = self.answer_to(request, 6).coordinators
        if coordinator.error_code:
            return False
        listed = self.answer_to(ListGroupsRequest(), 5)
        fetched = self.answer_to(
            OffsetFetchRequest(
                groups=[
                    OffsetFetchRequestGroup(group_id=self.group(name), topics=None)
                    for name in ("g", "s", "v", "two", "static", "leaves", "solo", "connect")
                ]
            ),
            9,
        )
        return not listed.error_code and not any(g.error_code for g in fetched.groups)

    def _joins(self) -> None:
        for version in range(10):
            group = f"v{version}"
            answer = self.join("first join", group, version)
            member_id = answer.member_id
            if version >= 4:
                answer = self.join("with the id", group, version, member_id=member_id)
            self.join("unknown member", group, version, member_id="ghost")
            self.join("short session", group, version, session_timeout_ms=99)
            self.join("no group id", group, version, group_id="")
            self.join("other type", group, version, protocol_type="connect")
            self.join("other protocol", group, version, protocols=("other",))
            self.join("no protocol", group, version, protocols=())
            self.join("repeated", group, version, member_id=answer.member_id)
        self.join("unknown group and member", "nobody", 9, member_id="ghost")
        self.join("new group, no protocol", "empty1", 3, protocols=())
        self.join("new group, no type", "empty2", 3, protocol_type="")
        self._await("empty2", "Empty")  # the answer may come before the group is committed
        self.describe("groups nobody joined", "empty1", "empty2", "nobody")

    def _a_group_of_two(self) -> None:
        first, second = self.client("first"), self.client("second")
        group = "two"
        a = self.join("pending", group, 9).member_id
        self._await(group, "Empty")  # the answer may come before the group is committed
        self.describe("pending", group)
        a = self.join("a joins", group, 9, member_id=a).member_id
        self.describe("completing", group)
        self.commit("completing", group, 9, member_id=a, generation_id_or_member_epoch=1)
        self.heartbeat("completing", group, member_id=a, generation_id=1)
        self.heartbeat("old generation", group, member_id=a, generation_id=0)
        self.sync("old generation", group, 5, member_id=a, generation_id=0)
        self.sync("ghost", group, 5, member_id="ghost", generation_id=1)
        self.sync("protocol", group, 5, member_id=a, generation_id=1, protocol_name="other")
        self.sync("type", group, 5, member_id=a, generation_id=1, protocol_type="other")
        self.sync("no protocol", group, 5, member_id=a, generation_id=1, protocol_name=None)
        self.sync("a syncs", group, 5, member_id=a, generation_id=1, assign={a: b"one"})
        for version in range(6):
            self.sync("again", group, version, member_id=a, generation_id=1)
        for version in range(5):
            self.heartbeat("stable", group, version, member_id=a, generation_id=1)
        for version in range(7):
            self.describe("stable", group, version=version)
        self.describe("operations", group, operations=True)
        b = self.join("b is pending", group, 9).member_id
        self.request(second, self.join_request(group, 9, member_id=b), 9)
        self._until_preparing(group)
        self.describe("preparing", group)
        self.heartbeat("preparing", group, member_id=a, generation_id=1)
        self.sync("preparing", group, 5, member_id=a, generation_id=1)
        self.commit("preparing", group, 9, member_id=a, generation_id_or_member_epoch=1)
        self.commit("no member", group, 9)
        self.commit("ghost", group, 9, member_id="ghost", generation_id_or_member_epoch=1)
        self.commit("old", group, 9, member_id=a, generation_id_or_member_epoch=0)
        self.ask("preparing", DeleteGroupsRequest(groups_names=[self.group(group)]), 3)
        self.request(first, self.join_request(group, 9, member_id=a), 9)
        self.say("a rejoins", first.answer())
        self.say("b joins", second.answer())
        self.request(second, self.sync_request(group, 5, member_id=b, generation_id=2), 5)
        self.request(
            first,
            self.sync_request(group, 5, member_id=a, generation_id=2, assign={a: b"1", b: b"2"}),
            5,
        )
        self.say("a syncs", first.answer())
        self.say("b syncs", second.answer())
        self.describe("stable with two", group)
        self.join("b repeats", group, 9, member_id=b)
        self.ask("b leaves", self._leave(group, MemberIdentity(member_id=b)), 5)
        self.heartbeat("b is gone", group, member_id=b, generation_id=2)
        self.heartbeat("a has to rejoin", group, member_id=a, generation_id=2)
        self.ask("a leaves", self._leave(group, MemberIdentity(member_id=a)), 5)
        self.describe("empty", group)
        self.heartbeat("empty", group, member_id=a, generation_id=2)
        self.sync("empty", group, 5, member_id=a, generation_id=2)
        self.join("empty, old member", group, 9, member_id=a)
        self.commit("empty, old member", group, 9, member_id=a, generation_id_or_member_epoch=2)
        self.commit("empty, any member", group, 9, member_id="whoever")

    def _until_preparing(self, group: str) -> None:
        self._await(group, "PreparingRebalance")

    def _until_members(self, group: str, count: int) -> None:
        wait_for(lambda: len(self._described(group).members) == count, f"{count} members")

    def _leave(self, group: str, *members: MemberIdentity) -> LeaveGroupRequest:
        return LeaveGroupRequest(group_id=self.group(group), members=list(members))

    def _static_members(self) -> None:
        group = "static"
        a = self.join("joins", group, 9, group_instance_id="i").member_id
        self.sync("syncs", group, 5, member_id=a, generation_id=1, assign={a: b"all"})
        self.describe("static", group)
        b = self.join("restarts, v9", group, 9, group_instance_id="i").member_id
        self.heartbeat("fenced", group, member_id=a, generation_id=1, group_instance_id="i")
        self.sync("fenced", group, 5, member_id=a, generation_id=1, group_instance_id="i")
        self.heartbeat("without the instance", group, member_id=a, generation_id=1)
        fenced = {"member_id": a, "generation_id_or_member_epoch": 1, "group_instance_id": "i"}
        self.commit("fenced", group, 9, **fenced)
        self.join("fenced", group, 9, member_id=a, group_instance_id="i")
        self.join("unknown instance", group, 9, member_id=b, group_instance_id="j")
        self.sync("the new one", group, 5, member_id=b, generation_id=1, group_instance_id="i")
        c = self.join("restarts, v8", group, 8, group_instance_id="i").member_id
        self.sync("the newest one", group, 5, member_id=c, generation_id=1)
        d = self.join("restarts, v5", group, 5, group_instance_id="i").member_id
        self.join("other protocols", group, 9, group_instance_id="i", protocols=("x", "range"))
        self.describe("replaced", group)
        self.ask(
            "fenced", self._leave(group, MemberIdentity(member_id=d, group_instance_id="i")), 5
        )
        self.ask("unknown", self._leave(group, MemberIdentity(group_instance_id="j")), 5)
        self.ask("removed", self._leave(group, MemberIdentity(group_instance_id="i")), 5)
        self.describe("removed", group)

    def _leaves(self) -> None:
        for version in range(6):
            group = "leaves"
            member = self.join("joins", group, 3).member_id
            if version < 3:
                ghost = LeaveGroupRequest(group_id=self.group(group), member_id="ghost")
                self.ask("ghost", ghost, version)
                leaver = LeaveGroupRequest(group_id=self.group(group), member_id=member)
                self.ask("leaves", leaver, version)
                self.ask("no group id", LeaveGroupRequest(member_id=member), version)
                ghost.group_id = self.group("nobody")
                self.ask("no such group", ghost, version)
            else:
                identities = [MemberIdentity(member_id=name) for name in ("ghost", member)]
                self.ask("leave", self._leave(group, *identities), version)
                self.ask("no group id", LeaveGroupRequest(members=identities), version)
                self.ask("no such group", self._leave("nobody", *identities), version)
        pending = self.join("pending", "leaves", 9).member_id
        self.ask("pending", self._leave("leaves", MemberIdentity(member_id=pending)), 5)
        self.join("gone", "leaves", 9, member_id=pending)

    def _await(self, group: str, state: str) -> None:
        """Ask until the group is in that state."""
        wait_for(lambda: self._described(group).group_state == state, f"{group} to be {state}")

    def _described(self, group: str) -> Any:
        request = DescribeGroupsRequest(groups=[self.group(group)])
        return self.answer_to(request, 6).groups[0]

    def _failures(self) -> None:
        """Members that fail: sessions, rebalance timeouts, sync timeouts, a full group."""
        one, two, three = self.client("one"), self.client("one"), self.client("three")
        # Long enough for a join and its sync one after the other on a machine that is busy.
        brief = {"session_timeout_ms": 8000, "rebalance_timeout_ms": 8000}
        group = "fails"
        a = self.join("a", group, 3, **brief).member_id
        self.sync("a", group, 3, member_id=a, generation_id=1, assign={a: b"all"})
        self._await(group, "Empty")
        self.heartbeat("a failed", group, member_id=a, generation_id=1)
        self.describe("a failed", group)

        group = "late"
        a = self.join("a", group, 3, rebalance_timeout_ms=8000).member_id
        self.sync("a", group, 3, member_id=a, generation_id=1, assign={a: b"all"})
        self.request(one, self.join_request(group, 3, **brief), 3)
        b = self.say("b: a did not rejoin in time", one.answer()).member_id
        self.heartbeat("a is out", group, member_id=a, generation_id=1)
        self._await(group, "Empty")
        self.heartbeat("b never synced", group, member_id=b, generation_id=2)

        group = "full"
        patient = {"rebalance_timeout_ms": 15_000}  # it has to end: a does not get in again
        a = self.join("a", group, 3, **patient).member_id
        self.request(one, self.join_request(group, 3, **patient), 3)
        self._until_preparing(group)
        self.request(two, self.join_request(group, 3, **patient), 3)
        self._until_members(group, 3)  # else it is a race whose request comes last
        self.request(three, self.join_request(group, 3, member_id=a), 3)
        self.say("c, or a: the third is out", three.answer())
        # Apache's new leader is whichever its map of random ids shows first.
        both = sorted((one.answer(), two.answer()), key=lambda each: each.leader == each.member_id)
        self.say("b or c follows", both[0])
        self.say("and the other leads", both[1])
        self.join("one more", group, 3)
        self.join("one more", group, 9)
        self.describe("full", group)

    def _several_topics(self) -> None:
        names = ("ghost", self.topic, "ghoul")
        for version in (2, 9, 10):
            topics = []
            for name in names:
                indexes = (1, 7, 0)
                if name == self.topic and version >= 10:
                    topic = OffsetCommitRequestTopic(topic_id=self.topic_id)
                elif version >= 10:
                    topic = OffsetCommitRequestTopic(topic_id=name.encode().ljust(16, b"x"))
                else:
                    topic = OffsetCommitRequestTopic(name=name)
                topic.partitions = [
                    OffsetCommitRequestPartition(partition_index=i) for i in indexes
                ]
                topics.append(topic)
            request = OffsetCommitRequest(group_id=self.group("several"), topics=topics)
            answer = self.answer_to(request, version)
            self.say("in this order", [list(topic.partitions) for topic in answer.topics])
        fetched = [
            OffsetFetchRequestTopics(topic_id=topic_id, partition_indexes=[1, 0])
            for topic_id in (b"x" * 16, self.topic_id, b"y" * 16)
        ]
        groups = [
            OffsetFetchRequestGroup(group_id=self.group(name), topics=fetched)
            for name in ("several", "nobody")
        ]
        answer = self.answer_to(OffsetFetchRequest(groups=groups), 10)
        self.say("in this order", [[list(t.partitions) for t in g.topics] for g in answer.groups])
        for version in (8, 9):
            answer = self.answer_to(
                OffsetFetchRequest(
                    groups=[
                        OffsetFetchRequestGroup(
                            group_id=self.group(name),
                            topics=[
                                OffsetFetchRequestTopics(name=topic, partition_indexes=[1, 9, 0])
                                for topic in names
                            ],
                        )
                        for name in ("nobody", "several")
                    ]
                ),
                version,
            )
            self.say("in this order", [[(t.name) for t in g.topics] for g in answer.groups])
            self.say("offsets", [[list(t.partitions) for t in g.topics] for g in answer.groups])

    def _offsets(self) -> None:
        for version in range(2, 11):
            self.commit("simple", "solo", version, (0, 1), offset=version)
            self.commit("no such partition", "solo", version, (7, 0))
            self.commit("no such topic", "solo", version, topic="ghost")
            self.commit("too much metadata", "solo", version, metadata="x" * 4097)
            self.commit("no metadata", "solo", version, metadata=None)
            late: dict[str, Any] = {"member_id": "m", "generation_id_or_member_epoch": 3}
            self.commit("no such group", f"nobody{version}", version, **late)
            self.commit("member of a simple group", "solo", version, **late)
        for version in range(1, 11):
            self.fetch("fetch", "solo", version)
            self.fetch("no such group", "nobody", version)
            self.fetch("no such topic", "solo", version, topic="ghost")
            if version >= 2:
                self.fetch("everything", "solo", version, everything=True)
                self.fetch("everything of nobody", "nobody", version, everything=True)
            if version >= 7:
                self.fetch("stable", "solo", version, require_stable=True)
        self.commit("to delete", "solo", 9, (0, 1))
        for topic, indexes in ((self.topic, [0, 7]), ("ghost", [0])):
            partitions = [OffsetDeleteRequestPartition(partition_index=i) for i in indexes]
            topics = [OffsetDeleteRequestTopic(name=topic, partitions=partitions)]
            for group in ("solo", "nobody", "v9"):
                request = OffsetDeleteRequest(group_id=self.group(group), topics=topics)
                self.ask(f"delete offsets of {group}", request, 0)
        self.ask("no group id", OffsetDeleteRequest(), 0)
        self.fetch("after the delete", "solo", 9, everything=True)

    def _administration(self) -> None:
        member = self.join("connect", "connect", 3, protocol_type="connect").member_id
        self.sync("connect", "connect", 3, member_id=member, generation_id=1)
        partitions = [OffsetDeleteRequestPartition(partition_index=0)]
        topics = [OffsetDeleteRequestTopic(name=self.topic, partitions=partitions)]
        request = OffsetDeleteRequest(group_id=self.group("connect"), topics=topics)
        self.ask("offsets of another protocol type", request, 0)
        self.describe("all kinds", "connect", "solo", "two", "nobody")
        for version in range(6):
            self._list(f"all v{version}", ListGroupsRequest(), version)
        for states in (["Stable"], ["stable", "EMPTY"], ["Dead"], ["nonsense"]):
            self._list(f"{states}", ListGroupsRequest(states_filter=states), 4)
        for types in (["classic"], ["CLASSIC"], ["consumer"], ["nonsense"]):
            self._list(f"{types}", ListGroupsRequest(types_filter=types), 5)
        for version in range(4):
            names = [self.group(name) for name in ("connect", "nobody", f"empty{version}", "two")]
            self.ask("delete", DeleteGroupsRequest(groups_names=names), version)
        self.fetch("deleted", "two", 9, everything=True)
        self.commit("before the topic goes", "solo", 9, (0, 1))
        self.answer_to(DeleteTopicsRequest(topic_names=[self.topic], timeout_ms=30_000), 5)
        group = OffsetFetchRequestGroup(group_id=self.group("solo"), topics=None)
        wait_for(
            lambda: not self.answer_to(OffsetFetchRequest(groups=[group]), 9).groups[0].topics,
            "the offsets to go with the topic",
        )
        self.fetch("the topic is gone", "solo", 9, everything=True)

    def _list(self, title: str, request: ListGroupsRequest, version: int) -> None:
        answer = self.answer_to(request, version)
        answer.groups = [g for g in answer.groups if g.group_id.startswith(self.prefix)]
        self.say(f"list {title}", answer)

    def _coordinators(self) -> None:
        for version in range(7):
            if version < 4:
                request = FindCoordinatorRequest(key=self.group("g"))
                bad = FindCoordinatorRequest(key="k", key_type=2)
            else:
                request = FindCoordinatorRequest(coordinator_keys=[self.group("g"), "other"])
                bad = FindCoordinatorRequest(coordinator_keys=["k"], key_type=2)
            self.ask("group", request, version)
            if version >= 1:
                self.ask("bad share key", bad, version)
