"""What each key of a configuration does on this node: the report of `pykbroker config check`.

In: configuration text with the places where it was set.
Out: one `Finding` for each key that was set, and the errors of the text that stop a start: those of
single keys all together; if there are none, the first that concerns several or missing keys.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import Final

from pykbroker.config.broker_config import BrokerConfig
from pykbroker.config.broker_keys import BROKER_KEYS
from pykbroker.config.definition import ConfigError, ConfigType, Key, Status
from pykbroker.config.load import Properties, complete_standalone, describes_quorum
from pykbroker.config.parsing import listener_names, parse_static
from pykbroker.values import NamedTuple

HIDDEN: Final = "(hidden)"


class Effect(Enum):
    """What a key that was set does."""

    HONOURED = "honoured"
    NO_EFFECT = "no effect"
    DEFAULT = "default"  # set to what it would be anyway
    REFUSED = "refused"


class Finding(NamedTuple):
    """One key that was set; `why` is empty where there is nothing to explain."""

    key: str
    value: str
    effect: Effect
    why: str
    origin: str


class Report(NamedTuple):
    """All findings in the order of the text, what was filled in, and what stops a start."""

    findings: tuple[Finding, ...]
    filled_in: Mapping[str, str]
    errors: tuple[str, ...]


def check_properties(properties: Properties) -> Report:
    """Examine configuration text as a start would, without starting."""
    complete = Properties(properties)
    complete.file = properties.file
    if not describes_quorum(properties):
        complete_standalone(complete)
    listeners = listener_names(complete)
    findings = tuple(
        _finding(name, text, properties.origins.get(name, ""), listeners)
        for name, text in properties.items()
    )
    refused = [each for each in findings if each.effect is Effect.REFUSED]
    errors = [f"{each.origin}: {each.why}" for each in refused]
    if not errors:
        try:
            BrokerConfig.from_properties(complete)
        except ConfigError as error:
            errors.append(complete.locate(error))
    filled_in = {name: text for name, text in complete.items() if name not in properties}
    return Report(findings, filled_in, tuple(errors))


def _finding(name: str, text: str, origin: str, listeners: Collection[str]) -> Finding:
    try:
        key, value = parse_static(name, text, listeners)
    except ConfigError as error:
        shown = HIDDEN if _may_be_secret(name) else text
        return Finding(name, shown, Effect.REFUSED, error.message, origin)
    shown = HIDDEN if _is_secret(key) else text
    if key.status in (Status.ACCEPTED, Status.UNUSED):
        return Finding(name, shown, Effect.NO_EFFECT, key.reason, origin)
    effect = Effect.DEFAULT if value == key.default else Effect.HONOURED
    return Finding(name, shown, effect, "", origin)


def _is_secret(key: Key | None) -> bool:
    return key is not None and key.type is ConfigType.PASSWORD


def _may_be_secret(name: str) -> bool:
    """Return whether a refused key is that of a password, whatever is in front of it: a listener or
    a SASL mechanism.
    """
    secrets = (key.name for key in BROKER_KEYS.values() if _is_secret(key))
    return any(name == each or name.endswith(f".{each}") for each in secrets)
