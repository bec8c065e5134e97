"""The message schemas: a small text language and its parser.

One file per API (request and response), record or other message under ``schemas/``. Indentation
nests::

    request 0 ProduceRequest  versions 3-13  flexible 9+  listeners broker
      TransactionalId  string              3+  nullable 3+  default null
      TopicData        []TopicProduceData  0+
        Name  string  0-12  key  ignorable
      struct Shared  0+
        Host  string  0+

A message line is ``KIND [ID] NAME`` and then words: ``versions``, ``flexible``, ``listeners``,
``unstable`` (the last version is not advertised). KIND is request, response, header, record (of
metadata), key or value (coordinator logs) or data. A field line is ``NAME TYPE VERSIONS`` and
then ``nullable V``, ``default X``, ``tag N V``, ``flexible V``, ``key``, ``ignorable``,
``zerocopy``. ``struct NAME VERSIONS`` opens a struct that several fields of the message share.

Used by the generator (at development time) and json_form.py (at run time, lazily).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

SCHEMA_ROOT = Path(__file__).parent / "schemas"
NO_VERSION = 32767

FIXED_FORMATS = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
VARIABLE_TYPES = frozenset({"string", "bytes", "records"})
INTEGER_TYPES = frozenset({"int8", "int16", "uint16", "int32", "uint32", "int64"})


class SchemaError(Exception):
    """A schema file that does not follow the language."""


@dataclass(frozen=True, slots=True)
class Versions:
    """An inclusive range of versions; ``low > high`` is the empty range."""

    low: int
    high: int

    @classmethod
    def parse(cls, text: str) -> Versions:
        if text == "none":
            return NONE
        if text.endswith("+"):
            return cls(int(text[:-1]), NO_VERSION)
        low, _, high = text.partition("-")
        return cls(int(low), int(high or low))

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.low <= version <= self.high

    def __bool__(self) -> bool:
        return self.low <= self.high

    def intersect(self, other: Versions) -> Versions:
        return Versions(max(self.low, other.low), min(self.high, other.high))


NONE = Versions(0, -1)


@dataclass(slots=True)
class Field:
    """One field of a struct, as its schema line says."""

    name: str
    type: str
    versions: Versions
    nullable: Versions = NONE
    default: str = ""
    tag: int = -1
    tagged: Versions = NONE
    flexible: Versions | None = None
    key: bool = False
    ignorable: bool = False
    zero_copy: bool = False
    struct: Struct | None = None

    @property
    def is_array(self) -> bool:
        return self.type.startswith("[]")

    @property
    def element_type(self) -> str:
        return self.type[2:] if self.is_array else self.type

    @property
    def starts_absent(self) -> bool:
        """Tagged structs are None while absent: a fresh default struct each time would be dear.

        Not if the struct is nullable: there None is a null that goes on the wire.
        """
        if self.struct is None or self.is_array:
            return False
        return bool(self.tagged) and not self.nullable

    @property
    def snake_name(self) -> str:
        return to_snake_case(self.name)

    @property
    def json_name(self) -> str:
        return self.name[0].lower() + self.name[1:]


@dataclass(slots=True)
class Struct:
    """Fields under one name; `versions` is the range its user and its own line leave."""

    name: str
    versions: Versions
    fields: list[Field] = field(default_factory=list)


@dataclass(slots=True)
class Message:
    """A whole message: its root struct and every struct below it, in the order of their use."""

    kind: str
    name: str
    api_key: int
    versions: Versions
    flexible: Versions
    listeners: tuple[str, ...]
    unstable: bool
    root: Struct
    structs: dict[str, Struct] = field(default_factory=dict)

    @property
    def stable_max(self) -> int:
        return self.versions.high - 1 if self.unstable else self.versions.high


def to_snake_case(name: str) -> str:
    """Kafka's own rule: an underscore goes before a capital that follows no other capital."""
    out: list[str] = []
    after_capital = True
    for char in name:
        if char.isupper():
            out.append(char.lower() if after_capital else "_" + char.lower())
            after_capital = True
        else:
            out.append(char)
            after_capital = False
    return "".join(out)


def parse_schema(text: str) -> list[Message]:
    """All messages of one schema file, in its order."""
    messages: list[Message] = []
    stack: list[tuple[int, list[Field]]] = []
    shared: dict[str, Struct] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        indent = len(line) - len(line.lstrip(" "))
        try:
            if indent == 0:
                shared = {}
                messages.append(_parse_message(words))
                stack = [(0, messages[-1].root.fields)]
            elif words[0] == "struct" and indent == 2:
                struct = Struct(words[1], Versions.parse(words[2]))
                shared[struct.name] = struct
                messages[-1].structs[struct.name] = struct
                stack = [stack[0], (2, struct.fields)]
            else:
                _add_field(stack, indent, _parse_field(words))
        except (ValueError, IndexError) as error:
            raise SchemaError(f"line {number}: {line.strip()!r}: {error}") from error
    for message in messages:
        _resolve(message)
    return messages


