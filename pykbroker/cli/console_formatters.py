"""What console-consumer prints of a record: Apache's formatters, by the names of their classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from pykbroker.cli.command import CommandError
from pykbroker.cli.console_deserializers import Deserializer, deserializer_of

PACKAGE: Final = "org.apache.kafka.tools.consumer."

# In the order in which they are printed; the value is the only one that is on by default.
_COLUMNS: Final = (
    "timestamp", "partition", "offset", "delivery", "epoch", "headers", "key", "value",
)  # fmt: skip
_TEXTS: Final = {
    "key.separator": "\t",
    "line.separator": "\n",
    "headers.separator": ",",
    "null.literal": "null",
}
_TIMESTAMP_TYPES: Final = {0: "CreateTime", 1: "LogAppendTime"}


class Formatter(Protocol):
    """Turns a record of kafka-python into bytes to print; b"" prints nothing."""

    def format(self, record: Any) -> bytes: ...


def formatter_of(class_name: str, properties: Mapping[str, str]) -> Formatter:
    """Return the formatter with this class name, or only its last part."""
    match class_name.removeprefix(PACKAGE):
        case "DefaultMessageFormatter":
            return DefaultFormatter(properties)
        case "LoggingMessageFormatter":
            return LoggingFormatter(properties)
        case "NoOpMessageFormatter":
            return NoOpFormatter()
        case "OffsetsMessageFormatter" | "GroupMetadataMessageFormatter" as name:
            from pykbroker.cli.coordinator_formatter import group_formatter

            return group_formatter(offsets=name.startswith("Offsets"))
        case "TransactionLogMessageFormatter":
            from pykbroker.cli.coordinator_formatter import transaction_formatter

            return transaction_formatter()
    raise CommandError(
        f"--formatter {class_name}: known are Default-, Logging-, NoOp-, Offsets-, GroupMetadata- "
        f"and TransactionLogMessageFormatter of {PACKAGE[:-1]}"
    )


class NoOpFormatter:
    """Prints nothing."""

    def format(self, record: Any) -> bytes:
        return b""


class DefaultFormatter:
    """Columns of a record, as the properties of Apache's formatter choose them."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        deserializers = ("key.deserializer", "value.deserializer", "headers.deserializer")
        for name in properties:
            known = name in _TEXTS or name in deserializers
            if not known and name.removeprefix("print.") not in _COLUMNS:
                raise CommandError(f"{name}: the formatter has no such property")
        chosen = {"value": "true"} | {
            name.removeprefix("print."): text
            for name, text in properties.items()
            if name.startswith("print.")
        }
        self._columns = [each for each in _COLUMNS if _is_true(chosen.get(each, "false"))]
        self._separator, self._line_end, self._headers_separator, self._null = (
            properties.get(name, default).encode("utf-8", "surrogateescape")
            for name, default in _TEXTS.items()
        )
        self._key, self._value, self._headers = (
            deserializer_of(properties[name]) if name in properties else None
            for name in deserializers
        )

    def format(self, record: Any) -> bytes:
        # As in Apache's: even without a value, a line end follows the last column.
        columns = [self._column(name, record) for name in self._columns]
        return self._separator.join(columns) + self._line_end if columns else b""

    def _column(self, name: str, record: Any) -> bytes:
        match name:
            case "timestamp":
                kind = _TIMESTAMP_TYPES.get(record.timestamp_type)
                known = kind is not None and record.timestamp is not None
                return b"%s:%d" % (kind.encode(), record.timestamp) if known else b"NO_TIMESTAMP"  # type: ignore[union-attr]
            case "partition":
                return b"Partition:%d" % record.partition
            case "offset":
                return b"Offset:%d" % record.offset
            case "delivery":
                return b"Delivery:NOT_PRESENT"
            case "epoch":
                return b"Epoch:NOT_PRESENT"
            case "headers":
                return self._headers_text(record.headers)
            case "key":
                return self._text(record.key, self._key)
            case _:
                return self._text(record.value, self._value)

    def _headers_text(self, headers: Any) -> bytes:
        return (
            self._headers_separator.join(
                name.encode("utf-8") + b":" + self._text(value, self._headers)
                for name, value in headers
            )
            or b"NO_HEADERS"
        )

    def _text(self, content: bytes | None, deserializer: Deserializer | None) -> bytes:
        present = self._null if content is None else content
        return present if deserializer is None else deserializer(present)


class LoggingFormatter(DefaultFormatter):
    """The default formatter's output, and the same record on standard error."""

    def format(self, record: Any) -> bytes:
        import sys

        kind = _TIMESTAMP_TYPES.get(record.timestamp_type)
        time = f"{kind}:{record.timestamp}, " if kind else ""
        key = "null " if record.key is None else f"{record.key.decode('utf-8', 'replace')}, "
        value = "null" if record.value is None else record.value.decode("utf-8", "replace")
        print(f"{time}key:{key}value:{value}", file=sys.stderr)
        return super().format(record)


def _is_true(text: str) -> bool:
    return text.strip().lower() == "true"
