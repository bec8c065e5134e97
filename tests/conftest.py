"""Settings for all tests."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from hypothesis import settings

# A loaded machine must not fail a property test.
settings.register_profile("pykbroker", deadline=None)
settings.load_profile("pykbroker")


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """A test that starts a node or a command in this process leaves no logging settings behind."""
    root = logging.getLogger()
    level = root.level
    switches = logging.logThreads, logging.logProcesses, logging.logMultiprocessing
    levels = {
        name: logger.level
        for name, logger in root.manager.loggerDict.items()
        if isinstance(logger, logging.Logger) and name.startswith("pykbroker")
    }
    yield
    root.setLevel(level)
    for handler in root.handlers[:]:
        if type(handler) is logging.StreamHandler:  # pytest's own are subclasses
            root.removeHandler(handler)
    logging.logThreads, logging.logProcesses, logging.logMultiprocessing = switches
    for name, logger in root.manager.loggerDict.items():
        if isinstance(logger, logging.Logger) and name.startswith("pykbroker"):
            logger.setLevel(levels.get(name, logging.NOTSET))
