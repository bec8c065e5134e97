"""As Apache's LineMessageReader splits lines."""

from __future__ import annotations

import pytest

from pykbroker.cli.command import CommandError
from pykbroker.cli.console_lines import LineReader
from pykbroker.cli.record_sender import OutgoingRecord


def read(line: str, **properties: str) -> OutgoingRecord:
    named = {name.replace("_", "."): text for name, text in properties.items()}
    (record,) = LineReader("t", named).records([line])
    return record


def test_values() -> None:
    assert read("a\tb\n") == OutgoingRecord("t", None, b"a\tb")
    assert read("") == OutgoingRecord("t", None, b"")
    assert read("\udcff") == OutgoingRecord("t", None, b"\xff")


def test_keys() -> None:
    assert read("a\tb\tc", parse_key="true") == OutgoingRecord("t", b"a", b"b\tc")
    assert read("a::b", parse_key="true", key_separator="::") == OutgoingRecord("t", b"a", b"b")


def test_headers() -> None:
    record = read("h1:v1,h2:v2:x\tk\tv", parse_headers="TRUE ", parse_key="true")
    assert record == OutgoingRecord("t", b"k", b"v", [("h1", b"v1"), ("h2", b"v2:x")])
    other = read(
        "a=1;b=2|v",
        parse_headers="true",
        headers_delimiter="|",
        headers_separator=";",
        headers_key_separator="=",
    )
    assert other == OutgoingRecord("t", None, b"v", [("a", b"1"), ("b", b"2")])
    # As Java's split: what is empty at the end does not count.
    assert read("a:1,,\tv", parse_headers="true").headers == [("a", b"1")]


def test_nulls() -> None:
    record = read("N\tN\tN", null_marker="N", parse_key="true", parse_headers="true")
    assert record == OutgoingRecord("t", None, None)


def test_errors_name_the_line() -> None:
    lines = LineReader("t", {"parse.key": "true"}).records(["a\tb", "nothing"])
    assert next(lines).key == b"a"
    with pytest.raises(CommandError, match=r"No key separator found on line number 2: 'nothing'"):
        next(lines)
    for line, why in (
        ("h\tv", "No header key separator found in pair 'h' on line number 1"),
        ("N:1\tv", "Header keys should not be equal to the null marker"),
        ("h:N\tv", "cannot send a header without a value"),
    ):
        with pytest.raises(CommandError, match=why):
            read(line, parse_headers="true", null_marker="N")


def test_errors_ignored() -> None:
    assert read("v", parse_key="true", ignore_error="true") == OutgoingRecord("t", None, b"v")


@pytest.mark.parametrize(
    "properties, why",
    [
        ({"headers.delimiter": ","}, "headers.delimiter and headers.separator may not be equal"),
        ({"null.marker": "\t"}, "null.marker and key.separator may not be equal"),
        ({"headers.separator": "("}, "headers.separator is not a pattern"),
        ({"parse.keys": "true"}, "parse.keys: the reader has no such property"),
    ],
)
def test_properties_that_make_no_sense(properties: dict[str, str], why: str) -> None:
    with pytest.raises(CommandError, match=why):
        LineReader("t", properties)
