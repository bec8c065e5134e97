"""What the two halves of the message generator share: line emitter, version conditions, names.

Development time only; see generate.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pykbroker.protocol.schema import FIXED_FORMATS, Field, Message, Struct, Versions

FORMAT_SIZES = {"?": 1, "b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "d": 8, "16s": 16}
_FORMAT_LETTERS = {"?": "o", "16s": "u"}

PYTHON_TYPES = {
    "bool": "bool",
    "float64": "float",
    "string": "str",
    "bytes": "bytes",
    "uuid": "bytes",
    "records": "AnyPart",
}


class Emitter:
    """Lines of Python with an indentation, and what they need imported or precompiled."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self.names: set[str] = set()
        self.unpackers: set[str] = set()
        self.packers: set[str] = set()

    def __call__(self, line: str = "") -> None:
        self.lines.append("    " * self.depth + line if line else "")

    def insert(self, at: int, line: str) -> None:
        """A line before what was emitted since there were `at` lines."""
        self.lines.insert(at, "    " * self.depth + line)

    @contextmanager
    def block(self, opening: str) -> Iterator[None]:
        """Emit `opening` and indent what follows inside the with statement."""
        self(opening)
        self.depth += 1
        yield
        self.depth -= 1

    def use(self, name: str) -> str:
        """A name of primitives.py, parts_writer.py or struct, to be imported."""
        self.names.add(name)
        return name

    def unpacker(self, formats: list[str]) -> str:
        """The name of the precompiled ``unpack_from`` of these formats."""
        self.unpackers.add("".join(formats))
        return "_u_" + format_letters(formats)

    def packer(self, formats: list[str]) -> str:
        """The name of the precompiled ``pack`` of these formats."""
        self.packers.add("".join(formats))
        return "_p_" + format_letters(formats)


def format_letters(formats: list[str]) -> str:
    """The formats as the end of an identifier."""
    return "".join(_FORMAT_LETTERS.get(item, item) for item in formats)


def split_formats(text: str) -> list[str]:
    """The formats of a format string of `FIXED_FORMATS` and ``B``."""
    out: list[str] = []
    while text:
        step = 3 if text.startswith("16s") else 1
        out.append(text[:step])
        text = text[step:]
    return out


def condition(wanted: Versions, known: Versions) -> str:
    """The test that `version` is in `wanted`, given that it is in `known`; "" if it always is.

    The caller has checked that `wanted` is not empty.
    """
    low = wanted.low > known.low
    high = wanted.high < known.high
    if low and high:
        if wanted.low == wanted.high:
            return f"version == {wanted.low}"
        return f"{wanted.low} <= version <= {wanted.high}"
    if low:
        return f"version >= {wanted.low}"
    if high:
        return f"version <= {wanted.high}"
    return ""


@dataclass(slots=True)
class Group:
    """Consecutive fields that stand on the wire in the same versions."""

    versions: Versions
    test: str
    fields: list[Field]


@dataclass(slots=True)
class Layout:
    """How a struct stands on the wire in a range of versions."""

    groups: list[Group]
    absent: list[Field]
    tagged: list[Field]


def mandatory_versions(item: Field, known: Versions) -> Versions:
    """The versions of `known` that carry the field outside the tags."""
    present = item.versions.intersect(known)
    tagged = item.tagged.intersect(present)
    return Versions(present.low, tagged.low - 1) if tagged else present


def layout_of(struct: Struct, known: Versions) -> Layout:
    """The layout of `struct` in the versions `known` (all flexible or all not)."""
    layout = Layout([], [], [])
    for item in struct.fields:
        if item.tagged.intersect(item.versions).intersect(known):
            layout.tagged.append(item)
        mandatory = mandatory_versions(item, known)
        if not mandatory:
            layout.absent.append(item)
            continue
        test = condition(mandatory, known)
        if layout.groups and layout.groups[-1].test == test:
            layout.groups[-1].fields.append(item)
        else:
            layout.groups.append(Group(mandatory, test, [item]))
    return layout


def flexible_ranges(message: Message, struct: Struct) -> list[tuple[bool, Versions]]:
    """The versions of the struct, split into (not flexible, flexible) as far as they exist."""
    split = message.flexible.low if message.flexible else message.versions.high + 1
    out = []
    for flexible, part in (
        (False, Versions(struct.versions.low, min(struct.versions.high, split - 1))),
        (True, Versions(max(struct.versions.low, split), struct.versions.high)),
    ):
        if part:
            out.append((flexible, part))
    return out


def is_flexible(item: Field, flexible: bool) -> bool:
    """Whether the field itself is in compact form."""
    return flexible and item.flexible is None


