"""The option `where`: conditions on records, known before Spark plans anything.

    topic = 'orders' and partition in (0, 1) and offset between 100 and 200
    key = 'user-7' and value is not null and timestamp >= '2024-05-01T00:00:00Z'
    key like 'user-%' and producer_id <> 5

Conditions joined by `and`, as in SQL, on any column but `headers`, chosen or not. Text means its
UTF-8 bytes if a column is binary (X'00ff' for other bytes); a timestamp is ISO 8601, UTC by
default. Those of records are whole milliseconds.

Why not Spark's own filters? Spark 4.2 keeps what was pushed down for a DataFrame and uses it for
the next query on it, too, and for both sides of a union: rows are lost. See docs/analytics.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringContains,
    StringEndsWith,
    StringStartsWith,
)

from pykbroker.offline import ALL_COLUMNS
from pykbroker.spark.faults import OptionError
from pykbroker.spark.filters import Pushdown, columns_of

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<hex>[xX]'(?:[0-9a-fA-F]{2})*')|(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+)"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<sign><=>|<=|>=|<>|!=|=|<|>|\(|\)|,))"
)
_SIGNS: Final[dict[str, Callable[[tuple[str], Any], Filter]]] = {
    "=": EqualTo,
    "<": LessThan,
    "<=": LessThanOrEqual,
    ">": GreaterThan,
    ">=": GreaterThanOrEqual,
}
_BY_LOWER: Final = {name.lower(): name for name in ALL_COLUMNS if name != "headers"}


def parse_where(text: str) -> tuple[Filter, ...]:
    """Parse the conditions; raises OptionError for invalid ones."""
    found = tuple(_Parser(text).conditions())
    left = Pushdown().push(found, tuple(ALL_COLUMNS))
    assert set(columns_of(left)) <= {"timestamp"}, "whoever reads would not know of a condition"
    return found


class _Parser:
    """Recursive descent over the tokens of one condition list."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, str]] = []
        self._at = 0
        position = 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None:
                raise OptionError("where", f"cannot read {text[position:].strip()[:40]!r}")
            assert match.lastgroup is not None
            self._tokens.append((match.lastgroup, match[match.lastgroup]))
            position = match.end()

    def conditions(self) -> list[Filter]:
        found = self._condition()
        while self._at < len(self._tokens):
            self._expect("and")
            found += self._condition()
        return found

    # -- tokens ---------------------------------------------------------------------------------

    def _next(self) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            raise OptionError("where", f"ends too early: {self._text!r}")
        self._at += 1
        return self._tokens[self._at - 1]

    def _accept(self, word: str) -> bool:
        there = self._at < len(self._tokens) and self._tokens[self._at][1].lower() == word
        self._at += there
        return there

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            rest = " ".join(text for _, text in self._tokens[self._at :])
            raise OptionError("where", f"expected {word!r} before {rest or 'the end'!r}")

    # -- conditions -----------------------------------------------------------------------------

    def _condition(self) -> list[Filter]:
        kind, word = self._next()
        name = _BY_LOWER.get(word.lower()) if kind == "word" else None
        if name is None:
            raise OptionError(
                "where", f"unknown column {word!r}; the columns are {', '.join(_BY_LOWER.values())}"
            )
        path = (name,)
        if self._accept("is"):
            negated = self._accept("not")
            self._expect("null")
            return [IsNotNull(path) if negated else IsNull(path)]
        negated = self._accept("not")
        if self._accept("in"):
            found: list[Filter] = [In(path, tuple(self._list(name)))]
        elif self._accept("like"):
            found = [self._like(path)]
        elif not negated and self._accept("between"):
            low = self._literal(name)
            self._expect("and")
            return [GreaterThanOrEqual(path, low), LessThanOrEqual(path, self._literal(name))]
        elif negated:
            raise OptionError("where", f"not after {name} must be followed by in or like")
        else:
            return [self._comparison(path)]
        return [Not(found[0])] if negated else found

    def _comparison(self, path: tuple[str]) -> Filter:
        _, sign = self._next()
        if sign in ("<>", "!="):
            return Not(EqualTo(path, self._literal(path[0])))
        if sign not in _SIGNS:
            raise OptionError("where", f"expected a comparison of {path[0]}, not {sign!r}")
        return _SIGNS[sign](path, self._literal(path[0]))

    def _list(self, name: str) -> list[Any]:
        self._expect("(")
        found = [self._literal(name)]
        while self._accept(","):
            found.append(self._literal(name))
        self._expect(")")
        return found

    def _like(self, path: tuple[str]) -> Filter:
        kind, token = self._next()
        pattern = _unquoted(token) if kind == "text" else ""
        inner = pattern.strip("%")
        if kind != "text" or not inner or "%" in inner or "_" in inner or "\\" in inner:
            raise OptionError("where", f"like accepts 'x%', '%x' or '%x%', not {token}")
        before, after = pattern.startswith("%"), pattern.endswith("%")
        column = ALL_COLUMNS[path[0]]
        if not pa.types.is_binary(column) and not pa.types.is_string(column):
            raise OptionError("where", f"like applies to text, but {path[0]} is {column}")
        value: Any = inner.encode() if pa.types.is_binary(column) else inner
        if before and after:
            return StringContains(path, value)
        if before or after:
            return (StringEndsWith if before else StringStartsWith)(path, value)
        return EqualTo(path, value)

    def _literal(self, name: str) -> Any:
        kind, token = self._next()
        column = ALL_COLUMNS[name]
        if pa.types.is_integer(column) and kind == "number":
            bits = column.bit_width - 1
            if -(1 << bits) <= int(token) < 1 << bits:
                return int(token)
        if pa.types.is_boolean(column) and token.lower() in ("true", "false"):
            return token.lower() == "true"
        if pa.types.is_binary(column) and kind == "hex":
            return bytes.fromhex(token[2:-1])
        if kind == "text":
            text = _unquoted(token)
            if pa.types.is_binary(column):
                return text.encode()
            if pa.types.is_string(column):
                return text
            if pa.types.is_timestamp(column):
                return _moment(text)
        raise OptionError("where", f"{token} is not a value for {name}, which is {column}")


def _unquoted(token: str) -> str:
    return token[1:-1].replace("''", "'")


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise OptionError("where", f"{text!r} is not an ISO 8601 time") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
