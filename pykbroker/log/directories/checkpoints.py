"""The small text files of a log directory, as Apache Kafka 4.4 writes them.

    <dir>/replication-offset-checkpoint        high watermarks     \\  0            version
    <dir>/recovery-point-offset-checkpoint     flushed up to       |  2            entries
    <dir>/log-start-offset-checkpoint          log start offsets   |  orders 0 17  topic partition
    <dir>/cleaner-offset-checkpoint            first dirty offsets /  orders 1 4     offset
    <dir>/meta.properties                      node.id, directory.id, version, cluster.id
    <dir>/.kafka_cleanshutdown                 {"version":0,"brokerEpoch":12}
    <dir>/<partition>/leader-epoch-checkpoint  0 | entries | `epoch start_offset` a line
    <dir>/<partition>/partition.metadata       version: 0 | topic_id: <22 characters>

Invalid content raises CorruptCheckpoint, which names file and line; but a checkpoint that ends
before its number of entries has none, as in Kafka.

Source: Kafka's CheckpointFile.java, OffsetCheckpointFile.java, LeaderEpochCheckpointFile.java,
PartitionMetadataFile.java, MetaProperties.java, CleanShutdownFileHandler.java.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from pykbroker.environment.files import Files
from pykbroker.protocol.primitives import DecodeError, uuid_from_str, uuid_to_str
from pykbroker.types import TopicPartition
from pykbroker.values import NamedTuple

REPLICATION_OFFSET_CHECKPOINT = "replication-offset-checkpoint"
RECOVERY_POINT_CHECKPOINT = "recovery-point-offset-checkpoint"
LOG_START_OFFSET_CHECKPOINT = "log-start-offset-checkpoint"
CLEANER_OFFSET_CHECKPOINT = "cleaner-offset-checkpoint"
LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
META_PROPERTIES = "meta.properties"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
LOCK = ".lock"

_ESCAPED = re.compile(r"\\(.)")
_VERSION = 0
_Entry = TypeVar("_Entry")


class CorruptCheckpoint(Exception):
    """A checkpoint file with invalid content."""

    def __init__(self, name: str, line: int, reason: str) -> None:
        super().__init__(f"{name}, line {line}: {reason}")
        self.name = name
        self.line = line


def _text(payload: bytes, name: str) -> list[str]:
    try:
        return payload.decode().splitlines()
    except UnicodeDecodeError as fault:
        line = payload[: fault.start].count(b"\n") + 1
        raise CorruptCheckpoint(name, line, "not UTF-8") from None


def _integer(word: str, name: str, line: int, what: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise CorruptCheckpoint(name, line, f"{what} {word!r} is not a number") from None


def _parse_entries(
    payload: bytes, name: str, parse_line: Callable[[str, int], _Entry]
) -> list[_Entry]:
    """Parse version, number of entries, and one entry per line; an empty file has none."""
    lines = _text(payload, name)
    if not lines:
        return []
    version = _integer(lines[0], name, 1, "version")
    if version != _VERSION:
        raise CorruptCheckpoint(name, 1, f"unknown version {version}")
    if len(lines) < 2:
        return []
    count = _integer(lines[1], name, 2, "number of entries")
    entries = [parse_line(line, number) for number, line in enumerate(lines[2:], 3)]
    if len(entries) != count:
        raise CorruptCheckpoint(name, 2, f"{count} entries announced, {len(entries)} found")
    return entries


def _format_entries(lines: Iterable[str]) -> bytes:
    entries = list(lines)
    return "".join(f"{line}\n" for line in (_VERSION, len(entries), *entries)).encode()


def parse_offsets(payload: bytes, name: str) -> dict[TopicPartition, int]:
    """Parse an offset checkpoint: partition -> offset."""

    def parse_line(line: str, number: int) -> tuple[TopicPartition, int]:
        words = line.split()
        if len(words) != 3:
            raise CorruptCheckpoint(name, number, f"not `topic partition offset`: {line!r}")
        partition = _integer(words[1], name, number, "partition")
        return TopicPartition(words[0], partition), _integer(words[2], name, number, "offset")

    return dict(_parse_entries(payload, name, parse_line))


def format_offsets(offsets: Mapping[TopicPartition, int]) -> bytes:
    return _format_entries(
        f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()
    )


def parse_leader_epochs(payload: bytes, name: str) -> list[tuple[int, int]]:
    """Parse a leader epoch checkpoint: (epoch, start offset), in file order."""

    def parse_line(line: str, number: int) -> tuple[int, int]:
        words = line.split()
        if len(words) != 2:
            raise CorruptCheckpoint(name, number, f"not `epoch start_offset`: {line!r}")
        epoch = _integer(words[0], name, number, "epoch")
        start_offset = _integer(words[1], name, number, "start offset")
        if epoch < 0 or start_offset < 0:
            raise CorruptCheckpoint(name, number, f"negative epoch or offset: {line!r}")
        return epoch, start_offset

    return _parse_entries(payload, name, parse_line)


def format_leader_epochs(entries: Iterable[tuple[int, int]]) -> bytes:
    return _format_entries(f"{epoch} {start_offset}" for epoch, start_offset in entries)


class PartitionMetadata(NamedTuple):
    """`partition.metadata`: the id (16 bytes) of the topic whose records the directory holds."""

    topic_id: bytes
    version: int = 0

    def to_bytes(self) -> bytes:
        return f"version: {self.version}\ntopic_id: {uuid_to_str(self.topic_id)}".encode()

    @classmethod
    def from_bytes(cls, payload: bytes, name: str = PARTITION_METADATA) -> PartitionMetadata:
        values: list[str] = []
        lines = _text(payload, name)
        for number, key in enumerate(("version", "topic_id"), 1):
            line = lines[number - 1] if number <= len(lines) else ""
            found, separator, value = line.partition(":")
            if not separator or found.strip() != key:
                raise CorruptCheckpoint(name, number, f"not `{key}: value`: {line!r}")
            values.append(value.strip())
        version = _integer(values[0], name, 1, "version")
        if version != 0:
            raise CorruptCheckpoint(name, 1, f"unknown version {version}")
        topic_id = _uuid(values[1], name, 2, "topic id")
        if not any(topic_id):
            raise CorruptCheckpoint(name, 2, "the topic id is zero")
        return cls(topic_id, version)


def _uuid(word: str, name: str, line: int, what: str) -> bytes:
    try:
        return uuid_from_str(word)
    except (DecodeError, ValueError):
        raise CorruptCheckpoint(name, line, f"{what} {word!r} is not a UUID") from None


class MetaProperties(NamedTuple):
    """`meta.properties`: the identity of a directory. `directory_id` is 16 bytes;
    None if not set.
    """

    cluster_id: str | None
    node_id: int | None
    directory_id: bytes | None
    version: int = 1

    def to_bytes(self, now_ms: int | None = None) -> bytes:
        lines = ["#"]
        if now_ms is not None:
            when = time.gmtime(now_ms // 1000)  # datetime would cost a fresh node 0.5 MB
            lines.append(time.strftime("#%a %b %d %H:%M:%S UTC %Y", when))
        if self.node_id is not None:
            lines.append(f"node.id={self.node_id}")
        if self.directory_id is not None:
            lines.append(f"directory.id={uuid_to_str(self.directory_id)}")
        lines.append(f"version={self.version}")
        if self.cluster_id is not None:
            lines.append(f"cluster.id={_escape(self.cluster_id)}")
        return "".join(f"{line}\n" for line in lines).encode()

    @classmethod
    def from_bytes(cls, payload: bytes, name: str = META_PROPERTIES) -> MetaProperties:
        found: dict[str, tuple[str, int]] = {}
        for number, line in enumerate(_text(payload, name), 1):
            text = line.strip()
            if not text or text[0] in "#!":
                continue
            key, separator, value = text.partition("=")
            if not separator:
                raise CorruptCheckpoint(name, number, f"not `key=value`: {line!r}")
            found[key.strip()] = _ESCAPED.sub(r"\1", value.strip()), number
        if "version" not in found:
            raise CorruptCheckpoint(name, 1, "no version")
        version = _integer(*_at(found, "version", name))
        if version not in (0, 1):
            raise CorruptCheckpoint(name, found["version"][1], f"unknown version {version}")
        # Version 0, of brokers with ZooKeeper, calls the node's id broker.id.
        node_key = "node.id" if version == 1 else "broker.id"
        node_id = _integer(*_at(found, node_key, name)) if node_key in found else None
        directory_id = None
        if "directory.id" in found:
            value, line_number = found["directory.id"]
            directory_id = _uuid(value, name, line_number, "directory.id")
        cluster_id = found["cluster.id"][0] if "cluster.id" in found else None
        if version == 1 and (cluster_id is None or node_id is None):
            raise CorruptCheckpoint(name, 1, "cluster.id or node.id is missing")
        return cls(cluster_id, node_id, directory_id, version)


def _at(found: dict[str, tuple[str, int]], key: str, name: str) -> tuple[str, str, int, str]:
    value, line_number = found[key]
    return value, name, line_number, key


def _escape(value: str) -> str:
    r"""Escape `\ : = # !` in a value, as java.util.Properties does."""
    return "".join(f"\\{char}" if char in "\\:=#!" else char for char in value)


class CleanShutdown(NamedTuple):
    """`.kafka_cleanshutdown`: the directory was closed cleanly, under this broker epoch."""

    broker_epoch: int
    version: int = 0

    def to_bytes(self) -> bytes:
        return f'{{"version":{self.version},"brokerEpoch":{self.broker_epoch}}}'.encode()

    @classmethod
    def from_bytes(cls, payload: bytes, name: str = CLEAN_SHUTDOWN) -> CleanShutdown:
        try:
            content = json.loads(payload)
            return cls(int(content["brokerEpoch"]), int(content["version"]))
        except (ValueError, KeyError, TypeError):
            raise CorruptCheckpoint(name, 1, "it contains no broker epoch") from None


def clean_shutdown_epoch(files: Files, directories: Iterable[str]) -> int | None:
    """Return the lowest broker epoch that clean shutdowns of the directories recorded; None if the
    file of one of them is missing or cannot be read.
    """
    epochs = []
    for directory in directories:
        path = f"{directory}/{CLEAN_SHUTDOWN}"
        try:
            epochs.append(CleanShutdown.from_bytes(files.read_file(path), path).broker_epoch)
        except (OSError, CorruptCheckpoint):
            return None
    return min(epochs, default=None)
