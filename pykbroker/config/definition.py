"""Configuration keys: what a key is, how its text becomes a value, and when a value is refused.

A `Key` describes one configuration name: type, default, validator, documentation, whether it can
be changed at run time, and above all its `status`: what happens here when somebody sets it.

* HONOURED: the value has its effect.
* ACCEPTED: the value is checked and shown, and `reason` says why it needs nothing more here.
* UNUSED: the value is checked and shown. It tunes a feature that cannot be used here, which
  `reason` names, and Apache Kafka ignores it as well while that feature is unused.
* REFUSED: any value but the default stops the start (or fails the request) with `reason`.

Parsing follows ConfigDef.parseType (Java's number syntax and trimming), except that the digits of
numbers must be ASCII, their exponents decimal, and that no class is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum, IntEnum
from typing import Final

Value = bool | int | float | str | tuple[str, ...] | None


class ConfigError(Exception):
    """A configuration that cannot be used; `message` is what the user or the client reads."""

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.message: Final = message
        self.key: Final = key


def invalid_value(key: str, value: object, why: str | None = None) -> ConfigError:
    """The error of a bad value, worded as org.apache.kafka.common.config.ConfigException."""
    suffix = "" if why is None else f": {why}"
    return ConfigError(f"Invalid value {value} for configuration {key}{suffix}", key)


class ConfigType(IntEnum):
    """Types of values; the numbers are those of DescribeConfigs answers."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class ConfigSource(IntEnum):
    """Where a value comes from; the numbers are those of DescribeConfigs answers."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    CLIENT_METRICS_CONFIG = 7
    GROUP_CONFIG = 8


class Importance(Enum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class UpdateMode(Enum):
    """How a broker key may be changed at run time."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


class Status(Enum):
    HONOURED = "honoured"
    ACCEPTED = "accepted"
    UNUSED = "unused"
    REFUSED = "refused"


class ConfigSynonym:
    """One of the places a value may come from, for DescribeConfigs."""

    __slots__ = ("name", "source", "value")

    def __init__(self, name: str, value: str | None, source: int) -> None:
        self.name = name
        self.value = value
        self.source = source

    def __repr__(self) -> str:
        return f"ConfigSynonym({self.name!r}, {self.value!r}, {self.source})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConfigSynonym):
            return NotImplemented
        mine = (self.name, self.value, self.source)
        return mine == (other.name, other.value, other.source)

    def __hash__(self) -> int:
        return hash((self.name, self.value, self.source))


class ConfigValue:
    """One entry of a DescribeConfigs answer."""

    __slots__ = (
        "config_type",
        "documentation",
        "is_sensitive",
        "name",
        "read_only",
        "source",
        "synonyms",
        "value",
    )

    def __init__(
        self,
        key: Key,
        value: str | None,
        source: int,
        synonyms: tuple[ConfigSynonym, ...],
        *,
        read_only: bool,
    ) -> None:
        self.name = key.name
        self.is_sensitive = key.type is ConfigType.PASSWORD
        self.value = None if self.is_sensitive else value
        self.source = source
        self.synonyms = synonyms
        self.read_only = read_only
        self.config_type = int(key.type)
        self.documentation = key.doc

    def __repr__(self) -> str:
        return f"ConfigValue({self.name}={self.value!r}, source={self.source})"


class Validator:
    """Refuses values that a key cannot have; `text` is how the documentation shows it. `check`
    raises ConfigError.
    """

    __slots__ = ("check", "text")

    def __init__(self, text: str, check: Callable[[str, Value], None]) -> None:
        self.text = text
        self.check = check


class Key:
    """One configuration name. Written as Key(...) and then .honoured, .accepted, .unused or
    .refused.
    """

    __slots__ = (
        "default",
        "doc",
        "importance",
        "internal",
        "mode",
        "name",
        "reason",
        "required",
        "status",
        "type",
        "validator",
    )

    def __init__(
        self,
        name: str,
        type_: ConfigType,
        default: Value,
        validator: Validator | None = None,
        importance: Importance = Importance.MEDIUM,
        mode: UpdateMode = UpdateMode.READ_ONLY,
        *,
        internal: bool = False,
        required: bool = False,
    ) -> None:
        self.name = name
        self.type = type_
        self.default = default
        self.validator = validator
        self.importance = importance
        self.mode = mode
        self.internal = internal
        self.required = required
        self.status = Status.REFUSED
        self.doc = ""
        self.reason = ""

    def honoured(self, doc: str) -> Key:
        self.status, self.doc = Status.HONOURED, doc
        return self

    def accepted(self, doc: str, reason: str) -> Key:
        """A value that needs nothing more than being known; `reason` says why."""
        self.status, self.doc, self.reason = Status.ACCEPTED, doc, reason
        return self

    def unused(self, doc: str, reason: str) -> Key:
        """A value without effect while its feature is unused; `reason` names the feature."""
        self.status, self.doc, self.reason = Status.UNUSED, doc, reason
        return self

    def refused(self, doc: str, reason: str) -> Key:
        """A value that must stay at its default; `reason` is what the user is told."""
        self.status, self.doc, self.reason = Status.REFUSED, doc, reason
        return self

    @property
    def attribute(self) -> str:
        """The name of the typed attribute: dots and dashes become underscores."""
        return self.name.replace(".", "_").replace("-", "_")

    @property
    def has_attribute(self) -> bool:
        """Whether the typed configuration of a node or topic carries the value, so that code may
        depend on it; that of a group carries all.
        """
        return self.status in (Status.HONOURED, Status.ACCEPTED)

    @property
    def default_text(self) -> str | None:
        return value_text(self.default)

    def parse(self, text: str) -> Value:
        """Text to value, checked for type and range but not for status."""
        value = parse_text(self.name, text, self.type)
        if self.validator is not None:
            self.validator.check(self.name, value)
        return value

    def parse_supported(self, text: str) -> Value:
        """As `parse`; a refused key must be at its default."""
        value = self.parse(text)
        if self.status is Status.REFUSED and value != self.default:
            raise ConfigError(f"{self.name}: {self.reason}", self.name)
        return value

    def __repr__(self) -> str:
        return f"Key({self.name}, {self.type.name}, {self.status.value})"


