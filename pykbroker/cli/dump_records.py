"""What `dump-log` shows of keys and values: text, or records of Kafka's internal topics as JSON.

In: records. Out: text as DumpLogSegments prints it: coordinator records as `{"type","data"}` and
`{"version","data"}`, metadata records as `{"type","version","data"}`, control records by name.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import struct
from collections.abc import Callable
from typing import Any, Final, Protocol

from pykbroker.cli.command import CommandError
from pykbroker.config.definition import double_text
from pykbroker.protocol import control_records
from pykbroker.protocol.api import (
    message_class,
    offsets_record_classes,
    share_record_classes,
    snake_case,
    transaction_record_classes,
    transaction_state_name,
)
from pykbroker.protocol.json_form import to_json
from pykbroker.protocol.primitives import DecodeError, Message
from pykbroker.protocol.record import Record

_ESCAPE: Final = re.compile(r"\\u[0-9a-f]{4}")
_CONTROL_NAMES: Final = {
    control_records.LEADER_CHANGE: "LeaderChange:",
    control_records.SNAPSHOT_HEADER: "SnapshotHeader",
    control_records.SNAPSHOT_FOOTER: "SnapshotFooter",
    control_records.KRAFT_VERSION: "KRaftVersion",
    control_records.KRAFT_VOTERS: "KRaftVoters",
}


class RecordDecoder(Protocol):
    """`chosen`: whether the user requested it; otherwise only --print-data-log prints keys and
    values.
    """

    chosen: bool

    def decode(self, record: Record) -> tuple[str | None, str | None]:
        """Return what to print as key and as value; None prints nothing."""


def decoder_for(options: argparse.Namespace) -> RecordDecoder:
    if options.offsets_decoder:
        return CoordinatorDecoder(offsets_record_classes, _offsets_value)
    if options.transaction_log_decoder:
        return CoordinatorDecoder(transaction_record_classes, _transaction_value)
    if options.cluster_metadata_decoder:
        return MetadataDecoder()
    if options.share_group_state_decoder:
        return CoordinatorDecoder(share_record_classes, to_json)
    return PlainDecoder(options.key_decoder_class, options.value_decoder_class)


def compact(value: object) -> str:
    """JSON as Jackson writes it: no blanks, letters as they are, \\u in capitals."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return _ESCAPE.sub(lambda match: "\\u" + match[0][2:].upper(), text)


# --- plain keys and values --------------------------------------------------------------------


def _text(content: bytes) -> str:
    return str(content, "utf-8", "java")


def _integer(content: bytes) -> str:
    return str(int.from_bytes(content, "big", signed=True))


def _double(content: bytes) -> str:
    return double_text(struct.unpack(">d", content)[0])


_DECODERS: Final[dict[str, tuple[int | None, Callable[[bytes], str]]]] = {
    "StringDecoder": (None, _text),
    "IntegerDecoder": (4, _integer),
    "LongDecoder": (8, _integer),
    "DoubleDecoder": (8, _double),
}


class PlainDecoder:
    def __init__(self, key_class: str | None, value_class: str | None) -> None:
        self.chosen = key_class is not None or value_class is not None
        self._key = self._find(key_class)
        self._value = self._find(value_class)

    @staticmethod
    def _find(name: str | None) -> Callable[[bytes], str]:
        short = (name or "StringDecoder").rpartition(".")[2]
        if short not in _DECODERS:
            raise CommandError(f"Unknown decoder {name}: known are {', '.join(_DECODERS)}")
        size, decode = _DECODERS[short]

        def checked(content: bytes) -> str:
            if size is not None and len(content) != size:
                raise CommandError(f"{short}: {len(content)} bytes, not {size}")
            return decode(content)

        return checked

    def decode(self, record: Record) -> tuple[str | None, str | None]:
        key = None if record.key is None else self._key(record.key)
        return key, None if record.value is None else self._value(record.value)