def default_of(item: Field) -> str:
    """The Python expression of the default; ``FRESH`` where each message needs a new object."""
    kind = item.type
    if item.default == "null" or kind == "records" or item.starts_absent:
        return "None"
    if item.is_array or item.struct is not None:
        return "FRESH"
    if kind == "bool":
        return "True" if item.default.lower() == "true" else "False"
    if kind == "float64":
        return repr(float(item.default or 0))
    if kind == "string":
        return repr(item.default).replace("'", '"')
    if kind == "bytes":
        return 'b""'
    if kind == "uuid":
        return "ZERO_UUID"
    return str(int(item.default or "0", 0))


def fresh_default(item: Field) -> str:
    """The Python expression that makes the default value."""
    default = default_of(item)
    if default != "FRESH":
        return default
    return "[]" if item.is_array else f"{item.element_type}()"


def differs_from_default(item: Field, obj: str) -> str:
    """The test that the field of the object `obj` does not hold its default."""
    name = f"{obj}.{item.snake_name}"
    default = default_of(item)
    if item.starts_absent:
        return f"({name} is not None and {name} != {item.element_type}())"
    if default == "None":
        return f"{name} is not None"
    if item.is_array or item.type == "bytes":
        if item.nullable:
            return f"({name} is None or len({name}) != 0)"
        return f"len({name}) != 0"
    if item.struct is not None:
        return f"{name} != {item.element_type}()"
    if default in ("True", "False"):
        return name if default == "False" else f"not {name}"
    return f"{name} != {default}"


def python_type(item: Field) -> str:
    """The annotation of the field."""
    kind = item.element_type
    element = kind if item.struct is not None else PYTHON_TYPES.get(kind, "int")
    if kind == "bytes" and item.zero_copy:
        element = "bytes | memoryview"
    text = f"list[{element}]" if item.is_array else element
    if item.nullable or kind == "records" or item.starts_absent:
        text += " | None"
    return text


def smallest_size(message: Message, item: Field, known: Versions, flexible: bool) -> int:
    """A lower bound of the bytes that one element of the array takes in the versions `known`."""
    kind = item.element_type
    if kind in FIXED_FORMATS:
        return FORMAT_SIZES[FIXED_FORMATS[kind]]
    if item.struct is None:
        return 1 if flexible else (2 if kind == "string" else 4)
    return max(1, _smallest_struct(message, item.struct, known, flexible))


def _smallest_struct(message: Message, struct: Struct, known: Versions, flexible: bool) -> int:
    total = 1 if flexible else 0
    for item in struct.fields:
        if mandatory_versions(item, known) != known:
            continue
        if item.is_array:
            total += 1 if flexible else 4
        elif item.struct is not None:
            if item.nullable:
                total += 1
            else:
                total += _smallest_struct(message, item.struct, known, flexible)
        elif item.type in FIXED_FORMATS:
            total += FORMAT_SIZES[FIXED_FORMATS[item.type]]
        else:
            total += 1 if is_flexible(item, flexible) else (2 if item.type == "string" else 4)
    return total


def called_structs(message: Message) -> set[str]:
    """The structs that need functions of their own; all others are read and written in place.

    Those are the structs that several fields share, that stand among the tags, or alone (not in
    an array).
    """
    called: set[str] = set()
    seen: set[str] = set()
    for struct in [message.root, *message.structs.values()]:
        for item in struct.fields:
            if item.struct is None:
                continue
            if item.tagged or not item.is_array or item.element_type in seen:
                called.add(item.element_type)
            seen.add(item.element_type)
    return called


def carries_parts(message: Message, struct: Struct) -> bool:
    """Whether the struct or one below it has records or zero-copy bytes."""
    for item in struct.fields:
        if item.type == "records" or item.zero_copy:
            return True
        if item.struct is not None and carries_parts(message, item.struct):
            return True
    return False


class StructGenerator(ABC):
    """Emits code for the structs of one message: the frame of both halves."""

    def __init__(self, message: Message, out: Emitter) -> None:
        self.message = message
        self.out = out
        self.pending: list[tuple[str, str]] = []
        self.called = called_structs(message)
        self.depth = 0

    @property
    def obj(self) -> str:
        """The name of the object at hand: ``o``, and ``o1``, ``o2``... in inner loops."""
        return f"o{self.depth or ''}"

    def body(self, struct: Struct) -> None:
        """All fields of a struct, for flexible versions and others."""
        ranges = flexible_ranges(self.message, struct)
        if len(ranges) == 1:
            self._layout(struct, *ranges[0])
            return
        with self.out.block(f"if version >= {ranges[1][1].low}:"):
            self._layout(struct, *ranges[1])
        with self.out.block("else:"):
            self._layout(struct, *ranges[0])

    @abstractmethod
    def _layout(self, struct: Struct, flexible: bool, known: Versions) -> None:
        """The fields of a struct in versions that all are flexible, or all are not."""
