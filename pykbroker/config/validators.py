"""Checks on configuration values, which refuse in the words that Kafka uses where it has some.

A validator is made once per key, in the tables of keys; `text` is how the documentation shows it.
"""

from __future__ import annotations

import re
from typing import Final

from pykbroker.config.definition import ConfigError, Validator, Value, invalid_value, shown


def at_least(low: int) -> Validator:
    def check(name: str, value: Value) -> None:
        if isinstance(value, int | float) and value < low:
            raise invalid_value(name, shown(value), f"Value must be at least {low}")

    return Validator(f"[{low},...]", check)


def between(low: float, high: float) -> Validator:
    def check(name: str, value: Value) -> None:
        if isinstance(value, int | float):
            if value < low:
                raise invalid_value(name, shown(value), f"Value must be at least {low}")
            if value > high:
                raise invalid_value(name, shown(value), f"Value must be no more than {high}")

    return Validator(f"[{low},...,{high}]", check)


def one_of(*allowed: str) -> Validator:
    listed = ", ".join(allowed)

    def check(name: str, value: Value) -> None:
        if value not in allowed:
            raise invalid_value(name, shown(value), f"String must be one of: {listed}")

    return Validator(f"[{listed}]", check)


def one_of_any_case(*allowed: str) -> Validator:
    listed = ", ".join(allowed)
    lowered = {each.lower() for each in allowed}

    def check(name: str, value: Value) -> None:
        if str(value).lower() not in lowered:
            why = f"String must be one of (case insensitive): {listed}"
            raise invalid_value(name, shown(value), why)

    return Validator(f"(case insensitive) [{listed}]", check)


def non_empty() -> Validator:
    def check(name: str, value: Value) -> None:
        if value == "":
            raise invalid_value(name, "", "String must be non-empty")

    return Validator("non-empty string", check)


def list_of(*allowed: str, empty: bool = True) -> Validator:
    """A list of these values (of any, when none are given); `empty` allows no entry at all."""
    listed = ", ".join(allowed)

    def check(name: str, value: Value) -> None:
        entries = value if isinstance(value, tuple) else ()
        if not entries and not empty:
            choices = f"[{listed}]" if allowed else "any non-empty value"
            why = f"Configuration '{name}' must not be empty. Valid values include: {choices}"
            raise ConfigError(why, name)
        for entry in entries:
            if not entry:
                raise ConfigError(f"Configuration '{name}' values must not be empty.", name)
            if allowed and entry not in allowed:
                raise invalid_value(name, entry, f"String must be one of: {listed}")

    return Validator(f"[{listed}]" if allowed else "", check)


def gzip_level() -> Validator:
    def check(name: str, value: Value) -> None:
        if isinstance(value, int) and value != -1 and not 1 <= value <= 9:
            why = "Value must be between 1 and 9 or equal to -1"
            raise invalid_value(name, value, why)

    return Validator("[1,...,9] or -1", check)


_REPLICA: Final = re.compile(r"([0-9]+:[0-9]+)?\Z")


def throttled_replicas() -> Validator:
    text = "[partitionId]:[brokerId],[partitionId]:[brokerId],..."

    def check(name: str, value: Value) -> None:
        entries = value if isinstance(value, tuple) else ()
        if entries == ("*",) or all(_REPLICA.match(entry) for entry in entries):
            return
        why = f"{name} must be the literal '*' or a list of replicas in the following format: "
        raise invalid_value(name, shown(value), why + text)

    return Validator(text, check)


_VOTER: Final = re.compile(r"(-?[0-9]+)@(.+):([0-9]+)\Z")
_SERVER: Final = re.compile(r"(.+):([0-9]+)\Z")


def parse_voter(name: str, entry: str) -> tuple[int, str, int]:
    """`id@host:port` of controller.quorum.voters as (id, host, port)."""
    match = _VOTER.match(entry)
    if match is None:
        why = "Each entry should be in the form `{id}@{host}:{port}`."
        raise ConfigError(f"Invalid configuration value for {name}. {why}", name)
    return int(match[1]), match[2], int(match[3])


def parse_host_port(name: str, entry: str) -> tuple[str, int]:
    """`host:port` as (host, port); an IPv6 host may stand in brackets."""
    match = _SERVER.match(entry)
    if match is None or int(match[2]) > 65535:
        why = "Each entry should be in the form `{host}:{port}`."
        raise ConfigError(f"Invalid configuration value {entry} for {name}. {why}", name)
    return match[1].strip("[]"), int(match[2])


def parse_listen_address(name: str, text: str) -> tuple[str, int]:
    """`host:port` or `:port`, which means every interface; an IPv6 host may stand in brackets."""
    host, colon, port = text.rpartition(":")
    if not colon or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise ConfigError(
            f"Invalid value {text} for configuration {name}: Expected HOST:PORT", name
        )
    return host.strip("[]"), int(port)


def listen_address() -> Validator:
    def check(name: str, value: Value) -> None:
        if isinstance(value, str) and value:
            parse_listen_address(name, value)

    return Validator("HOST:PORT or empty", check)


def quorum_voters() -> Validator:
    def check(name: str, value: Value) -> None:
        for entry in value if isinstance(value, tuple) else ():
            parse_voter(name, entry)

    return Validator("id@host:port,...", check)


def quorum_bootstrap_servers() -> Validator:
    def check(name: str, value: Value) -> None:
        for entry in value if isinstance(value, tuple) else ():
            parse_host_port(name, entry)

    return Validator("host:port,...", check)


_DURATION: Final = re.compile(
    r"(?i)by_duration:[-+]?P(?!\Z)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?\Z"
)


def share_offset_reset() -> Validator:
    def check(name: str, value: Value) -> None:
        text = str(value)
        if text.lower() in ("latest", "earliest") or _DURATION.match(text):
            return
        why = (
            f"Invalid value `{text}` for configuration {name}. The value must be either "
            "'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS.>'."
        )
        raise invalid_value(name, text, why)

    return Validator("[latest, earliest, by_duration:PnDTnHnMn.nS]", check)
