"""The logs of the brokers of a failed test, as sections of pytest's report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pykbroker.testing.broker import Broker
from pykbroker.testing.cluster import Cluster
from pykbroker.testing.shared_broker import SharedBroker

MOST_LINES: Final = 100


def log_sections(
    fixtures: Mapping[str, object], starts: Mapping[Broker, int]
) -> list[tuple[str, str]]:
    """Return (title, last lines of the log) of every broker among the fixtures of a test, each
    once, without those whose log is empty.

    `starts` contains, for brokers that other tests used before, the length of their log, in
    characters, when this test began: what was logged before is left out.
    """
    sections: dict[Broker, tuple[str, str]] = {}
    for name, value in fixtures.items():
        for title, broker in _brokers(name, value):
            if broker not in sections:
                text = broker.log_text[starts.get(broker, 0) :]
                sections[broker] = f"Log of {title}", _tail(text)
    return [(title, text) for title, text in sections.values() if text]


def _brokers(name: str, value: object) -> Iterator[tuple[str, Broker]]:
    if isinstance(value, Broker):
        yield name, value
    elif isinstance(value, SharedBroker):
        yield name, value.broker
    elif isinstance(value, Cluster):
        for node in value.nodes:
            yield f"{name}, node {node.id}", node


def _tail(text: str) -> str:
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        lines = [f"({len(lines) - MOST_LINES} lines before)", *lines[-MOST_LINES:]]
    return "\n".join(lines)
