from __future__ import annotations

import json

import pytest

from pykbroker.cli.command import CommandError
from pykbroker.cli.record_sender import OutgoingRecord
from pykbroker.cli.record_text import json_line, parse_json_line, parse_text, show_bytes
from tests.cli.consumed_record import Consumed


def test_text_of_a_form() -> None:
    assert parse_text("für", "text") == "für".encode()
    assert parse_text("\udcff", "text") == b"\xff"
    assert parse_text("00 ff", "hex") == b"\0\xff"
    assert parse_text("AP8=", "base64") == b"\0\xff"
    assert parse_text('{"a": 1}', "json") == b'{"a": 1}'
    for text, form, why in (
        ("zz", "hex", "not hex: zz"),
        ("AP8", "base64", "not base64 (Incorrect padding): AP8"),
        ('{"a"', "json", "not JSON (Expecting ':' delimiter, character 5): {\"a\""),
    ):
        with pytest.raises(CommandError) as raised:
            parse_text(text, form)
        assert str(raised.value) == why


def test_bytes_for_people() -> None:
    assert show_bytes(None, "text", escaped=False) == b"null"
    assert show_bytes(b"\0\xff", "hex", escaped=True) == b"00ff"
    assert show_bytes(b"\0\xff", "base64", escaped=True) == b"AP8="
    assert show_bytes(b"\x1b[31m\xff", "text", escaped=False) == b"\x1b[31m\xff"
    assert show_bytes(b"\x1b[31m\xff\t", "text", escaped=True) == b"\\x1b[31m\\xff\t"
    assert show_bytes(b'{"a":1}', "json", escaped=False) == b'{\n  "a": 1\n}'
    assert show_bytes(b"no json", "json", escaped=False) == b"no json"


def test_lone_surrogates_stay_escaped() -> None:
    text = b'{"a": "\\ud800 \xc3\xbc"}'
    assert show_bytes(text, "json", escaped=False) == b'{\n  "a": "\\ud800 \\u00fc"\n}'
    line = json_line(Consumed(None, text), "text", "json")
    assert json.loads(line)["value"] == {"a": "\ud800 ü"}
    assert parse_json_line(line.decode(), "copy").value == b'{"a":"\\ud800 \\u00fc"}'


@pytest.mark.parametrize("depth", [900, 950, 980, 990, 2000, 100_000])
def test_json_that_is_nested_too_deeply_is_text(depth: int) -> None:
    text = b"[" * depth + b"]" * depth
    assert show_bytes(text, "json", escaped=False).split() in (
        [text],
        [b"["] * (depth - 1) + [b"[]"] + [b"]"] * (depth - 1),
    )
    line = json_line(Consumed(None, text), "text", "json")
    assert b"".join(line.split()).endswith(
        (text + b',"headers":[]}', b'"' + text + b'","headers":[]}')
    )
    if depth < 2000:
        return
    with pytest.raises(CommandError, match=r"^not JSON \(nested too deeply"):
        parse_text(text.decode(), "json")
    with pytest.raises(CommandError, match="nested too deeply"):
        parse_json_line(f'{{"value": {text.decode()}}}', "copy")


def test_lines_of_json() -> None:
    record = Consumed(b"\xff", b'{"a":1}', (("h", b"1"), ("i", None), ("j", b"\xff")))
    node = json.loads(json_line(record, "text", "text"))
    assert node == {
        "topic": "orders",
        "partition": 1,
        "offset": 7,
        "timestamp": 1_600_000_000_123,
        "key_base64": "/w==",
        "value": '{"a":1}',
        "headers": [
            {"key": "h", "value": "1"},
            {"key": "i", "value": None},
            {"key": "j", "value_base64": "/w=="},
        ],
    }


def test_forms_of_lines_of_json() -> None:
    node = json.loads(json_line(Consumed(b"\xff", b'{"a":1}'), "hex", "json"))
    assert (node["key_hex"], node["value"]) == ("ff", {"a": 1})
    node = json.loads(json_line(Consumed(b"ok", b"no json"), "base64", "json"))
    assert (node["key_base64"], node["value"]) == ("b2s=", "no json")
    node = json.loads(json_line(Consumed(None, None), "hex", "text"))
    assert (node["key"], node["value"]) == (None, None)


@pytest.mark.parametrize(
    "record",
    [
        Consumed(b"k", b"v", (("h", b"1"), ("j", b"\xff"))),
        Consumed(None, None),
        Consumed(b"\xff\0", b""),
    ],
)
def test_what_was_consumed_can_be_produced(record: Consumed) -> None:
    for form in ("text", "hex", "base64"):
        line = json_line(record, form, form).decode()
        assert parse_json_line(line, "copy") == OutgoingRecord(
            "copy",
            record.key,
            record.value,
            [(name, value or b"") for name, value in record.headers],
            None,
            record.timestamp,
        )


def test_lines_that_people_write() -> None:
    record = parse_json_line('{"value": {"a": [1]}, "headers": {"h": "1"}}', "t")
    assert record == OutgoingRecord("t", None, b'{"a":[1]}', [("h", b"1")])


@pytest.mark.parametrize(
    "line, why",
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"valeu": 1}', "unknown field 'valeu'; known are headers, key,"),
        ('{"value_hex": 1}', "value_hex is not a text"),
        ('{"value_hex": "z"}', "not hex: z"),
        ('{"timestamp": "now"}', "timestamp is not a whole number"),
        ('{"headers": "h"}', "headers is neither a list nor an object"),
        ('{"headers": ["h"]}', 'a header is an object with "key" and "value"'),
        ('{"headers": {"h": null}}', "cannot send a header without a value"),
    ],
)
def test_lines_that_make_no_sense(line: str, why: str) -> None:
    with pytest.raises(CommandError, match=why):
        parse_json_line(line, "t")
