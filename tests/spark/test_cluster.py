"""A cluster: a standalone master and two workers; the code comes by --py-files alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest

from pykbroker.environment.real.ports import free_ports
from pykbroker.spark import package
from tests.offline.samples import partition_directory, simple_batches, write_segment

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

SPARK_HOME = Path(pyspark.__file__).parent
JOB = Path(__file__).with_name("cluster_job.py")


def environment() -> dict[str, str]:
    """Nothing of ours on the path of modules."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
    }


@contextmanager
def daemon(log: Path, class_name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Spark process that ends with the block."""
    command = [str(SPARK_HOME / "bin" / "spark-class"), class_name, *arguments]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env=environment(), cwd=log.parent
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def await_line(log: Path, process: subprocess.Popen[bytes], line: str) -> None:
    deadline = time.monotonic() + 120
    while line not in log.read_text():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """The address of a master that has two workers."""
    (port,) = free_ports(1)
    address = f"spark://127.0.0.1:{port}"
    own = ("--host", "127.0.0.1", "--webui-port", "0")
    with ExitStack() as stack:
        log = tmp_path / "master.log"
        deploy = "org.apache.spark.deploy"
        master = stack.enter_context(
            daemon(log, f"{deploy}.master.Master", *own, "--port", str(port))
        )
        await_line(log, master, "Starting Spark master at")
        for number in range(2):
            log = tmp_path / f"worker-{number}.log"
            work = str(tmp_path / f"work-{number}")
            options = ("--cores", "1", "--memory", "700m", "--work-dir", work)
            worker = stack.enter_context(
                daemon(log, f"{deploy}.worker.Worker", *own, *options, address)
            )
            await_line(log, worker, "Successfully registered with master")
        yield address


def test_the_same_job_on_two_workers(cluster: str, tmp_path: Path) -> None:
    for partition in range(3):
        directory = partition_directory(tmp_path / "logs", "t", partition)
        write_segment(directory, simple_batches(70, 10, size=100))
    out = tmp_path / "out"
    out.mkdir()
    command = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", cluster]
    command += ["--py-files", package(), "--conf", "spark.executor.memory=512m"]
    command += ["--conf", "spark.driver.memory=512m", "--conf", "spark.driver.host=127.0.0.1"]
    # No task begins before both executors are there: one that is quick would do them all.
    command += ["--conf", "spark.cores.max=2"]
    command += ["--conf", "spark.scheduler.minRegisteredResourcesRatio=1.0"]
    command += ["--conf", "spark.scheduler.maxRegisteredResourcesWaitingTime=600s"]
    command += ["--conf", "spark.sql.shuffle.partitions=2", str(JOB)]
    done = subprocess.run(
        [*command, str(tmp_path / "logs"), str(out)],
        env=environment(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    found = json.loads((out / "result.json").read_text())
    assert len(found.pop("executors")) == 2
    assert found == {
        "master": cluster,
        "rows": 2100,
        "partition 1": 700,
        "where": 15,
        "keys": [[f"key-{n}", 300] for n in range(7)],
        "exported": 2100,
        "streamed": 2100,
    }
    used = [path.parent.name for path in tmp_path.glob("work-*/app-*")]
    assert sorted(used) == ["work-0", "work-1"]
