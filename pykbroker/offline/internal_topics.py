"""Kafka's internal topics as decoded tables.

    consumer_offsets(paths)     __consumer_offsets: commits, members, groups of every kind
    transaction_state(paths)    __transaction_state
    cluster_metadata(paths)     __cluster_metadata: the records of the controller

A row has its location (partition, offset, timestamp), Kafka's name of the record type, the commonly
used columns, and the whole record as JSON.

A record that cannot be decoded is also a row: `fault` has the reason, and what could not be
decoded is null. `records_of` does the same for record batches from elsewhere (a Spark worker).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from struct import Struct
from typing import Any, Final

import pyarrow as pa

from pykbroker.offline.columns import TIMESTAMP_TYPE
from pykbroker.offline.layout import read_partitions
from pykbroker.offline.reader import LogScan, Names, names_of, open_log, read_split
from pykbroker.offline.split import READ_COMMITTED, Split
from pykbroker.offline.storage import join, list_directory, open_file
from pykbroker.protocol.api import (
    metadata_record_class,
    offsets_record_classes,
    transaction_record_classes,
    transaction_state_name,
)
from pykbroker.protocol.json_form import to_json
from pykbroker.protocol.primitives import Message, ProtocolError, read_uvarint
from pykbroker.types import TopicPartition

CONSUMER_OFFSETS: Final = "__consumer_offsets"
TRANSACTION_STATE: Final = "__transaction_state"
CLUSTER_METADATA: Final = "__cluster_metadata"

_COLUMNS: Final = ("partition", "offset", "timestamp", "key", "value")
_INT16: Final = Struct(">h")
_PLACE: Final = [
    ("partition", pa.int32()),
    ("offset", pa.int64()),
    ("timestamp", TIMESTAMP_TYPE),
    ("record_type", pa.string()),
    ("version", pa.int32()),
]
_WHOLE: Final = [
    ("is_tombstone", pa.bool_()),
    ("key_json", pa.string()),
    ("value_json", pa.string()),
    ("fault", pa.string()),
]

CONSUMER_OFFSETS_SCHEMA: Final = pa.schema(
    [
        *_PLACE,
        ("group", pa.string()),
        ("topic", pa.string()),
        ("topic_partition", pa.int32()),
        ("committed_offset", pa.int64()),
        ("committed_leader_epoch", pa.int32()),
        ("metadata", pa.string()),
        ("commit_timestamp_ms", pa.int64()),
        ("expire_timestamp_ms", pa.int64()),
        *_WHOLE,
    ]
)
TRANSACTION_STATE_SCHEMA: Final = pa.schema(
    [
        *_PLACE,
        ("transactional_id", pa.string()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int32()),
        ("state", pa.string()),
        ("timeout_ms", pa.int32()),
        ("partitions", pa.list_(pa.field("element", pa.string()))),
        ("last_update_timestamp_ms", pa.int64()),
        ("start_timestamp_ms", pa.int64()),
        *_WHOLE,
    ]
)
CLUSTER_METADATA_SCHEMA: Final = pa.schema(
    [*_PLACE, ("type_id", pa.int32()), ("source", pa.string()), *_WHOLE]
)
_SCHEMAS: Final = {
    CONSUMER_OFFSETS: CONSUMER_OFFSETS_SCHEMA,
    TRANSACTION_STATE: TRANSACTION_STATE_SCHEMA,
    CLUSTER_METADATA: CLUSTER_METADATA_SCHEMA,
}


def consumer_offsets(paths: Names, **options: Any) -> Any:
    """Return all committed records of `__consumer_offsets` (CONSUMER_OFFSETS_SCHEMA).

    Options as for `open_log`, except topics and columns; `isolation` is read_committed by default,
    because offsets committed in an aborted transaction do not count.
    """
    return _table(CONSUMER_OFFSETS, paths, options)


def transaction_state(paths: Names, **options: Any) -> Any:
    """Return all records of `__transaction_state` (TRANSACTION_STATE_SCHEMA); options as for
    `consumer_offsets`.
    """
    return _table(TRANSACTION_STATE, paths, options)


def cluster_metadata(paths: Names, **options: Any) -> Any:
    """Return all records of `__cluster_metadata` (CLUSTER_METADATA_SCHEMA); options as for
    `open_log`, except topics and columns.

    If the log does not begin at offset 0, the records of the snapshot that it continues come first
    (`source` is snapshot; they are numbered from 0), unless a later start is requested.
    """
    scan = open_log(paths, CLUSTER_METADATA, columns=_COLUMNS, **options)
    low, high = options.get("start_timestamp_ms"), options.get("end_timestamp_ms")
    found = [
        records_of(CLUSTER_METADATA, rows, source="snapshot")
        for split in _snapshots(names_of(paths) or (), scan)
        for rows in read_split(
            replace(split, start_timestamp_ms=low, end_timestamp_ms=high), scan.options
        )
    ]
    found += [records_of(CLUSTER_METADATA, rows) for rows in scan]
    return pa.Table.from_batches(found, schema=CLUSTER_METADATA_SCHEMA)


def _table(topic: str, paths: Names, options: dict[str, Any]) -> Any:
    options.setdefault("isolation", READ_COMMITTED)  # as the coordinators read: aborted is not so
    scan = open_log(paths, topic, columns=_COLUMNS, **options)
    return pa.Table.from_batches([records_of(topic, rows) for rows in scan], schema=_SCHEMAS[topic])


def records_of(topic: str, rows: Any, source: str = "log") -> Any:
    """Decode a record batch with partition, offset, timestamp, key and value of such a topic."""
    decode = _DECODERS[topic]
    schema = _SCHEMAS[topic]
    decoded: list[dict[str, Any]] = []
    keys = rows.column("key").to_pylist()
    values = rows.column("value").to_pylist()
    for key, value in zip(keys, values, strict=True):
        row: dict[str, Any] = {"is_tombstone": value is None, "source": source}
        try:
            decode(row, key, value)
        except (ProtocolError, KeyError, ValueError, IndexError) as fault:
            row["fault"] = f"{type(fault).__name__}: {fault}"
        decoded.append(row)
    arrays = [
        rows.column(name)
        if name in ("partition", "offset", "timestamp")
        else pa.array([row.get(name) for row in decoded], kind)
        for name, kind in zip(schema.names, schema.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _text(message: Message, version: int) -> str:
    return json.dumps(to_json(message, version), separators=(",", ":"))


def _check_version(kind: type[Message], version: int) -> None:
    if not kind.MIN_VERSION <= version <= kind.LATEST_VERSION:
        raise ValueError(f"unknown version {version} of {kind.__name__}")


def _coordinator_record(
    row: dict[str, Any],
    classes: Callable[[int], tuple[type[Message], type[Message]]],
    key: bytes | None,
    value: bytes | None,
) -> tuple[Any, Any]:
    """Return (key message, value message or None) of a record of a coordinator's topic."""
    if key is None or len(key) < 2 or (value is not None and len(value) < 2):
        raise ValueError("the key or value is too short")
    (kind,) = _INT16.unpack_from(key)
    try:
        key_class, value_class = classes(kind)
    except KeyError:
        raise ValueError(f"unknown record type {kind}") from None
    row["record_type"] = key_class.__name__.removesuffix("Key")
    key_message, _ = key_class.decode(key, 2, 0)
    row["key_json"] = _text(key_message, 0)
    if value is None:
        return key_message, None
    (version,) = _INT16.unpack_from(value)
    row["version"] = version
    _check_version(value_class, version)
    value_message, _ = value_class.decode(value, 2, version)
    row["value_json"] = _text(value_message, version)
    return key_message, value_message


