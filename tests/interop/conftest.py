"""One broker for all interop tests; each test uses topics and groups of its own."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pykbroker.testing import Broker
from tests.harness.apache import ApacheBroker

AGAINST_APACHE = os.environ.get("PYKBROKER_TEST_BROKER") == "apache"
_counter = itertools.count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of this directory is `interop`; warnings of stock clients are not our errors."""
    here = str(Path(__file__).parent)
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.interop)
            item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture(scope="session")
def make_broker() -> Callable[..., Any]:
    """Makes a broker of the kind under test: `make_broker(config={...})`, a context manager."""

    def make(config: dict[str, str] | None = None) -> Any:
        if AGAINST_APACHE:
            return ApacheBroker(config=config)
        return Broker(overrides={"group.initial.rebalance.delay.ms": "0"} | (config or {}))

    return make


@pytest.fixture(scope="session")
def broker(make_broker: Callable[..., Any]) -> Iterator[Any]:
    """A running broker, shared by the whole session.

    It keeps what is older than a week: the samples' times are of 2023.
    """
    with make_broker({"log.retention.ms": "-1"}) as running:
        yield running


@pytest.fixture(scope="session")
def servers(broker: Any) -> str:
    """The bootstrap servers of the shared broker."""
    return str(broker.bootstrap_servers)


@pytest.fixture
def name() -> str:
    """A name for a topic or group that no other test uses."""
    return f"interop-{next(_counter)}"
