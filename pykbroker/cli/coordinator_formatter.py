"""Records of `__consumer_offsets` and `__transaction_state` as JSON, one per line.

Apache's formatters print the same objects without a separator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pykbroker.cli.command import CommandError
from pykbroker.cli.dump_records import compact
from pykbroker.protocol.api import (
    offsets_record_classes,
    transaction_record_classes,
    transaction_state_name,
)
from pykbroker.protocol.json_form import to_json
from pykbroker.protocol.primitives import DecodeError, Message

_OFFSET_COMMITS: Final = frozenset((0, 1))
_GROUP_METADATA: Final = frozenset((2,))


def group_formatter(*, offsets: bool) -> CoordinatorFormatter:
    """Return the formatter of committed offsets, or of the metadata of classic groups."""
    allowed = _OFFSET_COMMITS if offsets else _GROUP_METADATA
    return CoordinatorFormatter(offsets_record_classes, to_json, allowed)


def transaction_formatter() -> CoordinatorFormatter:
    """Return the formatter of the transaction log."""
    return CoordinatorFormatter(transaction_record_classes, _transaction_value, None)


class CoordinatorFormatter:
    """Records whose key begins with an int16 type and whose value with an int16 version."""

    def __init__(
        self,
        classes: Callable[[int], tuple[type[Message], type[Message]]],
        value_json: Callable[[Message, int], Any],
        allowed: frozenset[int] | None,
    ) -> None:
        self._classes = classes
        self._value_json = value_json
        self._allowed = allowed

    def format(self, record: Any) -> bytes:
        """Return JSON, or b"" for records of other types."""
        if record.key is None:
            return b""
        try:
            kind = _int16(record.key)
            if self._allowed is not None and kind not in self._allowed:
                return b""
            return self._json(kind, record.key, record.value)
        except KeyError:
            return b""  # a type that this release does not know
        except DecodeError as error:
            raise CommandError(
                f"Could not read record at offset {record.offset} due to: {error}"
            ) from error

    def _json(self, kind: int, key: bytes, value: bytes | None) -> bytes:
        key_class, value_class = self._classes(kind)
        key_message, _ = key_class.decode(key, 2, 0)
        node: dict[str, Any] = {
            "key": {"type": kind, "data": to_json(key_message, 0)},
            "value": None,
        }
        if value is not None:
            version = _int16(value)
            message, _ = value_class.decode(value, 2, version)
            node["value"] = {"version": version, "data": self._value_json(message, version)}
        return compact(node).encode("utf-8", "surrogateescape") + b"\n"


def _int16(content: bytes) -> int:
    if len(content) < 2:
        raise DecodeError(f"{len(content)} bytes are too few")
    return int.from_bytes(content[:2], "big", signed=True)


def _transaction_value(message: Message, version: int) -> Any:
    node = to_json(message, version)
    if "transactionStatus" in node:
        node["transactionStatus"] = transaction_state_name(node["transactionStatus"])
    return node
