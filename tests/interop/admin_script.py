"""A long conversation about topics, configurations and the cluster, for Apache Kafka and for us.

Like data_plane_script; the texts of errors are compared too. Ids, ports and directories may differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pykbroker.protocol.messages import metadata_request
from pykbroker.protocol.primitives import Message
from tests.harness.raw_client import RawClient
from tests.harness.waiting import wait_for
from tests.interop.admin_cluster import cluster_lines
from tests.interop.admin_configs import alter_lines, describe_config_lines, incremental_lines
from tests.interop.admin_reassignment import reassignment_lines
from tests.interop.admin_topics import create_lines, delete_lines, metadata_lines, partition_lines
from tests.interop.conversation import Line

ZERO_UUID = bytes(16)
FRESH_TIMES = ("last_fetch_timestamp", "last_caught_up_timestamp")
OWN_VALUES = {
    "advertised.listeners",
    "broker.id",
    "controller.listener.names",
    "controller.quorum.bootstrap.servers",
    "controller.quorum.voters",
    "group.initial.rebalance.delay.ms",
    "listener.security.protocol.map",
    "listeners",
    "log.dir",
    "log.dirs",
    "node.id",
    "process.roles",
    "share.coordinator.state.topic.min.isr",
    "share.coordinator.state.topic.replication.factor",
}


class Play:
    """One conversation with one broker."""

    def __init__(self, bootstrap_servers: str, is_slow_to_see: bool = False) -> None:
        self.client = RawClient(bootstrap_servers)
        self.ids: dict[str, bytes] = {}
        self._is_slow_to_see = is_slow_to_see

    def say(self, line: Line) -> tuple[str, Any]:
        """Label and normalised answer."""
        answer = self.client.ask(line.api, line.version, line.message)
        if self._is_slow_to_see and not getattr(line.message, "validate_only", False):
            self._await_change(line, answer)
        if line.api == "CreateTopics" and line.version >= 7:
            self.ids |= {t.name: t.topic_id for t in answer.topics if any(t.topic_id)}
        return f"{line.api} v{line.version} {line.label}", self.plain(answer)

    def _await_change(self, line: Line, answer: Any) -> None:
        """Until the broker has seen what its controller committed."""
        if line.api == "CreateTopics":
            counts = {entry.name: 1 for entry in answer.topics if entry.error_code == 0}
        elif line.api == "DeleteTopics":
            counts = {entry.name: 0 for entry in answer.responses if entry.error_code == 0}
        elif line.api == "CreatePartitions":
            asked = {topic.name: topic.count for topic in line.message.topics}  # type: ignore[attr-defined]
            counts = {each.name: asked[each.name] for each in answer.results if not each.error_code}
        else:
            return
        for name, count in counts.items():
            wait_for(lambda n=name, c=count: self._shows(n, c), f"{name} of {count} partitions")  # type: ignore[misc]

    def _shows(self, name: str, partitions: int) -> bool:
        """Whether there are so many partitions, or more; whether there is no topic, for 0."""
        asked = metadata_request.MetadataRequestTopic(name=name)
        request = metadata_request.MetadataRequest(topics=[asked], allow_auto_topic_creation=False)
        (found,) = self.client.ask("Metadata", 12, request).topics
        count = 0 if found.error_code else len(found.partitions)
        return count >= partitions if partitions else found.error_code != 0

    def plain(self, value: Any, name: str = "") -> Any:
        """Dicts, lists and numbers, without what differs from broker to broker."""
        if isinstance(value, Message):
            slots = [s for s in type(value).__slots__ if s != "unknown_tags"]
            fields = {slot: self.plain(getattr(value, slot), slot) for slot in slots}
            if fields.get("name") in OWN_VALUES and "config_source" in fields:
                return {"name": fields["name"]}
            return {"": type(value).__name__} | fields
        if isinstance(value, list):
            items = [self.plain(item) for item in value]
            return sorted(items, key=repr) if items and isinstance(items[0], dict) else items
        if isinstance(value, bytes) and len(value) == 16:
            return {raw: text for text, raw in self.ids.items()}.get(value, value != ZERO_UUID)
        if name in ("cluster_id", "port"):
            return value is not None
        if name in FRESH_TIMES:
            return value > 0
        if name in ("leader_epoch", "high_watermark", "log_end_offset", "finalized_features_epoch"):
            return value >= 0
        if isinstance(value, str):
            return re.sub(r"127\.0\.0\.1:\d+", "HOST:PORT", value)
        return value


def play(bootstrap_servers: str, is_slow_to_see: bool = False) -> list[tuple[str, Any]]:
    """Speak every line; what came back.

    `is_slow_to_see`: the broker answers before it sees what its controller has committed, as
    Apache's does: wait until it does.
    """
    story = Play(bootstrap_servers, is_slow_to_see)
    heard = [story.say(line) for line in lines(story)]
    story.client.close()
    return heard


def lines(story: Play) -> Iterator[Line]:
    """The whole story."""
    yield from create_lines()
    yield from metadata_lines(story)
    yield from partition_lines()
    yield from describe_config_lines()
    yield from alter_lines()
    yield from incremental_lines()
    yield from cluster_lines()
    yield from reassignment_lines()
    yield from delete_lines(story)
