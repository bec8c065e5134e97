"""What a job does around its session; the rest in test_job."""

from __future__ import annotations

import sys
import zipfile
from unittest.mock import MagicMock

import pytest

from spark_jobs import session


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
    assert {"spark_jobs/__init__.py", "spark_jobs/session.py"} <= set(names)
    for name in [name for name in sys.modules if name.split(".")[0] == "spark_jobs"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [archive, *sys.path])
    import spark_jobs.interrupts as shipped

    assert shipped.__file__.startswith(archive)
