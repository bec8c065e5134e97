"""pytest fixtures with a real broker, registered through the entry point `pytest11`.

`pykbroker`: a broker of its own for every test that uses it. `pykbroker_shared`: one broker for the
test session, with a prefix for the names of each test; with pytest-xdist, each worker has one.
`pykbroker_session`: the same broker, as it is.

`@pytest.mark.pykbroker(num_partitions=3, topics=["orders"])` configures the test's own broker and
creates topics; the ini option `pykbroker_config` configures every broker that the fixtures start.
A failed test reports the last lines that its brokers logged.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from pykbroker.testing.broker import Broker
    from pykbroker.testing.marker import BrokerOptions
    from pykbroker.testing.shared_broker import SharedBroker

_MARKER: Final = (
    "pykbroker(*, topics=(), overrides={}, **config): the configuration and the topics of the "
    "broker that the fixture `pykbroker` starts; for `pykbroker_shared`, topics only"
)
_INI: Final = "pykbroker_config"
_LOG_START: Final = pytest.StashKey[int]()
_SHARED: Final = pytest.StashKey["Broker"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the ini option."""
    help_ = "configuration of every broker that pykbroker's fixtures start, KEY=VALUE on each line"
    parser.addini(_INI, help_, type="linelist", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture
def pykbroker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """A fresh broker: `pykbroker.bootstrap_servers` is its address."""
    from pykbroker.testing.broker import Broker

    options = _options(request.node)
    with Broker(overrides=_config(request.config) | options.config) as broker:
        broker.create_topics(options.topics)
        yield broker


@pytest.fixture(scope="session")
def pykbroker_session(pytestconfig: pytest.Config) -> Iterator[Broker]:
    """One broker for the test session, started when the first test needs it."""
    from pykbroker.testing.broker import Broker

    with Broker(overrides=_config(pytestconfig)) as broker:
        pytestconfig.stash[_SHARED] = broker
        yield broker


@pytest.fixture
def pykbroker_shared(request: pytest.FixtureRequest, pykbroker_session: Broker) -> SharedBroker:
    """The broker of the session; `topic(name)` and `group(name)` belong to this test only."""
    from pykbroker.testing.shared_broker import SharedBroker

    options = _options(request.node)
    if options.config and "pykbroker" not in request.fixturenames:
        raise pytest.UsageError(
            f"@pytest.mark.pykbroker: {', '.join(options.config)} cannot be set for a broker that "
            f"tests share; use the fixture pykbroker, or the ini option {_INI}"
        )
    shared = SharedBroker(pykbroker_session, request.node.name)
    shared.create_topics(options.topics)
    return shared


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Record where the log of the shared broker ends before the test: 0 if it is not started."""
    shared = item.config.stash.get(_SHARED, None)
    item.stash[_LOG_START] = 0 if shared is None else len(shared.log_text)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Add the ends of the logs of the brokers among its fixtures to the report of a failed test."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    if report.failed and "pykbroker.testing.broker" in sys.modules:
        from pykbroker.testing.failure_report import log_sections

        shared = item.config.stash.get(_SHARED, None)
        starts = {} if shared is None else {shared: item.stash.get(_LOG_START, 0)}
        fixtures: dict[str, object] = getattr(item, "funcargs", {})
        report.sections += log_sections(fixtures, starts)


def _options(node: pytest.Item) -> BrokerOptions:
    from pykbroker.testing.marker import MarkerError, options_of

    try:
        return options_of(node.iter_markers("pykbroker"))
    except MarkerError as error:
        raise pytest.UsageError(f"{node.nodeid}: {error}") from None


def _config(config: pytest.Config) -> dict[str, str]:
    """Return the configuration in the ini option; UsageError if a line is not KEY=VALUE."""
    settings: dict[str, str] = {}
    for line in config.getini(_INI):
        key, equals, value = line.partition("=")
        if not equals:
            raise pytest.UsageError(f"{_INI}: {line!r} is not KEY=VALUE")
        settings[key.strip()] = value.strip()
    return settings