def shown(value: Value) -> str:
    """A value inside an error message: lists as Java prints them."""
    if isinstance(value, tuple):
        return "[" + ", ".join(value) + "]"
    return "null" if value is None else str(value_text(value))


def key_table(keys: Iterable[Key]) -> dict[str, Key]:
    """Return the keys by name, in alphabetical order. Raises ValueError if a name occurs twice."""
    table: dict[str, Key] = {}
    for key in sorted(keys, key=lambda each: each.name):
        if key.name in table:
            raise ValueError(f"configuration key {key.name} is defined twice")
        table[key.name] = key
    return table


# --- text <-> value, by the rules of ConfigDef ------------------------------------------------

_JAVA_BLANKS: Final = "".join(map(chr, range(33)))  # String.trim() cuts all up to U+0020
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,1000}\Z")  # Python's int takes no more than 4300
_DECIMAL: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?\Z")
_DOUBLE_NAMES: Final = re.compile(r"[+-]?(NaN|Infinity)\Z")
_COMMA: Final = re.compile(r"\s*,\s*")
_BITS: Final = {ConfigType.INT: 31, ConfigType.SHORT: 15, ConfigType.LONG: 63}


def parse_text(name: str, text: str, type_: ConfigType) -> Value:
    """Text to a value of `type_`; raises ConfigError worded as Kafka does."""
    trimmed = text.strip(_JAVA_BLANKS)
    if type_ in _BITS:
        number = int(trimmed) if _INTEGER.match(trimmed) else None
        bits = _BITS[type_]
        if number is None or not -(1 << bits) <= number < 1 << bits:
            raise invalid_value(name, text, f"Not a number of type {type_.name}")
        return number
    if type_ is ConfigType.BOOLEAN:
        lowered = trimmed.lower()
        if lowered not in ("true", "false"):
            raise invalid_value(name, text, "Expected value to be either true or false")
        return lowered == "true"
    if type_ is ConfigType.DOUBLE:
        if _DECIMAL.match(trimmed):
            return float(trimmed.rstrip("fFdD"))
        if _DOUBLE_NAMES.match(trimmed):
            return float(trimmed)
        raise invalid_value(name, text, "Not a number of type DOUBLE")
    if type_ is ConfigType.LIST:
        # A repeated entry counts once (ConfigDef drops duplicates since 4.0, KIP-1161).
        return tuple(dict.fromkeys(list_entries(text)))
    return trimmed


def list_entries(text: str) -> list[str]:
    """Return the entries of a list as they are written, with repeated ones."""
    trimmed = text.strip(_JAVA_BLANKS)
    return _COMMA.split(trimmed) if trimmed else []


def value_text(value: Value) -> str | None:
    """A value as Kafka writes it in answers (ConfigDef.convertToString)."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, float):
        return double_text(value)
    return str(value)


def double_text(value: float) -> str:
    """A double as java.lang.Double.toString writes it."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    plain, _, power = repr(abs(value)).partition("e")
    whole, _, fraction = plain.partition(".")
    sign = "-" if value < 0 else ""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return f"{sign}{whole}.{fraction or '0'}" if not power else format(value, "f")
    digits = (whole + fraction).lstrip("0")
    exponent = len(whole) - 1 + int(power or 0)
    if whole == "0":  # 0.00012: the first digit that counts stands behind the point
        exponent -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0") or "0"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def suggestion(name: str, known: Mapping[str, object]) -> str:
    """` Did you mean x?` when a known name is near, else nothing."""
    import difflib  # only on the way to an error

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    return f" Did you mean {near[0]}?" if near else ""


# Short names for the tables of keys.
BOOLEAN: Final = ConfigType.BOOLEAN
STRING: Final = ConfigType.STRING
INT: Final = ConfigType.INT
SHORT: Final = ConfigType.SHORT
LONG: Final = ConfigType.LONG
DOUBLE: Final = ConfigType.DOUBLE
LIST: Final = ConfigType.LIST
CLASS: Final = ConfigType.CLASS
PASSWORD: Final = ConfigType.PASSWORD
HIGH: Final = Importance.HIGH
LOW: Final = Importance.LOW
PER_BROKER: Final = UpdateMode.PER_BROKER
CLUSTER_WIDE: Final = UpdateMode.CLUSTER_WIDE
INT_MAX: Final = (1 << 31) - 1
LONG_MAX: Final = (1 << 63) - 1
