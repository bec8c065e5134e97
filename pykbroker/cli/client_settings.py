"""Client settings: Kafka's names and texts in, keyword arguments of kafka-python out.

A setting that kafka-python does not have is rejected by name, so that no user relies on it;
serializers and deserializers are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pykbroker.cli.command import CommandError

# Settings of Apache's tools whose value is the only behaviour of these commands.
_FIXED: Final = frozenset(
    ("key.serializer", "value.serializer", "key.deserializer", "value.deserializer")
)
_ONLY: Final = {"security.protocol": "PLAINTEXT", "group.protocol": "classic"}

# Arguments whose default does not show their type.
_INTEGERS: Final = frozenset(("retries", "receive_buffer_bytes", "send_buffer_bytes", "acks"))
_TEXTS: Final = frozenset(
    ("client_id", "group_id", "group_instance_id", "transactional_id", "compression_type")
)

# The least value of a number (ConsumerConfig, ProducerConfig); 0 for those that are not named.
_LEAST: Final = {
    "acks": -1,
    "connections_max_idle_ms": -1,
    "receive_buffer_bytes": -1,
    "send_buffer_bytes": -1,
    "max_poll_interval_ms": 1,
    "max_poll_records": 1,
    "max_in_flight_requests_per_connection": 1,
    "metrics_num_samples": 1,
}


def key_values(pairs: Iterable[str]) -> dict[str, str]:
    """Parse KEY=VALUE arguments; the last one of a key wins, as with Apache's scripts."""
    found: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise CommandError(f"Invalid command line properties: {pair} is not KEY=VALUE")
        found[key] = value
    return found


def file_settings(file: str | None) -> dict[str, str]:
    """Return the settings of a properties file; none without a file."""
    if file is None:
        return {}
    from pykbroker.config.definition import ConfigError
    from pykbroker.config.load import load_file

    try:
        return dict(load_file(file))
    except ConfigError as error:
        raise CommandError(error.message) from error


def client_arguments(settings: Mapping[str, str], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments for a client of kafka-python, whose DEFAULT_CONFIG is `known`."""
    arguments: dict[str, Any] = {}
    for name, text in settings.items():
        if name in _ONLY:
            if text.upper() != _ONLY[name].upper():
                raise CommandError(f"{name}={text} is not supported, only {_ONLY[name]}")
        elif name not in _FIXED:
            argument = name.replace(".", "_")
            if argument not in known or "_" in name:
                raise CommandError(f"{name}: the client library kafka-python has no such setting")
            arguments[argument] = _value(name, argument, text.strip(), known[argument])
    return arguments


def _value(name: str, argument: str, text: str, default: Any) -> Any:
    if argument in _TEXTS:
        return None if argument == "compression_type" and text == "none" else text
    if argument == "acks" and text == "all":
        return -1
    if isinstance(default, bool):
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise CommandError(f"{name}={text}: expected true or false")
    if argument in _INTEGERS or isinstance(default, int):
        return _number(name, argument, text)
    if isinstance(default, str):
        return text
    raise CommandError(f"{name} is not supported by this command")


def _number(name: str, argument: str, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise CommandError(f"{name}={text}: expected a whole number") from None
    least = _LEAST.get(argument, 0)
    if value < least:
        raise CommandError(f"{name}={text}: must be at least {least}")
    return value
