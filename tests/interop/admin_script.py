"""A long conversation about topics, configurations and the cluster, for Apache Kafka and for us.

Like data_plane_script; the texts of errors are compared too. Ids, ports and directories may differ.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

from pykbroker.protocol.primitives import Message
from tests.harness.raw_client import RawClient
from tests.interop.admin_cluster import cluster_lines
from tests.interop.admin_configs import alter_lines, describe_config_lines, incremental_lines
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

    def __init__(self, bootstrap_servers: str, settle_s: float = 0.0) -> None:
        self.client = RawClient(bootstrap_servers)
        self.ids: dict[str, bytes] = {}
        self._settle_s = settle_s

    def say(self, line: Line) -> tuple[str, Any]:
        """Label and normalised answer."""
        answer = self.client.ask(line.api, line.version, line.message)
        if line.api in ("CreateTopics", "DeleteTopics", "CreatePartitions") and self._settle_s:
            entries = answer.topics if line.api == "CreateTopics" else _entries(answer)
            if any(entry.error_code == 0 for entry in entries):
                time.sleep(self._settle_s)
        if line.api == "CreateTopics" and line.version >= 7:
            self.ids |= {t.name: t.topic_id for t in answer.topics if any(t.topic_id)}
        return f"{line.api} v{line.version} {line.label}", self.plain(answer)

    def plain(self, value: Any, name: str = "") -> Any:
        """Dicts, lists and numbers, without what differs from broker to broker."""
        if isinstance(value, Message):
            slots = [s for s in type(value).__slots__ if s != "unknown_tags"]  # type: ignore[attr-defined]
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


def _entries(answer: Any) -> list[Any]:
    return answer.responses if hasattr(answer, "responses") else answer.results  # type: ignore[no-any-return]


def play(bootstrap_servers: str, settle_s: float = 0.0) -> list[tuple[str, Any]]:
    """Speak every line; what came back.

    `settle_s`: how long the broker needs to see what its controller has committed (Apache answers
    before it does).
    """
    story = Play(bootstrap_servers, settle_s)
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
    yield from delete_lines(story)
