"""From the text of a node's configuration to typed values, one key after the other.

In: a mapping of key to text. Out: values by key, and those of single listeners by listener and
key; or a ConfigError about the first key that cannot be used, or about all that are missing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from pykbroker.config.broker_keys import BROKER_KEYS, DYNAMIC_ONLY_KEYS, LISTENER_KEY
from pykbroker.config.definition import ConfigError, Key, Status, Value, suggestion
from pykbroker.config.required import check_required

# Keys that may be set for one listener, as listener.name.<name>.<key>.
_PER_LISTENER: Final = frozenset(("max.connections", "num.network.threads"))


def parse_values(merged: Mapping[str, str]) -> dict[str, Value]:
    """The value of every key in BROKER_KEYS, set or not; those of single listeners are skipped.

    What was set is checked first, in its order: a mistyped name explains why another is missing.
    """
    given = {
        name: _known_key(name).parse_supported(text)
        for name, text in merged.items()
        if not LISTENER_KEY.match(name)
    }
    check_required(given)
    return {name: given.get(name, key.default) for name, key in BROKER_KEYS.items()}


def parse_listener_values(merged: Mapping[str, str]) -> dict[tuple[str, str], Value]:
    """Keys of single listeners, by lower-case listener name and key."""
    known = listener_names(merged)
    result: dict[tuple[str, str], Value] = {}
    for name, text in merged.items():
        match = LISTENER_KEY.match(name)
        if match is not None:
            _, value = _parse_listener_key(name, text, match, known)
            result[match[1].lower(), match[2]] = value
    return result


def parse_static(name: str, text: str, listeners: Collection[str]) -> tuple[Key, Value]:
    """One key of a file by itself, with its value; `listeners` as `listener_names` gives them."""
    refuse_dynamic_only(name)
    match = LISTENER_KEY.match(name)
    if match is not None:
        return _parse_listener_key(name, text, match, listeners)
    key = _known_key(name)
    return key, key.parse_supported(text)


def refuse_dynamic_only(name: str) -> None:
    """Raise a ConfigError for a key that a file cannot set."""
    if name in DYNAMIC_ONLY_KEYS:
        why = "can be set only at run time, by a client that alters broker configuration"
        raise ConfigError(f"{name}: {why}", name)


def listener_names(merged: Mapping[str, str]) -> Collection[str]:
    """Names of the listeners, in lower case."""
    if "listeners" not in merged:
        return ("plaintext",)
    return {each.partition(":")[0].strip().lower() for each in merged["listeners"].split(",")}


def _known_key(name: str) -> Key:
    key = BROKER_KEYS.get(name) or DYNAMIC_ONLY_KEYS.get(name)
    if key is None:
        why = f"unknown configuration.{suggestion(name, BROKER_KEYS)}"
        raise ConfigError(f"{name}: {why}", name)
    return key


def _parse_listener_key(
    name: str, text: str, match: re.Match[str], listeners: Collection[str]
) -> tuple[Key, Value]:
    listener, base = match[1], match[2]
    key = BROKER_KEYS.get(base) or _mechanism_key(base)
    if key is None:
        raise ConfigError(f"{name}: unknown configuration.{suggestion(base, BROKER_KEYS)}", name)
    if listener.lower() not in listeners:
        raise ConfigError(f"{name}: there is no listener named {listener}", name)
    if key.status is Status.REFUSED:
        raise ConfigError(f"{name}: {key.reason}", name)
    if base not in _PER_LISTENER and key.status is not Status.UNUSED:
        raise ConfigError(f"{name}: {base} cannot be set for a single listener", name)
    return key, key.parse(text)


def _mechanism_key(base: str) -> Key | None:
    """`scram-sha-256.sasl.jaas.config`: keys that carry the name of a SASL mechanism in front."""
    return BROKER_KEYS.get(base.partition(".")[2])
