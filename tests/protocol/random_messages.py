"""Random and edge-valued messages of any schema and version, from a seeded source."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from typing import Any

from pykbroker.protocol.api import message_class
from pykbroker.protocol.parts_writer import join_parts
from pykbroker.protocol.primitives import Message
from pykbroker.protocol.schema import Field, Struct, all_messages
from pykbroker.protocol.schema import Message as Schema

SCHEMAS: dict[str, Schema] = {schema.name: schema for schema in all_messages()}
PAIRS: list[tuple[str, int]] = [
    (name, version)
    for name, schema in SCHEMAS.items()
    for version in range(schema.versions.low, schema.versions.high + 1)
]

_RANGES = {
    "int8": (-0x80, 0x7F),
    "int16": (-0x8000, 0x7FFF),
    "uint16": (0, 0xFFFF),
    "int32": (-0x80000000, 0x7FFFFFFF),
    "uint32": (0, 0xFFFFFFFF),
    "int64": (-0x8000000000000000, 0x7FFFFFFFFFFFFFFF),
}
_TEXTS = (
    "",
    "a",
    "topic-1",
    "\u00e9t\u00e9",
    "\u65e5\u672c\u8a9e",
    "\U0001f600",
    'quote " \\ \n \x00 \x7f',
    "x" * 126,
    "x" * 127,
    "y" * 128,
    "z" * 300,
)
_LONG_TEXT = "l" * 32767
_FLOATS = (0.0, 1.0, -1.5, 1e308, 5e-324, 0.1, 123456789.25)

# Gives a value for a field, or None to let the maker choose.
Chooser = Callable[[Field], Any]


class MessageMaker:
    """Makes messages. `edge` is "low", "high" or "" (random); `choose` overrules single fields."""

    def __init__(
        self,
        rng: random.Random,
        *,
        edge: str = "",
        unknown_tags: bool = True,
        choose: Chooser | None = None,
    ) -> None:
        self.rng = rng
        self.edge = edge
        self.unknown_tags = unknown_tags
        self.choose = choose

    def make(self, name: str, version: int) -> Message:
        """One message of the kind and for the version."""
        schema = SCHEMAS[name]
        return self._struct(schema, schema.root, version)

    def _struct(self, schema: Schema, struct: Struct, version: int) -> Message:
        module = import_module(message_class(schema.name).__module__)
        made: Any = getattr(module, struct.name)()
        for item in struct.fields:
            if version in item.versions:
                self._set(schema, made, item, version)
        if self.unknown_tags and version in schema.flexible and self.rng.random() < 0.2:
            known = [item.tag for item in struct.fields]
            first = max(known, default=-1) + 1
            tags = self.rng.sample([first, first + 1, 100, 128, 20000, 0x7FFFFFFE], 2)
            made.unknown_tags = {tag: self._bytes() for tag in tags}
        return made  # type: ignore[no-any-return]

    def _set(self, schema: Schema, made: Message, item: Field, version: int) -> None:
        if version in item.tagged and self.rng.random() < 0.4 and not self.edge:
            return
        if version in item.nullable and self._pick(item) is None and self._wants_null():
            setattr(made, item.snake_name, None)
        elif item.is_array:
            values = [self._value(schema, item, version) for _ in range(self._count())]
            setattr(made, item.snake_name, values)
        else:
            setattr(made, item.snake_name, self._value(schema, item, version))

    def _pick(self, item: Field) -> Any:
        return self.choose(item) if self.choose else None

    def _wants_null(self) -> bool:
        if self.edge:
            return self.edge == "low"
        return self.rng.random() < 0.25

    def _count(self) -> int:
        if self.edge:
            return 0 if self.edge == "low" else 1
        return self.rng.choice((0, 1, 1, 2, 3))

    def _value(self, schema: Schema, item: Field, version: int) -> Any:
        if item.struct is not None:
            return self._struct(schema, item.struct, version)
        picked = self._pick(item)
        if picked is not None:
            return picked
        kind, rng = item.element_type, self.rng
        if kind in _RANGES:
            return self._integer(*_RANGES[kind])
        if kind == "bool":
            return self.edge == "high" if self.edge else rng.random() < 0.5
        if kind == "float64":
            return rng.choice(_FLOATS)
        if kind == "string":
            if self.edge:
                return "" if self.edge == "low" else _LONG_TEXT
            return rng.choice(_TEXTS)
        if kind == "uuid":
            return bytes(16) if self._integer(0, 3) == 0 else rng.randbytes(16)
        return self._bytes()

    def _bytes(self) -> bytes:
        if self.edge:
            return b"" if self.edge == "low" else self.rng.randbytes(3000)
        return self.rng.randbytes(self.rng.choice((0, 1, 10, 126, 127, 128, 300)))

    def _integer(self, low: int, high: int) -> int:
        if self.edge:
            return low if self.edge == "low" else high
        if self.rng.random() < 0.2:
            return self.rng.choice((low, high, max(low, -1), 0, 1))
        return self.rng.randint(low, high)


def encode(message: Message, version: int) -> bytes:
    """The wire bytes of a message."""
    out: list[Any] = []
    message.encode(out, version)
    return join_parts(out)


def mutate(rng: random.Random, wire: bytes) -> bytes:
    """A damaged copy: bytes changed, cut, doubled or replaced by troublesome ones."""
    damaged = bytearray(wire)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if not damaged:
            break
        at = rng.randrange(len(damaged))
        how = rng.randrange(6)
        if how == 0:
            damaged[at] = rng.randrange(256)
        elif how == 1:
            damaged[at] ^= 1 << rng.randrange(8)
        elif how == 2:
            del damaged[at:]
        elif how == 3:
            del damaged[at : at + rng.choice((1, 2, 4))]
        elif how == 4:
            damaged[at:at] = rng.choice((b"\xff", b"\x80", b"\x00", b"\x7f\xff\xff\xff"))
        else:
            trouble = (
                b"\xff\xff\xff\xff\x0f",
                b"\x7f\xff\xff\xff",
                b"\xff\xff\xff\xff",
                b"\xed\xa0",
            )
            piece = rng.choice(trouble)
            damaged[at : at + len(piece)] = piece
    return bytes(damaged)