# --- records of internal topics ---------------------------------------------------------------


class CoordinatorDecoder:
    """Records whose key begins with an int16 type and whose value with an int16 version."""

    chosen = True

    def __init__(
        self,
        classes: Callable[[int], tuple[type[Message], type[Message]]],
        value_json: Callable[[Message, int], Any],
    ) -> None:
        self._classes = classes
        self._value_json = value_json

    def decode(self, record: Record) -> tuple[str | None, str | None]:
        if record.key is None:
            raise CommandError(
                f"Failed to decode message at offset {record.offset} using the specified decoder "
                "(message had a missing key)"
            )
        try:
            return self._decode(record.key, record.value, record.offset)
        except DecodeError as error:
            return f"Error at offset {record.offset}, skipping. {error}", None

    def _decode(
        self, key: bytes, value: bytes | None, offset: int
    ) -> tuple[str | None, str | None]:
        kind = _int16(key)
        try:
            key_class, value_class = self._classes(kind)
        except KeyError:
            return f"Unknown record type {kind} at offset {offset}, skipping.", None
        key_message, _ = key_class.decode(key, 2, 0)
        shown = compact({"type": str(kind), "data": to_json(key_message, 0)})
        if value is None:
            return shown, "<DELETE>"
        version = _int16(value)
        message, _ = value_class.decode(value, 2, version)
        node = {"version": str(version), "data": self._value_json(message, version)}
        return shown, compact(node)


def _int16(content: bytes) -> int:
    if len(content) < 2:
        raise DecodeError(f"{len(content)} bytes are too few")
    return int.from_bytes(content[:2], "big", signed=True)


def _offsets_value(message: Message, version: int) -> Any:
    """Decode the bytes in the members of a consumer group, which are messages themselves."""
    node = to_json(message, version)
    if type(message).__name__ == "GroupMetadataValue" and node.get("protocolType") == "consumer":
        for member in node.get("members", ()):
            _open(member, "subscription", "ConsumerProtocolSubscription")
            _open(member, "assignment", "ConsumerProtocolAssignment")
    return node


def _open(member: dict[str, Any], field: str, name: str) -> None:
    try:
        content = base64.b64decode(member[field])
        version = _int16(content)
        message, _ = message_class(name).decode(content, 2, version)
    except (DecodeError, KeyError, ValueError):
        return  # a member of another program: its bytes stay as they are
    member[field] = to_json(message, version)


def _transaction_value(message: Message, version: int) -> Any:
    node = to_json(message, version)
    status = node.get("transactionStatus")
    if status is not None:
        node["transactionStatus"] = transaction_state_name(status)
    return node


class MetadataDecoder:
    """Decodes records of the metadata log, which have no keys."""

    chosen = True

    def decode(self, record: Record) -> tuple[str | None, str | None]:
        from pykbroker.kraft.metadata_record_codec import decode_metadata_record

        try:
            decoded = decode_metadata_record(record.value or b"")
        except DecodeError as error:
            return None, f"Error at {record.offset}, skipping. {error}"
        message, version = decoded.message, decoded.version
        kind = snake_case(type(message).__name__).upper()
        node = {"type": kind, "version": version, "data": to_json(message, version)}
        return None, compact(node)


def control_text(record: Record) -> str:
    """Return the text of a control record."""
    kind = control_records.decode_type(record.key)
    if kind in (control_records.ABORT, control_records.COMMIT):
        marker = control_records.decode_marker(record.key, record.value)
        name = "COMMIT" if marker.is_commit else "ABORT"
        return f" endTxnMarker: {name} coordinatorEpoch: {marker.coordinator_epoch}"
    message = control_records.decode_message(record)
    if message is None:
        number = int.from_bytes((record.key or b"")[2:4], "big", signed=True)
        return f" controlType: UNKNOWN({number})"
    return f" {_CONTROL_NAMES[kind]} {compact(to_json(message, message.version))}"
