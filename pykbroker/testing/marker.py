"""The arguments of `@pytest.mark.pykbroker(...)`: a broker's configuration, and its topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from pykbroker.testing.broker import config_of
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    import pytest

_DEFAULT: Final = -1  # num.partitions


class BrokerOptions(NamedTuple):
    """Configuration by key, and the number of partitions by topic (-1: `num.partitions`)."""

    config: dict[str, str]
    topics: dict[str, int]


class MarkerError(Exception):
    """The marker's arguments are invalid; the text says why."""


def options_of(marks: Iterable[pytest.Mark]) -> BrokerOptions:
    """Merge the markers of a test, its class and its module; for each key and topic, the first of
    `marks`, which is the closest, takes precedence. Raises MarkerError.
    """
    config: dict[str, str] = {}
    topics: dict[str, int] = {}
    for mark in marks:
        if mark.args:
            raise MarkerError("@pytest.mark.pykbroker takes only keyword arguments")
        options: dict[str, Any] = dict(mark.kwargs)
        topics = _topics(options.pop("topics", ())) | topics
        overrides = options.pop("overrides", {})
        if not isinstance(overrides, Mapping):
            raise MarkerError("@pytest.mark.pykbroker: overrides is a dict of configuration keys")
        config = config_of(options, overrides) | config
    return BrokerOptions(config, topics)


def _topics(given: Any) -> dict[str, int]:
    counts: dict[Any, Any]
    match given:
        case str():
            counts = {given: _DEFAULT}
        case Mapping():
            counts = dict(given)
        case list() | tuple() | set() | frozenset():
            counts = dict.fromkeys(given, _DEFAULT)
        case _:
            counts = {given: None}
    if all(isinstance(name, str) and type(count) is int for name, count in counts.items()):
        return counts
    raise MarkerError(
        "@pytest.mark.pykbroker: topics is a list of names, or a dict of names and counts of "
        f"partitions, not {given!r}"
    )
