"""Gathering configuration text: a file, then the environment, then --override.

In: `server.properties` (Java's rules) or YAML with the same keys; KAFKA_... variables by the
mapping of Apache's Docker image; KEY=VALUE arguments.
Out: one dict of key to text, or ConfigError that names the file (and line) or the argument.

    file          lowest       num.partitions=3
    environment   above        KAFKA_NUM_PARTITIONS=3
    override      highest      --override num.partitions=3
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from pykbroker.config.broker_keys import BROKER_KEYS, LISTENER_KEY
from pykbroker.config.definition import ConfigError, Value, suggestion, value_text

# Variables of Apache's start scripts, not configuration (KafkaDockerWrapper.scala).
_NOT_CONFIGURATION: Final = frozenset(
    (
        "KAFKA_VERSION",
        "KAFKA_HEAP_OPTS",
        "KAFKA_LOG4J_OPTS",
        "KAFKA_OPTS",
        "KAFKA_JMX_OPTS",
        "KAFKA_JVM_PERFORMANCE_OPTS",
        "KAFKA_GC_LOG_OPTS",
        "KAFKA_LOG4J_ROOT_LOGLEVEL",
        "KAFKA_LOG4J_LOGGERS",
        "KAFKA_TOOLS_LOG4J_LOGLEVEL",
        "KAFKA_JMX_HOSTNAME",
    )
)


class Properties(dict[str, str]):
    """Key to text, and for each key where it was set (`file, line 3` or a variable's name)."""

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        super().__init__(texts or {})
        self.origins: dict[str, str] = dict(getattr(texts, "origins", {}))
        self.file: str | None = None  # where a key that is missing belongs

    def put(self, key: str, text: str, origin: str) -> None:
        self[key] = text
        self.origins[key] = origin

    def locate(self, error: ConfigError) -> str:
        """The message of an error, with the place of the key that it is about, or the file."""
        key = error.key or ""
        origin = self.origins.get(key) if key in self else self.file
        return error.message if origin is None else f"{origin}: {error.message}"


def load_config(
    file: str | os.PathLike[str] | None = None,
    environment: Mapping[str, str] | None = None,
    overrides: Iterable[str] = (),
) -> Properties:
    """All configuration text that was set.

    A variable of the environment that is no configuration key is left out: Kubernetes puts
    KAFKA_PORT and the like into every container beside a service of that name. The caller can
    warn of them (`foreign_variables`).
    """
    result = Properties()
    layers = [] if file is None else [load_file(file)]
    result.file = None if file is None else os.fspath(file)
    layers.append(environment_properties(environment or {}))
    for layer in layers:
        for key, text in layer.items():
            result.put(key, text, layer.origins[key])
    for each in overrides:
        name, equals, value = each.partition("=")
        if not equals or not name.strip():
            raise ConfigError(f"--override {each}: expected KEY=VALUE")
        result.put(name.strip(), value.strip(), "--override")
    return result


def load_file(file: str | os.PathLike[str]) -> Properties:
    """A properties file, or YAML when its name ends in .yaml or .yml."""
    name = os.fspath(file)
    try:
        with open(name, "rb") as stream:
            content = stream.read()
    except OSError as error:
        raise ConfigError(f"{name}: {error.strerror or error}") from error
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}, line {line}: not UTF-8 text") from error
    if name.lower().endswith((".yaml", ".yml")):
        return parse_yaml(text, name)
    return parse_properties(text, name)


# --- server.properties ------------------------------------------------------------------------

