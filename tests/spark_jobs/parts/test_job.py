"""Jobs as programs: spark-submit and python, from anywhere, with nothing of ours on the path."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pyarrow.parquet as pq
import pyspark
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException, PySparkRuntimeError

import spark_jobs
from spark_jobs import parts
from spark_jobs.parts.job import Job, _in_one_line
from spark_jobs.parts.results import Outcome
from tests.harness.flights import COUNT
from tests.offline.samples import partition_directory, simple_batches, write_segment
from tests.spark.test_cluster import cluster  # noqa: F401
from tests.spark_jobs.flight_logs import FlightLogs

JOBS = Path(spark_jobs.__file__).parent
SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
NAMES = sorted(path.stem for path in JOBS.glob("*.py") if path.stem != "__init__")


def run(command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = kept | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600
    )


def job_of(name: str) -> Job:
    module = __import__(f"spark_jobs.{name}", fromlist=["JOB"])
    found: Job = module.JOB
    return found


def test_there_are_fifteen():
    assert len(NAMES) == 15
    listed = spark_jobs.__doc__ or ""
    assert all(f"    {name} " in listed for name in NAMES)


def test_every_part_is_listed():
    named = set(re.findall(r"\w+", parts.__doc__ or ""))
    assert {path.stem for path in (JOBS / "parts").glob("*.py")} - named == {"__init__"}


@pytest.mark.parametrize("name", NAMES)
def test_help(name: str, capsys: pytest.CaptureFixture[str]):
    job = job_of(name)
    assert job.name == name
    with pytest.raises(SystemExit) as ended:
        job.parse(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: {name}.py")
    assert (job.doc or "").splitlines()[0] in text
    assert "--out" in text
    assert "--master" in text


def test_a_picture_that_fails_leaves_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def draw(outcome: Outcome) -> None:
        raise ValueError("no such tick")

    job = Job(__file__, None, lambda spark, given: Outcome({}, {"records": 7}), draw=draw)
    arguments = job.parse(["--path", "x", "--out", str(tmp_path / "out"), "--quiet"])
    assert job.run_and_write(MagicMock(), arguments) == 3
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["records"] == 7
    told = capsys.readouterr().err
    assert (
        told
        == "test_job: no picture was drawn, but the result is complete: ValueError: no such tick\n"
    )


def test_a_path_that_may_not_be_read_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    def refused(spark: object, given: object) -> Outcome:
        raise PermissionError(13, "Permission denied", "logs")

    monkeypatch.setattr("spark_jobs.parts.session.start", lambda *_: MagicMock())
    words = ["--quiet", "--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as ended:
        Job(__file__, None, refused, reads_logs=False).main(words)
    assert ended.value.code == 2
    assert capsys.readouterr().err == "test_job: [Errno 13] Permission denied: 'logs'\n"


def test_a_bug_is_no_finding(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Exit code 1 says that something was found."""
    work = MagicMock(side_effect=ZeroDivisionError("of ours"))
    monkeypatch.setattr("spark_jobs.parts.session.start", lambda *_: MagicMock())
    monkeypatch.setattr("spark_jobs.parts.job.Target", MagicMock())
    with pytest.raises(SystemExit) as ended:
        Job(__file__, None, work, reads_logs=False).main(["--quiet"])
    assert ended.value.code == 3
    assert "ZeroDivisionError: of ours" in capsys.readouterr().err


def test_an_out_that_cannot_be_written_is_told_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").write_text("")
    work = MagicMock()
    monkeypatch.setattr("spark_jobs.parts.session.start", lambda *_: MagicMock())
    with pytest.raises(SystemExit) as ended:
        Job(__file__, None, work).main(["--path", "x", "--out", str(tmp_path / "file" / "out")])
    assert ended.value.code == 2
    assert "file/out" in capsys.readouterr().err
    work.assert_not_called()


@pytest.mark.parametrize(
    "fault",
    [
        PySparkRuntimeError("JAVA_GATEWAY_EXITED", {}),
        Py4JJavaError("", MagicMock(_target_id="o1", toString=lambda: "Not parsed\nmaster")),
    ],
)
def test_a_session_that_does_not_start_is_no_finding(
    fault: Exception,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
):
    monkeypatch.setattr("spark_jobs.parts.session._session", MagicMock(side_effect=fault))
    job = Job(__file__, None, MagicMock(), reads_logs=False)
    with pytest.raises(SystemExit) as ended:
        job.main(["--quiet", "--out", str(tmp_path / "out")])
    assert ended.value.code == 2
    assert not (tmp_path / "out").exists()
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("test_job: Spark does not start: ")
    assert "JAVA_GATEWAY_EXITED" in told or told.endswith("Not parsed")


