"""`pyspark_pykbroker`: Spark 4 finds the data source without a call."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

import pyspark_pykbroker
from pykbroker.spark import LogSource


def test_a_session_in_which_nothing_was_registered(spark: Any, small_logs: Path) -> None:
    fresh = spark.newSession()
    frame = fresh.read.format("pykbroker").option("subscribe", "u").load(str(small_logs))
    assert frame.count() == 400
    with pytest.raises(Py4JJavaError, match="DATA_SOURCE_NOT_FOUND"):
        fresh.read.format("pykbroker.batches").load(str(small_logs)).count()


def test_what_spark_looks_for() -> None:
    assert pyspark_pykbroker.__name__.startswith("pyspark_")
    assert issubclass(pyspark_pykbroker.DefaultSource, LogSource)
    assert pyspark_pykbroker.DefaultSource.name() == "pykbroker"
    assert pyspark_pykbroker.DefaultSource.tasks == (os.cpu_count() or 1)


def imported_without(monkeypatch: pytest.MonkeyPatch, name: str) -> ModuleType:
    """The package as an interpreter sees it that lacks something."""
    monkeypatch.setitem(sys.modules, name, None)
    spec = importlib.util.spec_from_file_location("another", pyspark_pykbroker.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_interpreter_that_lacks_something(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named when the source is used: the sources of others must be found all the same."""
    module = imported_without(monkeypatch, "pykbroker.spark.source")
    assert module.DefaultSource.name() == "pykbroker"
    with pytest.raises(ImportError) as caught:
        module.DefaultSource({})
    assert str(caught.value).startswith(
        f"the data source pykbroker needs pykbroker.spark.source, which {sys.executable} (Python 3."
    )
