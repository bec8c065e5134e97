from __future__ import annotations

import pytest

from pykbroker.cli.command import CommandError
from pykbroker.cli.console_formatters import PACKAGE, formatter_of
from tests.cli.consumed_record import Consumed

RECORD = Consumed(headers=(("h", b"1"), ("i", None)))


def shown(record: Consumed = RECORD, /, **properties: str) -> bytes:
    named = {name.replace("_", "."): text for name, text in properties.items()}
    return formatter_of(f"{PACKAGE}DefaultMessageFormatter", named).format(record)


def test_columns() -> None:
    columns = ("timestamp", "partition", "offset", "delivery", "epoch", "headers", "key")
    everything = shown(**{f"print_{each}": "true" for each in columns})
    assert everything == (
        b"CreateTime:1600000000123\tPartition:1\tOffset:7\tDelivery:NOT_PRESENT\t"
        b"Epoch:NOT_PRESENT\th:1,i:null\tk\tv\n"
    )
    assert shown() == b"v\n"
    assert shown(print_value="false", print_key=" TRUE") == b"k\n"
    assert shown(print_value="false") == b""
    assert shown(Consumed(), print_headers="true") == b"NO_HEADERS\tv\n"
    appended = Consumed(timestamp_type=1)
    assert shown(appended, print_timestamp="true") == b"LogAppendTime:1600000000123\tv\n"
    untimed = Consumed(timestamp_type=None, timestamp=None)
    assert shown(untimed, print_timestamp="true") == b"NO_TIMESTAMP\tv\n"


def test_separators_and_nulls() -> None:
    texts = {"key_separator": "|", "line_separator": "$", "headers_separator": ";"}
    everything = shown(print_headers="true", print_key="true", null_literal="-", **texts)
    assert everything == b"h:1;i:-|k|v$"
    assert shown(Consumed(None, None), print_key="true") == b"null\tnull\n"


def test_deserializers() -> None:
    record = Consumed(bytes(8), bytes(4), (("h", b"\1\0"),))
    classes = {
        f"{part}_deserializer": f"org.apache.kafka.common.serialization.{name}Deserializer"
        for part, name in (("key", "Long"), ("value", "Integer"), ("headers", "Short"))
    }
    assert shown(record, print_key="true", print_headers="true", **classes) == b"h:256\t0\t0\n"


def test_other_formatters(capsys: pytest.CaptureFixture[str]) -> None:
    assert formatter_of("NoOpMessageFormatter", {}).format(RECORD) == b""
    assert formatter_of("LoggingMessageFormatter", {}).format(Consumed(None, None)) == b"null\n"
    assert capsys.readouterr().err == "CreateTime:1600000000123, key:null value:null\n"
    assert formatter_of("LoggingMessageFormatter", {}).format(RECORD) == b"v\n"
    assert capsys.readouterr().err == "CreateTime:1600000000123, key:k, value:v\n"


def test_what_is_refused() -> None:
    with pytest.raises(CommandError, match=r"--formatter com.example.Mine: known are Default-"):
        formatter_of("com.example.Mine", {})
    with pytest.raises(CommandError, match=r"print.keys: the formatter has no such property"):
        shown(print_keys="true")
