"""Settings for all tests."""

from __future__ import annotations

import gc
import logging
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

# A loaded machine must not fail a property test.
settings.register_profile("pykbroker", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pykbroker")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Name the seed of `random` beside a failure: pytest -q does not say it.

    Seeds that a test draws from a range are in its name, and hypothesis prints its example.
    """
    report = yield
    seed = item.config.getoption("randomly_seed", None)
    if report.failed and seed is not None:
        report.sections.append(("seed", f"--randomly-seed={seed} repeats it"))
    return report


@pytest.fixture(autouse=True)
def _process_as_it_was() -> Iterator[None]:
    """A test that runs a command in this process leaves no settings of the process behind.

    A start turns the collector off until the node is ready. One that fails would leave it off, and
    the disks in memory of all later tests would stay: gigabytes.
    """
    thresholds = gc.get_threshold()
    root = logging.getLogger()
    level = root.level
    switches = logging.logThreads, logging.logProcesses, logging.logMultiprocessing
    levels = {
        name: logger.level
        for name, logger in root.manager.loggerDict.items()
        if isinstance(logger, logging.Logger) and name.startswith("pykbroker")
    }
    yield
    gc.enable()
    gc.unfreeze()
    gc.set_threshold(*thresholds)
    root.setLevel(level)
    for handler in root.handlers[:]:
        if type(handler) is logging.StreamHandler:  # pytest's own are subclasses
            root.removeHandler(handler)
    logging.logThreads, logging.logProcesses, logging.logMultiprocessing = switches
    for name, logger in root.manager.loggerDict.items():
        if isinstance(logger, logging.Logger) and name.startswith("pykbroker"):
            logger.setLevel(levels.get(name, logging.NOTSET))
