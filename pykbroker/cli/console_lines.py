"""Lines of standard input as records: kafka-console-producer.sh's LineMessageReader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from pykbroker.cli.command import CommandError
from pykbroker.cli.record_sender import Headers, OutgoingRecord

_SWITCHES: Final = ("parse.key", "parse.headers", "ignore.error")
_DEFAULTS: Final = {
    "key.separator": "\t",
    "headers.delimiter": "\t",
    "headers.separator": ",",
    "headers.key.separator": ":",
}
_DIFFERENT: Final = (
    ("headers.delimiter", "headers.separator"),
    ("headers.delimiter", "headers.key.separator"),
    ("headers.separator", "headers.key.separator"),
    ("null.marker", "key.separator"),
    ("null.marker", "headers.separator"),
    ("null.marker", "headers.delimiter"),
    ("null.marker", "headers.key.separator"),
)


class LineReader:
    """Splits lines into headers, key and value, by the properties of Apache's reader."""

    def __init__(self, topic: str, properties: Mapping[str, str]) -> None:
        for name in properties:
            if name not in (*_SWITCHES, *_DEFAULTS, "null.marker", "topic"):
                raise CommandError(f"{name}: the reader has no such property")
        self._topic = topic
        self._parse_key, self._parse_headers, self._ignore_error = (
            properties.get(name, "").strip().lower() == "true" for name in _SWITCHES
        )
        texts = _DEFAULTS | dict(properties)
        for one, other in _DIFFERENT:
            if texts.get(one) == texts[other]:
                raise CommandError(f"{one} and {other} may not be equal")
        self._key_separator = texts["key.separator"]
        self._headers_delimiter = texts["headers.delimiter"]
        self._headers_key_separator = texts["headers.key.separator"]
        self._null = texts.get("null.marker")
        try:
            self._headers_separator = re.compile(texts["headers.separator"])
        except re.error as error:
            raise CommandError(f"headers.separator is not a pattern: {error}") from error

    def records(self, lines: Iterable[str]) -> Iterator[OutgoingRecord]:
        """Yield one record for each line."""
        for number, line in enumerate(lines, 1):
            yield self._record(line.removesuffix("\n"), number)

    def _record(self, line: str, number: int) -> OutgoingRecord:
        headers, start = None, 0
        if self._parse_headers:
            headers, start = self._part(
                line, 0, self._headers_delimiter, "headers delimiter", number
            )
        key = None
        if self._parse_key:
            key, start = self._part(line, start, self._key_separator, "key separator", number)
        parsed = [] if headers is None or headers == self._null else self._split(headers, number)
        return OutgoingRecord(self._topic, self._bytes(key), self._bytes(line[start:]), parsed)

    def _part(
        self, line: str, start: int, end: str, name: str, number: int
    ) -> tuple[str | None, int]:
        """Return (the text before `end`, where the rest begins). Without `end` in the line, that is
        (None, start) with ignore.error, else a CommandError.
        """
        found = line.find(end, start)
        if found >= 0:
            return line[start:found], found + len(end)
        if self._ignore_error:
            return None, start
        raise CommandError(f"No {name} found on line number {number}: '{line}'")

    def _split(self, headers: str, number: int) -> Headers:
        pairs = self._headers_separator.split(headers)
        while len(pairs) > 1 and not pairs[-1]:
            pairs.pop()  # as Java's Pattern.split
        return [self._header(pair, number) for pair in pairs]

    def _header(self, pair: str, number: int) -> tuple[str, bytes]:
        name, separator, value = pair.partition(self._headers_key_separator)
        if not separator and not self._ignore_error:
            raise CommandError(
                f"No header key separator found in pair '{pair}' on line number {number}"
            )
        if name == self._null:
            raise CommandError(
                f"Header keys should not be equal to the null marker '{name}' as they can't be null"
            )
        content = self._bytes(value) if separator else None
        if content is None:
            raise CommandError(
                f"Line number {number}: the client library kafka-python cannot send a header "
                f"without a value ('{name}')"
            )
        return name, content

    def _bytes(self, text: str | None) -> bytes | None:
        return (
            None if text is None or text == self._null else text.encode("utf-8", "surrogateescape")
        )