_BLANK: Final = " \t\f"
_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse_properties(text: str, name: str) -> Properties:
    """Text in the format of java.util.Properties."""
    result = Properties()
    for number, line in _logical_lines(text):
        key_end = _key_end(line)
        rest = line[key_end:].lstrip(_BLANK)
        if rest[:1] in ("=", ":"):
            rest = rest[1:].lstrip(_BLANK)
        try:
            key, value = _unescape(line[:key_end]), _unescape(rest)
        except ValueError as error:
            raise ConfigError(f"{name}, line {number}: {error}") from error
        if not key:
            raise ConfigError(f"{name}, line {number}: value without a key")
        result.put(key, value, f"{name}, line {number}")
    return result


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that count, with their numbers; a backslash at the end joins the next line."""
    lines = re.split("\r\n|\r|\n", text)
    index = 0
    while index < len(lines):
        first = index
        line = lines[index].lstrip(_BLANK)
        index += 1
        if not line or line[0] in "#!":
            continue
        while _continues(line):
            following = lines[index].lstrip(_BLANK) if index < len(lines) else ""
            line = line[:-1] + following
            index += 1
        yield first + 1, line


def _continues(line: str) -> bool:
    """Whether the line ends in an odd number of backslashes."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _key_end(line: str) -> int:
    position = 0
    while position < len(line):
        if line[position] == "\\":
            position += 1
        elif line[position] in "=:" + _BLANK:
            return position
        position += 1
    return min(position, len(line))


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    parts: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        position += 1
        if character != "\\" or position == len(text):
            if character != "\\":
                parts.append(character)
            continue
        escaped = text[position]
        position += 1
        if escaped == "u":
            digits = text[position : position + 4]
            if not re.fullmatch("[0-9a-fA-F]{4}", digits):
                raise ValueError(f"Malformed \\u{digits} encoding")
            parts.append(chr(int(digits, 16)))
            position += 4
        else:
            parts.append(_ESCAPES.get(escaped, escaped))
    joined = "".join(parts)  # \ud83d\ude00 in Java's text is one character outside the BMP
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# --- YAML -------------------------------------------------------------------------------------


def parse_yaml(text: str, name: str) -> Properties:
    """The same keys as YAML: flat (`num.partitions: 3`), nested, or mixed; lists are joined."""
    import yaml  # only for files of this kind

    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        result = Properties()
        if root is not None:
            _flatten(loader, root, "", result, name)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        why = getattr(error, "problem", None) or "not YAML"
        raise ConfigError(f"{name}{line}: {why}") from error
    finally:
        loader.dispose()
    return result


def _flatten(loader: object, node: object, prefix: str, result: Properties, name: str) -> None:
    import yaml

    if not isinstance(node, yaml.MappingNode):
        mark = getattr(node, "start_mark", None)
        line = mark.line + 1 if mark is not None else 1
        raise ConfigError(f"{name}, line {line}: expected keys and values")
    assert isinstance(loader, yaml.SafeLoader)
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        key = prefix + str(loader.construct_object(key_node, deep=True))
        if isinstance(value_node, yaml.MappingNode):
            _flatten(loader, value_node, f"{key}.", result, name)
            continue
        if key in result:
            raise ConfigError(f"{name}, line {line}: {key} is set twice")
        result.put(key, _yaml_text(loader, value_node, key), f"{name}, line {line}")


def _yaml_text(loader: object, node: object, where: str) -> str:
    import yaml

    assert isinstance(loader, yaml.SafeLoader)
    if isinstance(node, yaml.SequenceNode):
        return ",".join(_yaml_text(loader, each, where) for each in node.value)
    assert isinstance(node, yaml.ScalarNode)
    value: Value = loader.construct_object(node, deep=True)
    if isinstance(value, str):
        return value
    # Numbers and dates keep the text of the file: 1e3 or 2026-01-01 mean what they say.
    return (
        str(value_text(value)) if isinstance(value, bool) else "" if value is None else node.value
    )


# --- the environment --------------------------------------------------------------------------


def environment_properties(environment: Mapping[str, str]) -> Properties:
    """KAFKA_NUM_PARTITIONS and the like: `_` is a dot, `__` an underscore, `___` a dash."""
    result = Properties()
    for name, value in environment.items():
        key = property_name(name)
        if key is not None and _is_key(key):
            # Apache's image writes the value into server.properties: its escapes count.
            result.put(key, _unescape(value.lstrip(_BLANK)), name)
    return result


