"""Coordinator records as bytes, in `__consumer_offsets` and `__transaction_state`.

    key    | record type: int16 | key message, version 0                      |
    value  | value version: int16 | value message in that version | or null: tombstone

The record type is the API key of the generated key message. Records of unknown types are skipped
(KIP-915).
Source: Kafka's `CoordinatorRecordSerde.java`.
"""

from __future__ import annotations

from importlib import import_module
from struct import Struct

from pykbroker.decision import CoordinatorRecord
from pykbroker.environment.slices import Breathe, go_on
from pykbroker.protocol.parts_writer import Parts
from pykbroker.protocol.primitives import DecodeError, Message
from pykbroker.protocol.record import encode_record

_INT16 = Struct(">h")
_MESSAGES = "pykbroker.protocol.messages"

# record type -> the names of the key's and the value's module and class
GROUP_RECORD_TYPES: dict[int, tuple[str, str]] = {
    0: (
        "legacy_offset_commit_key.LegacyOffsetCommitKey",
        "legacy_offset_commit_value.LegacyOffsetCommitValue",
    ),
    1: ("offset_commit_key.OffsetCommitKey", "offset_commit_value.OffsetCommitValue"),
    2: ("group_metadata_key.GroupMetadataKey", "group_metadata_value.GroupMetadataValue"),
}
# The same for `__transaction_state`. Version 0 of the value does not accept its tagged fields.
TRANSACTION_RECORD_TYPES: dict[int, tuple[str, str]] = {
    0: ("transaction_log_key.TransactionLogKey", "transaction_log_value.TransactionLogValue"),
}


class RecordCodec:
    """The codec of one coordinator's records; classes are imported on first use."""

    BASE_SEQUENCE = 0
    """The base sequence of a batch of records, with or without a producer id."""

    def __init__(self, types: dict[int, tuple[str, str]]) -> None:
        self._names = types
        self._types: dict[int, tuple[type[Message], type[Message]]] = {}

    def encode(
        self, record: CoordinatorRecord, breathe: Breathe = go_on
    ) -> tuple[bytes, bytes | None]:
        """Return (key, value) of a record; the value of a tombstone is None.

        `breathe` is for codecs whose records can be large (`environment/slices.py`).
        """
        key = _prefixed(record.key.API_KEY, record.key, 0)
        if record.value is None:
            return key, None
        return key, _prefixed(record.value_version, record.value, record.value_version)

    def encode_record(
        self, record: CoordinatorRecord, offset_delta: int, breathe: Breathe = go_on
    ) -> bytes | bytearray:
        """Return the record for a batch whose records all have the same timestamp."""
        key, value = self.encode(record, breathe)
        return encode_record(offset_delta, 0, key, value)

    def decode(
        self, key: bytes | memoryview, value: bytes | memoryview | None
    ) -> CoordinatorRecord | None:
        """Decode a record; None if its type is unknown. Raises DecodeError if it is invalid, or its
        value has an unknown version.
        """
        if len(key) < 2:
            raise DecodeError("a coordinator record's key has no type")
        (record_type,) = _INT16.unpack_from(key)
        classes = self._types.get(record_type) or self._load(record_type)
        if classes is None:
            return None
        key_message, _ = classes[0].decode(key, 2, 0)
        if value is None:
            return CoordinatorRecord(key_message, None)
        if len(value) < 2:
            raise DecodeError("a coordinator record's value has no version")
        (version,) = _INT16.unpack_from(value)
        if not classes[1].MIN_VERSION <= version <= classes[1].MAX_VERSION:
            raise DecodeError(f"a record of type {record_type} has a value of version {version}")
        value_message, _ = classes[1].decode(value, 2, version)
        return CoordinatorRecord(key_message, value_message, version)

    def _load(self, record_type: int) -> tuple[type[Message], type[Message]] | None:
        names = self._names.get(record_type)
        if names is None:
            return None
        classes = (_class(names[0]), _class(names[1]))
        self._types[record_type] = classes
        return classes


def _class(name: str) -> type[Message]:
    module, class_name = name.split(".")
    found: type[Message] = getattr(import_module(f"{_MESSAGES}.{module}"), class_name)
    return found


def _prefixed(number: int, message: Message, version: int) -> bytes:
    start = bytearray(_INT16.pack(number))
    out: Parts = [start]
    message.encode(out, version)
    return bytes(start) if len(out) == 1 else b"".join(out)  # type: ignore[arg-type]