def _decode_offsets(row: dict[str, Any], key: bytes | None, value: bytes | None) -> None:
    key_message, commit = _coordinator_record(row, offsets_record_classes, key, value)
    group = getattr(key_message, "group", None)
    row["group"] = getattr(key_message, "group_id", None) if group is None else group
    if row["record_type"] not in ("OffsetCommit", "LegacyOffsetCommit"):
        return
    row["topic"] = key_message.topic
    row["topic_partition"] = key_message.partition
    if commit is not None:
        row["committed_offset"] = commit.offset
        row["committed_leader_epoch"] = getattr(commit, "leader_epoch", None)
        row["metadata"] = commit.metadata
        row["commit_timestamp_ms"] = commit.commit_timestamp
        row["expire_timestamp_ms"] = getattr(commit, "expire_timestamp", None)


def _decode_transactions(row: dict[str, Any], key: bytes | None, value: bytes | None) -> None:
    key_message, state = _coordinator_record(row, transaction_record_classes, key, value)
    row["transactional_id"] = key_message.transactional_id
    if state is None:
        return
    row["producer_id"] = state.producer_id
    row["producer_epoch"] = state.producer_epoch
    row["state"] = transaction_state_name(state.transaction_status)
    row["timeout_ms"] = state.transaction_timeout_ms
    row["partitions"] = [
        str(TopicPartition(each.topic, partition))
        for each in state.transaction_partitions or ()
        for partition in each.partition_ids
    ]
    row["last_update_timestamp_ms"] = state.transaction_last_update_timestamp_ms
    row["start_timestamp_ms"] = state.transaction_start_timestamp_ms


def _decode_metadata(row: dict[str, Any], _key: bytes | None, value: bytes | None) -> None:
    if value is None:
        raise ValueError("a metadata record without a value")
    frame_version, position = read_uvarint(value, 0)
    if frame_version != 1:
        raise ValueError(f"unknown frame version {frame_version}")
    row["type_id"], position = read_uvarint(value, position)
    row["version"], position = read_uvarint(value, position)
    try:
        message_class = metadata_record_class(row["type_id"])
    except KeyError:
        raise ValueError(f"unknown record type {row['type_id']}") from None
    row["record_type"] = message_class.__name__
    _check_version(message_class, row["version"])
    message, _ = message_class.decode(value, position, row["version"])
    row["value_json"] = _text(message, row["version"])


_DECODERS: Final[dict[str, Callable[[dict[str, Any], bytes | None, bytes | None], None]]] = {
    CONSUMER_OFFSETS: _decode_offsets,
    TRANSACTION_STATE: _decode_transactions,
    CLUSTER_METADATA: _decode_metadata,
}


def _snapshots(paths: tuple[str, ...], scan: LogScan) -> Iterator[Split]:
    """Yield the metadata snapshot that the log continues as a split of its own: the newest at or
    below the log start, or else the newest.
    """
    wanted = [
        TopicPartition(each.topic, each.partition)
        for each in scan.partitions
        if 0 < each.log_start_offset >= each.start_offset
    ]
    for files in read_partitions(paths, wanted):
        listed = list_directory(files.directory)
        snapshots = sorted(
            name
            for name in ({} if listed is None else listed.files)
            if name.endswith(".checkpoint") and name[:20].isdigit() and int(name[:20]) > 0
        )
        if not snapshots:
            continue
        reach = [name for name in snapshots if int(name[:20]) <= files.log_start_offset]
        path = join(files.directory, (reach or snapshots)[-1])
        with open_file(path) as opened:
            size = opened.size
        yield Split(path, files.topic, files.partition, 0, 0, size)
