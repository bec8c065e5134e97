"""Raw group requests, and a transcript of what a broker answers.

What differs from run to run is named: UUIDs <1>, <2> in the order they first appear, topic ids by
their topic, ports. What may come in any order (members of a group, groups, topics) is sorted.
"""

from __future__ import annotations

import re
from typing import Any

from pykbroker.protocol.api import APIS
from pykbroker.protocol.messages.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)
from pykbroker.protocol.messages.describe_groups_request import DescribeGroupsRequest
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
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
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import Message
from tests.harness.raw_client import RawClient

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
SORTED = {"members", "groups", "topics", "results"}


def subscription(*topics: str) -> bytes:
    out: Parts = [bytearray(b"\0\0")]
    ConsumerProtocolSubscription(topics=list(topics)).encode(out, 0)
    return join_parts(out)


class Requests:
    """Asks the broker on `port`; `lines` is the transcript."""

    def __init__(self, port: int, prefix: str) -> None:
        self.port = port
        self.prefix = prefix
        self.lines: list[str] = []
        self._names: dict[str, str] = {}
        self._clients: list[RawClient] = []
        self.main = self.client("main")
        self.topic = f"{prefix}-t"
        self.topic_id = bytes(16)

    # ---- asking

    def client(self, client_id: str) -> RawClient:
        client = RawClient(f"127.0.0.1:{self.port}", client_id=client_id)
        self._clients.append(client)
        return client

    def close(self) -> None:
        for client in self._clients:
            client.close()

    @staticmethod
    def request(client: RawClient, message: Message, version: int) -> None:
        """Send it, and let `client.answer()` wait for the answer."""
        client.request(APIS[message.API_KEY].name, version, message)

    def answer_to(self, message: Message, version: int) -> Any:
        """The answer, which goes into no transcript."""
        self.request(self.main, message, version)
        return self.main.answer()

    def group(self, name: str) -> str:
        return f"{self.prefix}-{name}"

    def say(self, title: str, message: Any) -> Any:
        self.lines.append(f"{title}: {self.shown(message)}")
        return message

    def ask(self, title: str, message: Message, version: int) -> Any:
        answer = self.answer_to(message, version)
        return self.say(f"{title} v{version}", answer)

    def shown(self, value: Any) -> str:
        """A message as text in which nothing depends on the run."""
        text = self._shown(value, "")
        for uuid in UUID.findall(text):
            self._names.setdefault(uuid, f"<{len(self._names) + 1}>")
        for uuid, name in self._names.items():
            text = text.replace(uuid, name)
        return text.replace(self.prefix, "P").replace(str(self.port), "PORT")

    def _shown(self, value: Any, name: str) -> str:
        if isinstance(value, Message):
            hidden = {"unknown_tags", "throttle_time_ms"}
            fields = ", ".join(
                f"{slot}={self._shown(getattr(value, slot), slot)}"
                for slot in value.__slots__
                if slot not in hidden
            )
            return f"({fields})"
        if isinstance(value, list):
            shown = [self._shown(item, name) for item in value]
            return "[" + " ".join(sorted(shown, key=self._order) if name in SORTED else shown) + "]"
        if name == "topic_id":
            return "TOPIC" if value == self.topic_id else value.hex()
        if isinstance(value, (bytes, memoryview)):
            return bytes(value).hex()
        return repr(value)

    def _order(self, text: str) -> str:
        for uuid, name in self._names.items():
            text = text.replace(uuid, name)
        return text

    # ---- requests

    def join_request(self, group: str, version: int, **fields: Any) -> JoinGroupRequest:
        names = fields.pop("protocols", ("range",))
        topics = fields.pop("topics", (self.topic,))
        defaults: dict[str, Any] = {
            "group_id": self.group(group),
            "session_timeout_ms": 600_000,  # nobody is to fail before the script says so
            "rebalance_timeout_ms": 600_000 if version else -1,
            "protocol_type": "consumer",
            "protocols": [
                JoinGroupRequestProtocol(name=name, metadata=subscription(*topics))
                for name in names
            ],
        }
        return JoinGroupRequest(**(defaults | fields))

    def join(self, title: str, group: str, version: int, **fields: Any) -> Any:
        return self.ask(title, self.join_request(group, version, **fields), version)

    def sync_request(self, group: str, version: int, **fields: Any) -> SyncGroupRequest:
        assign = fields.pop("assign", {})
        if version >= 5:
            fields = {"protocol_type": "consumer", "protocol_name": "range"} | fields
        return SyncGroupRequest(
            group_id=self.group(group),
            assignments=[
                SyncGroupRequestAssignment(member_id=member, assignment=value)
                for member, value in assign.items()
            ],
            **fields,
        )

    def sync(self, title: str, group: str, version: int, **fields: Any) -> Any:
        return self.ask(title, self.sync_request(group, version, **fields), version)

    def heartbeat(self, title: str, group: str, version: int = 4, **fields: Any) -> Any:
        return self.ask(title, HeartbeatRequest(group_id=self.group(group), **fields), version)

    def describe(
        self, title: str, *groups: str, version: int = 6, operations: bool = False
    ) -> None:
        request = DescribeGroupsRequest(
            groups=[self.group(group) for group in groups],
            include_authorized_operations=operations,
        )
        self.ask(title, request, version)

    def commit(
        self,
        title: str,
        group: str,
        version: int,
        partitions: tuple[int, ...] = (0,),
        topic: str | None = None,
        metadata: str | None = "",
        offset: int = 5,
        **fields: Any,
    ) -> None:
        named = OffsetCommitRequestTopic(
            partitions=[
                OffsetCommitRequestPartition(
                    partition_index=index, committed_offset=offset, committed_metadata=metadata
                )
                for index in partitions
            ]
        )
        if version >= 10:
            named.topic_id = self.topic_id if topic is None else b"x" * 16
        else:
            named.name = self.topic if topic is None else topic
        request = OffsetCommitRequest(group_id=self.group(group), topics=[named], **fields)
        self.ask(title, request, version)

    def fetch(
        self, title: str, group: str, version: int, topic: str | None = None, **fields: Any
    ) -> None:
        everything = fields.pop("everything", False)
        name = self.topic if topic is None else topic
        if version < 8:
            asked = (
                None
                if everything
                else [OffsetFetchRequestTopic(name=name, partition_indexes=[0, 1, 7])]
            )
            request = OffsetFetchRequest(group_id=self.group(group), topics=asked, **fields)
        else:
            named = OffsetFetchRequestTopics(partition_indexes=[0, 1, 7])
            if version >= 10:
                named.topic_id = self.topic_id if topic is None else b"x" * 16
            else:
                named.name = name
            wanted = OffsetFetchRequestGroup(
                group_id=self.group(group), topics=None if everything else [named]
            )
            request = OffsetFetchRequest(groups=[wanted], **fields)
        self.ask(title, request, version)
