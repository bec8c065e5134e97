"""A task that fails is not run again where it may have sent records."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from pyspark import TaskContext

from spark_jobs import replay, throughput
from spark_jobs.parts import clients
from spark_jobs.parts.clients import SEND_ONCE, SenderFault
from tests.spark.test_cluster import cluster, environment  # noqa: F401
from tests.spark_jobs import failing_job

ROOT = Path(__file__).parents[2]


@pytest.mark.spark
@pytest.mark.timeout(1200)
def test_a_cluster_runs_each_task_once(cluster: str, tmp_path: Path):  # noqa: F811
    notes = tmp_path / "notes"
    command = [sys.executable, str(failing_job.__file__), "--master", cluster]
    command += ["--notes", str(notes), "--out", str(tmp_path / "out")]
    settings = "--conf spark.executor.memory=512m --conf spark.driver.host=127.0.0.1"
    more = {"PYTHONPATH": str(ROOT), "PYSPARK_SUBMIT_ARGS": f"{settings} pyspark-shell"}
    done = subprocess.run(
        command, env=environment() | more, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 3
    assert "in the middle of it" in done.stderr
    assert notes.read_text() == "sent\n"


def test_the_jobs_that_send():
    for job in (replay.JOB, throughput.JOB):
        assert job.conf == SEND_ONCE


@pytest.mark.parametrize("client", ["confluent-kafka", "kafka-python"])
def test_whatever_spark_does_nothing_is_sent_again(monkeypatch: pytest.MonkeyPatch, client: str):
    """An executor that is lost is no failure of its tasks: they run again all the same."""
    again = MagicMock(attemptNumber=lambda: 1, partitionId=lambda: 7)
    monkeypatch.setattr(TaskContext, "get", lambda: again)
    with pytest.raises(SenderFault, match="task 7 again"):
        clients.sender("127.0.0.1:1", {}, client)
