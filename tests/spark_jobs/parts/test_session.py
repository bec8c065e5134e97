"""What a job does around its session; the rest in test_job."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from spark_jobs.parts import session


def test_what_is_made_by_a_thread_comes_back_with_its_faults():
    assert session._in_a_thread(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        session._in_a_thread(lambda: 1 // 0)


def test_a_session_that_cannot_stop_is_left_alone():
    spark = MagicMock()
    spark.stop.side_effect = ConnectionRefusedError()
    session.stop(spark)
    spark.stop.assert_called_once_with()


def test_the_jobs_travel_as_a_zip_that_can_be_imported_from(monkeypatch: pytest.MonkeyPatch):
    archive = session._package()
    names = zipfile.ZipFile(archive).namelist()
    assert {"spark_jobs/__init__.py", "spark_jobs/parts/session.py"} <= set(names)
    for name in [name for name in sys.modules if name.split(".")[0] == "spark_jobs"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [archive, *sys.path])
    import spark_jobs.parts.interrupts as shipped

    assert shipped.__file__.startswith(archive)


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """A builder of sessions with four cores, where a JVM would be asked."""
    made = MagicMock()
    made.config.return_value = made
    made.getOrCreate.return_value.sparkContext.defaultParallelism = 4
    monkeypatch.setattr(session, "SparkContext", MagicMock())
    return made


def submitted(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(session, "SparkConf", lambda: MagicMock(contains=names.__contains__))


def test_a_session_is_quiet_and_shuffles_little(
    builder: MagicMock, monkeypatch: pytest.MonkeyPatch
):
    submitted(monkeypatch)
    spark = session._session(builder)
    builder.config.assert_called_once_with("spark.log.level", "ERROR")
    spark.conf.set.assert_called_once_with("spark.sql.shuffle.partitions", "8")


def test_settings_that_were_submitted_stay(builder: MagicMock, monkeypatch: pytest.MonkeyPatch):
    submitted(monkeypatch, "spark.log.level", "spark.sql.shuffle.partitions")
    spark = session._session(builder)
    builder.config.assert_not_called()
    spark.conf.set.assert_not_called()
    spark._jvm.org.apache.logging.log4j.core.config.Configurator.setLevel.assert_not_called()


@pytest.mark.parametrize(
    "given, has_conf, expected",
    [
        ({}, False, str(session._QUIET_CONF)),
        ({}, True, None),
        ({"SPARK_CONF_DIR": "/own"}, False, "/own"),
    ],
)
def test_the_configuration_directory_of_a_jvm_that_a_job_starts(
    given: dict[str, str],
    has_conf: bool,
    expected: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    before = dict(given)
    monkeypatch.setattr(os, "environ", given)
    if has_conf:
        (tmp_path / "conf").mkdir()
    with session._quiet_launch(str(tmp_path)):
        assert given.get("SPARK_CONF_DIR") == expected
    assert given == before  # another JVM that this process starts logs as it should
    assert (session._QUIET_CONF / "log4j2.properties").is_file()


def test_spark_submit_has_started_its_jvm(monkeypatch: pytest.MonkeyPatch):
    given: dict[str, str] = {}
    monkeypatch.setattr(os, "environ", given)
    with session._quiet_launch(""):
        assert given == {}


@pytest.mark.parametrize(
    "master, is_local",
    [
        ("local", True),
        ("local[*]", True),
        ("local-cluster[2,1,512]", False),
        ("spark://h:1", False),
    ],
)
def test_masters_of_this_process(master: str, is_local: bool):
    assert session._is_local(master) == is_local