@pytest.mark.parametrize("fault, code", [(None, 0), (FileNotFoundError("x"), 2)])
def test_a_session_that_does_not_stop_is_no_finding(
    fault: Exception | None, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """The exit code is that of the work, also where the JVM has died."""
    session = MagicMock()
    session.stop.side_effect = ConnectionRefusedError()
    monkeypatch.setattr("spark_jobs.parts.session.start", lambda *_: session)
    work = MagicMock(side_effect=fault, return_value=Outcome())
    job = Job(__file__, None, work, reads_logs=False)
    with pytest.raises(SystemExit) as ended:
        job.main(["--quiet", "--out", str(tmp_path)])
    assert ended.value.code == code
    session.stop.assert_called_once()


def test_an_interrupt_while_the_session_stops_is_no_stack(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr("spark_jobs.parts.session.start", lambda *_: MagicMock())
    monkeypatch.setattr("spark_jobs.parts.session.stop", MagicMock(side_effect=KeyboardInterrupt))
    job = Job(__file__, None, MagicMock(return_value=Outcome()), reads_logs=False)
    with pytest.raises(SystemExit) as ended:
        job.main(["--quiet", "--out", str(tmp_path / "out")])
    assert ended.value.code == 130
    assert (tmp_path / "out" / "summary.json").exists()


@pytest.mark.parametrize(
    "words, told",
    [
        ([], "the following arguments are required: --path"),
        (["--path", "x", "--format", "csv"], "argument --format: invalid choice: 'csv'"),
        (["--path", "x", "--out", ""], "argument --out: must name a directory"),
        (["--path", "x", "--since", "now"], "argument --since: 'now' is neither ISO 8601 nor ms"),
        (["--path", "x", "--path", "y"], "argument --path: is given twice"),
        (["--path", "x", "--topics", "a", "--topics", "b"], "argument --topics: is given twice"),
        (["--path", "x", "--out", "a", "--out", "a"], "argument --out: is given twice"),
        (["--path", "x", "--since", "2020-01-02", "--until", "2020-01-01"], "--since (15779"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as ended:
        Job(__file__, None, MagicMock()).main(words)
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"test_job: {told}")
    assert line.endswith(" (see --help)")


def test_defaults_are_told(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        job_of("throughput").parse(["--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "(default: 1000000)" in told
    assert "(default: None)" not in told
    assert "(default: [])" not in told


@pytest.mark.spark
@pytest.mark.timeout(1200)
def test_spark_submit_to_a_cluster(cluster: str, ours: FlightLogs, tmp_path: Path):  # noqa: F811
    """The code ships itself: neither the package nor the jobs are installed or on a path."""
    words = ["--path", ours.path, "--topics", "flights", "--out", "result"]
    own = ["spark.executor.memory=512m", "spark.driver.memory=512m"]
    own += ["spark.driver.host=127.0.0.1", "spark.sql.shuffle.partitions=2"]
    settings = [word for each in own for word in ("--conf", each)]
    submit = [str(SUBMIT), "--master", cluster, *settings]
    done = run([*submit, str(JOBS / "size_percentiles.py"), *words], tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    out = tmp_path / "result"
    assert sorted(path.name for path in out.iterdir()) == [
        "percentiles.parquet",
        "size_percentiles.png",
        "sizes.parquet",
        "summary.json",
    ]
    assert json.loads((out / "summary.json").read_text())["records"] == COUNT
    assert (
        pq.read_table(out / "percentiles.parquet").column("records").to_pylist()[1:] == [COUNT] * 2
    )
    assert "p999" in done.stdout
    told = done.stdout + done.stderr  # spark-submit joins them
    assert "size_percentiles: counting sizes" in told
    assert "size_percentiles: done after" in told


@pytest.mark.spark
@pytest.mark.timeout(1200)
def test_python_and_a_fault_of_a_worker(tmp_path: Path):
    """One line for the person, not a stack, and nothing of what Spark logs while it starts."""
    segment = write_segment(partition_directory(tmp_path / "logs"), simple_batches(30))
    payload = bytearray(segment.read_bytes())
    payload[len(payload) // 2 + 100] ^= 1
    segment.write_bytes(payload)
    done = run([sys.executable, str(JOBS / "size_percentiles.py"), "--path", "logs"], tmp_path)
    assert done.returncode == 2, done.stderr[-3000:]
    last = [line for line in done.stderr.splitlines() if line.startswith("size_percentiles: ")][-1]
    assert segment.name in last
    assert "checksum" in last
    # What another worker of Spark says while it is killed is not ours: it has no frame of ours.
    ours = r'File ".*/(pykbroker/(offline|spark)|spark_jobs|py4j)/\w+\.py"'
    assert not re.search(ours, done.stderr)
    assert not re.search("log4j|Setting | (INFO|WARN|ERROR) ", done.stderr.partition(last)[0])


@pytest.mark.spark
@pytest.mark.timeout(1200)
def test_a_bug_in_a_worker_is_told_with_its_stack(tmp_path: Path):
    (tmp_path / "buggy.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(JOBS.parent)!r})\n"
        "from spark_jobs.parts.job import Job\n"
        "from pykbroker.spark import map_items\n"
        "def run(spark, arguments):\n"
        "    return map_items(spark, [0], lambda zero: 1 / zero, 'a int').collect()\n"
        "JOB = Job(__file__, __doc__, run, reads_logs=False)\n"
        "JOB.main()\n"
    )
    done = run([sys.executable, "buggy.py"], tmp_path)
    assert done.returncode == 3, done.stderr[-3000:]
    assert "ZeroDivisionError: division by zero" in done.stderr
    assert "buggy.py" in done.stderr


def test_what_spark_tells_in_one_line():
    trace = "Job aborted\nTraceback (most recent call last):\n"
    of_logs = trace + "pykbroker.offline.faults.CorruptSegment: x"
    assert _in_one_line(PySparkException(of_logs)) == "x"
    of_broker = trace + "spark_jobs.parts.consumers.ConsumerFault: no more records of t arrived"
    assert _in_one_line(PySparkException(of_broker)) == "no more records of t arrived"
    cast = "[CAST_INVALID_INPUT] The value 'x' cannot be cast\n== SQL ==\ncast(text as int)"
    assert (_in_one_line(PySparkException(cast)) or "").startswith("[CAST_INVALID_INPUT]")
    bug = trace + "  File x\nZeroDivisionError: of ours"
    assert _in_one_line(PySparkException(bug)) is None