def foreign_variables(environment: Mapping[str, str]) -> list[str]:
    """Return a warning for each variable that looks like configuration but names no key."""
    return [
        f"Ignoring {name} of the environment: there is no key {key}.{suggestion(key, BROKER_KEYS)}"
        for name in sorted(environment)
        if (key := property_name(name)) is not None and not _is_key(key)
    ]


def property_name(variable: str) -> str | None:
    """The name, of a key or not, that a variable of the environment stands for; None without the
    prefix KAFKA_, and for variables of Apache's scripts.
    """
    if not variable.startswith("KAFKA_") or variable in _NOT_CONFIGURATION:
        return None
    name = variable.removeprefix("KAFKA_").lower().replace("_", ".")
    return name.replace("...", "-").replace("..", "_")


def _is_key(name: str) -> bool:
    return name in BROKER_KEYS or LISTENER_KEY.match(name) is not None


# --- a node that stands alone -------------------------------------------------------------------

DATA_DIR: Final = "./pykbroker-data"

# What says that a node belongs to a quorum, and to which.
_QUORUM_KEYS: Final = (
    "process.roles",
    "controller.quorum.voters",
    "controller.quorum.bootstrap.servers",
)
_OTHER_NAMES: Final = {"node.id": "broker.id", "log.dirs": "log.dir"}


def standalone_properties(
    data_dir: str | os.PathLike[str],
    host: str = "127.0.0.1",
    port: int = 9092,
    node_id: int = 1,
) -> dict[str, str]:
    """The configuration of one combined node that needs no other.

    The controller listens on a free port, which no other node needs to know.
    """
    shown = f"[{host}]" if ":" in host else host
    one = dict.fromkeys(
        (
            "offsets.topic.replication.factor",
            "transaction.state.log.replication.factor",
            "transaction.state.log.min.isr",
            "share.coordinator.state.topic.replication.factor",
            "share.coordinator.state.topic.min.isr",
        ),
        "1",
    )
    return {
        "process.roles": "broker,controller",
        "node.id": str(node_id),
        "listeners": f"PLAINTEXT://{shown}:{port},CONTROLLER://{shown}:0",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.bootstrap.servers": f"{shown}:0",
        "log.dirs": os.fspath(data_dir),
        **one,
    }


def describes_quorum(properties: Mapping[str, str]) -> bool:
    """Whether the text says which role in which quorum the node has, as Kafka's files do.

    Such text stands for itself: a key that is missing there is an error, and not filled in, so
    that a node never forms a cluster of its own by mistake.
    """
    return any(key in properties for key in _QUORUM_KEYS)


def complete_standalone(properties: Properties) -> None:
    """Fill in what `standalone_properties` has and nobody set.

    Where only client listeners were set, the default controller listener is kept; where the
    controller listener or the voters were set, its address need not be repeated as the bootstrap
    server.
    """
    given = set(properties)
    for key, text in standalone_properties(DATA_DIR).items():
        if _OTHER_NAMES.get(key) not in given:
            properties.setdefault(key, text)
    listeners = properties["listeners"]
    if "controller.listener.names" not in given and "CONTROLLER:" not in listeners.upper():
        listeners += ",CONTROLLER://127.0.0.1:0"
        properties["listeners"] = listeners
    if "controller.quorum.bootstrap.servers" in given:
        return
    if "controller.quorum.voters" in given:
        del properties["controller.quorum.bootstrap.servers"]
        return
    first = properties["controller.listener.names"].split(",")[0].strip().upper()
    for entry in listeners.split(","):
        name, _, address = entry.strip().partition("://")
        if name.upper() == first:
            host = "localhost" if address.startswith(":") else ""
            properties["controller.quorum.bootstrap.servers"] = host + address