def _parse_message(words: list[str]) -> Message:
    kind, rest = words[0], words[1:]
    api_key = -1
    if rest[0].lstrip("-").isdigit():
        api_key = int(rest.pop(0))
    name = rest.pop(0)
    versions, flexible, listeners, unstable = NONE, NONE, (), False
    while rest:
        word = rest.pop(0)
        if word == "versions":
            versions = Versions.parse(rest.pop(0))
        elif word == "flexible":
            flexible = Versions.parse(rest.pop(0))
        elif word == "listeners":
            listeners = tuple(rest.pop(0).split(","))  # type: ignore[assignment]
        elif word == "unstable":
            unstable = True
        else:
            raise ValueError(f"unknown word {word!r}")
    root = Struct(name, versions)
    return Message(kind, name, api_key, versions, flexible, listeners, unstable, root)


def _parse_field(words: list[str]) -> Field:
    parsed = Field(words[0], words[1], Versions.parse(words[2]))
    rest = words[3:]
    while rest:
        word = rest.pop(0)
        if word == "nullable":
            parsed.nullable = Versions.parse(rest.pop(0))
        elif word == "default":
            parsed.default = rest.pop(0)
        elif word == "tag":
            parsed.tag = int(rest.pop(0))
            parsed.tagged = Versions.parse(rest.pop(0))
        elif word == "flexible":
            parsed.flexible = Versions.parse(rest.pop(0))
        elif word == "key":
            parsed.key = True
        elif word == "ignorable":
            parsed.ignorable = True
        elif word == "zerocopy":
            parsed.zero_copy = True
        else:
            raise ValueError(f"unknown word {word!r}")
    return parsed


def _add_field(stack: list[tuple[int, list[Field]]], indent: int, parsed: Field) -> None:
    """Hang the field under the open struct whose line stands one step further left."""
    while stack[-1][0] >= indent:
        stack.pop()
    fields = stack[-1][1]
    fields.append(parsed)
    parsed.struct = Struct(parsed.element_type, parsed.versions)
    stack.append((indent, parsed.struct.fields))


def _resolve(message: Message) -> None:
    """Tie every field to its struct, and narrow each struct to the versions it can appear in."""
    shared = dict(message.structs)
    message.structs.clear()

    def walk(struct: Struct, parent: Versions) -> None:
        struct.versions = struct.versions.intersect(parent)
        for item in struct.fields:
            kind = item.element_type
            if kind in FIXED_FORMATS or kind in VARIABLE_TYPES:
                item.struct = None
                continue
            below = shared.get(kind) or item.struct
            if below is None or not below.fields:
                raise SchemaError(f"{message.name}.{item.name}: unknown struct {kind}")
            item.struct = below
            if kind in message.structs:
                if kind not in shared:
                    raise SchemaError(f"{message.name}: struct {kind} stands twice")
                continue
            message.structs[kind] = below
            walk(below, message.versions if kind in shared else struct.versions)

    walk(message.root, message.versions)
    if unused := set(shared) - set(message.structs):
        raise SchemaError(f"{message.name}: unused structs {sorted(unused)}")


def schema_files() -> list[Path]:
    """Every schema file, in a fixed order."""
    return sorted(SCHEMA_ROOT.glob("*/*.txt"))


def all_messages() -> list[Message]:
    """Every message of every file."""
    return [message for path in schema_files() for message in parse_schema(path.read_text("utf-8"))]


def _candidate_files(name: str) -> list[Traversable]:
    """As resources of the package: it may lie in a zip that Spark shipped."""
    root = files("pykbroker.protocol") / "schemas"
    families = sorted(
        (each for each in root.iterdir() if each.is_dir()), key=lambda each: each.name
    )
    snake = to_snake_case(name)
    for suffix in ("_request", "_response", "_key", "_value"):
        if snake.endswith(suffix):
            snake = snake[: -len(suffix)]
            break
    found = [family / f"{snake}.txt" for family in families]
    return [each for each in [*found, root / "header" / "headers.txt"] if each.is_file()]


@cache
def message_schema(name: str) -> Message:
    """The schema of the message with Kafka's name `name`, e.g. ``ProduceRequest``. SchemaError."""
    for file in _candidate_files(name):
        for message in parse_schema(file.read_text("utf-8")):
            if message.name == name:
                return message
    raise SchemaError(f"no schema of the name {name}")
