"""Keys and values as text: plain, JSON, hex or base64; and whole records as lines of JSON.

A line of JSON is an object with topic, partition, offset, timestamp (ms), key, value and headers.
Bytes that are not UTF-8 are in key_base64 and value_base64 instead of key and value; with a format
of hex or base64 they are in key_hex or key_base64. `produce --json` reads the same lines.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, Final

from pykbroker.cli.command import CommandError
from pykbroker.cli.record_sender import Headers, OutgoingRecord

FORMATS: Final = ("text", "json", "hex", "base64")
_CONTENTS: Final = tuple(
    f"{part}{end}" for part in ("key", "value") for end in ("", "_hex", "_base64")
)
_FIELDS: Final = frozenset(("topic", "partition", "offset", "timestamp", "headers", *_CONTENTS))


def parse_text(text: str, form: str) -> bytes:
    """Return the bytes that a text denotes; raises CommandError if it is not of that form."""
    try:
        match form:
            case "hex":
                return bytes.fromhex(text)
            case "base64":
                return base64.b64decode(text, validate=True)
            case "json":
                _parsed(text)
    except ValueError as error:
        raise CommandError(_malformed(form, text, error)) from None
    return text.encode("utf-8", "surrogateescape")


def _malformed(form: str, text: str, error: ValueError) -> str:
    """Return the message for a text that is not of that form: why not, if `error` tells, and what
    it is.
    """
    match error:
        case json.JSONDecodeError():
            return f"not JSON ({error.msg}, character {error.pos + 1}): {_short(text)}"
        case binascii.Error():
            return f"not {form} ({error}): {_short(text)}"
        case _:
            return f"not {form}: {_short(text)}"


def show_bytes(content: bytes | None, form: str, *, escaped: bool) -> bytes:
    """Return bytes in readable form. `escaped`: for a terminal; of control
    characters, text and JSON then hold only tab and newline.
    """
    if content is None:
        return b"null"
    match form:
        case "hex":
            return content.hex().encode()
        case "base64":
            return base64.b64encode(content)
        case "json":
            content = _indented(content)
    return _printable(content) if escaped else content


def _indented(content: bytes) -> bytes:
    """Return JSON with indentation; other bytes unchanged."""
    try:
        return _json_bytes(_parsed(content), indent=2)
    except ValueError:
        return content


def _printable(content: bytes) -> bytes:
    text = content.decode("utf-8", "backslashreplace")
    kept = (
        each if each.isprintable() or each in "\t\n" else each.encode("unicode_escape").decode()
        for each in text
    )
    return "".join(kept).encode()


# --- records as lines of JSON ------------------------------------------------------------------


def json_line(record: Any, key_form: str, value_form: str) -> bytes:
    """Return a record of kafka-python as a line of JSON."""
    forms = (key_form, value_form)
    node: dict[str, Any] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
    }
    _put(node, "key", record.key, key_form)
    _put(node, "value", record.value, value_form)
    node["headers"] = [_header(name, value) for name, value in record.headers]
    try:
        return _json_bytes(node) + b"\n"
    except ValueError:  # JSON inside, nested as deeply as a parser takes
        return json_line(record, *("text" if each == "json" else each for each in forms))


def _parsed(text: str | bytes) -> Any:
    """Return the value that JSON denotes; raises ValueError, also if it is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", "", 0) from None


def _json_bytes(value: Any, **layout: Any) -> bytes:
    """Return JSON with letters as they are, or escaped if one is a lone surrogate, which UTF-8 does
    not have. Raises ValueError if it is nested too deeply.
    """
    try:
        return json.dumps(value, ensure_ascii=False, **layout).encode()
    except UnicodeEncodeError:
        return json.dumps(value, **layout).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _put(node: dict[str, Any], part: str, content: bytes | None, form: str) -> None:
    if content is None:
        node[part] = None
        return
    try:
        if form == "json":
            node[part] = _parsed(content)
            return
        if form == "text":
            node[part] = content.decode("utf-8")
            return
    except ValueError:
        form = "text" if form == "json" else "base64"
        _put(node, part, content, form)
        return
    node[f"{part}_{form}"] = content.hex() if form == "hex" else base64.b64encode(content).decode()


def _header(name: str, value: bytes | None) -> dict[str, str | None]:
    node: dict[str, Any] = {"key": name}
    _put(node, "value", value, "text")
    return node


def parse_json_line(line: str, topic: str) -> OutgoingRecord:
    """Return the record in a line of JSON.

    Its topic, partition and offset are those of the original record, and are ignored.
    """
    try:
        node = _parsed(line)
    except ValueError as error:
        raise CommandError(_malformed("json", line, error)) from None
    if not isinstance(node, dict):
        raise CommandError(f"not a JSON object: {_short(line)}")
    unknown = [name for name in node if name not in _FIELDS]
    if unknown:
        raise CommandError(f"unknown field {unknown[0]!r}; known are {', '.join(sorted(_FIELDS))}")
    return OutgoingRecord(
        topic,
        _taken(node, "key"),
        _taken(node, "value"),
        _headers(node.get("headers")),
        timestamp_ms=_number(node, "timestamp"),
    )


def _taken(node: Mapping[str, Any], part: str) -> bytes | None:
    for form in ("hex", "base64"):
        if (text := node.get(f"{part}_{form}")) is not None:
            if not isinstance(text, str):
                raise CommandError(f"{part}_{form} is not a text")
            return parse_text(text, form)
    content = node.get(part)
    if content is None:
        return None
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")
    try:
        return _json_bytes(content, separators=(",", ":"))
    except ValueError as error:
        raise CommandError(f"{part}: {error}") from None


def _headers(node: Any) -> Headers:
    """Parse a list of {"key", "value"}, or an object of names and values."""
    pairs = node.items() if isinstance(node, dict) else ()
    given = [{"key": name, "value": value} for name, value in pairs] or node or []
    if not isinstance(given, list):
        raise CommandError("headers is neither a list nor an object")
    headers: Headers = []
    for each in given:
        if not isinstance(each, dict) or not isinstance(each.get("key"), str):
            raise CommandError('a header is an object with "key" and "value"')
        value = _taken(each, "value")
        if value is None:
            raise CommandError(
                f"header {each['key']!r}: the client library kafka-python cannot send a header "
                "without a value"
            )
        headers.append((each["key"], value))
    return headers


def _number(node: Mapping[str, Any], field: str) -> int | None:
    value = node.get(field)
    if value is not None and type(value) is not int:
        raise CommandError(f"{field} is not a whole number")
    return value


def _short(text: str) -> str:
    line = text.strip()
    return line if len(line) <= 60 else line[:57] + "..."
