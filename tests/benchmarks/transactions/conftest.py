"""One broker of ours for the client of the comparison."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.compare.servers import Server
from pykbroker.testing import Broker


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    """As the rows see it."""
    with Broker() as broker:
        yield Server("pykbroker", broker, Broker)
