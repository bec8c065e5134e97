"""pytest fixtures with a real broker, registered through the entry point `pytest11`.

`pykbroker`: a broker of its own for every test. `pykbroker_session`: one broker for all tests of
the run, started when the first test asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pykbroker.testing.broker import Broker


@pytest.fixture
def pykbroker() -> Iterator[Broker]:
    """A fresh broker: `pykbroker.bootstrap_servers` is its address."""
    from pykbroker.testing.broker import Broker

    with Broker() as broker:
        yield broker


@pytest.fixture(scope="session")
def pykbroker_session() -> Iterator[Broker]:
    """One broker for the whole run: tests share its topics, so name yours apart."""
    from pykbroker.testing.broker import Broker

    with Broker() as broker:
        yield broker
