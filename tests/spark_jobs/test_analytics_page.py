"""The jobs in docs/analytics.md run as they stand there, on the flights."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pykbroker.testing import Broker
from spark_jobs.parts.job import Job
from tests.spark_jobs.flight_logs import FlightLogs

PAGE = Path(__file__).parents[2] / "docs" / "analytics.md"
README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(
    r"^```sh\n(.*?)^```$",
    PAGE.read_text("utf-8").partition("\n## Jobs\n")[2],
    re.MULTILINE | re.DOTALL,
)
COMMANDS = [line for block in BLOCKS for line in block.splitlines() if not line.startswith("#")]


TABLES = re.findall(r"^\| ?(\w*) ?\| `(\w+)` \| (.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)


SUMMARY_KEYS = {
    job: set(re.findall(r"`(\w+)`", text))
    for job, text in re.findall(
        r"^\| (\w+) \| (.*) \|$",
        PAGE.read_text("utf-8").partition("| job | keys |")[2],
        re.MULTILINE,
    )
}


def documented_tables() -> dict[str, dict[str, set[str]]]:
    """{job: {table: columns}}; an empty name is the one above."""
    found: dict[str, dict[str, set[str]]] = {}
    for name, table, text in TABLES:
        job = name or next(reversed(found))
        told = {each for each in re.findall(r"`(\w+)`", text) if each != "stored"}
        found.setdefault(job, {})[table] = told
    return found


def job_and_words(command: str) -> tuple[Job, list[str]]:
    program, file, *words = shlex.split(command)
    assert program == "spark-submit"
    directory, name = file.split("/")
    assert directory == "spark_jobs"
    module = __import__(f"spark_jobs.{name.removesuffix('.py')}", fromlist=["JOB"])
    return module.JOB, words


def test_every_job_is_there():
    jobs = {job_and_words(command)[0].name for command in COMMANDS}
    files = (PAGE.parents[1] / "spark_jobs").glob("*.py")
    assert jobs == {file.stem for file in files} - {"__init__"}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[1][11:-3])
def test_example(spark: Any, ours: FlightLogs, live_broker: Broker, tmp_path: Path, command: str):
    job, words = job_and_words(command)
    if job.name == "throughput":
        ours = FlightLogs(str(live_broker.data_dir), "pykbroker")
    places = {
        "kafka-logs": ours.path,
        "other-logs": ours.path,
        "localhost:9092": live_broker.bootstrap_servers,
        "parquet": str(tmp_path / "parquet"),
    }
    words = [places.get(word, word) for word in words]
    arguments = job.parse([*words, "--out", str(tmp_path / "out")])
    assert job.run_and_write(spark, arguments) == 0
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"summary.json", f"{job.name}.png"} - written <= {"transactions.png"}
    tables = {
        path.stem: set(pq.read_schema(path).names) for path in (tmp_path / "out").glob("*.parquet")
    }
    assert tables == documented_tables()[job.name]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert set(summary) - {"job", "tables"} == SUMMARY_KEYS[job.name]


def test_the_command_in_the_readme():
    text = README.read_text("utf-8")
    (command,) = re.findall(r"^python (spark_jobs/.*)$", text, re.MULTILINE)
    job, words = job_and_words(f"spark-submit {command}")
    parsed = job.parse(words)
    assert (parsed.every, parsed.path, parsed.topics) == (1000, "pykbroker-data", "greetings")
    assert '"greetings"' in text.partition(command)[0]  # which the page has made before
    assert f"log.dirs=./{parsed.path}" in text
