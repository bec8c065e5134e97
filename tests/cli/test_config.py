from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

SAMPLE = Path(__file__).resolve().parents[2] / "config" / "server.properties"


def test_a_table_of_what_is_set(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("num.partitions=3\nnum.io.threads=8\n")
    outcome = run("config", "check", str(file))
    assert (outcome.code, outcome.err) == (0, "")
    place = f"{file}, line"
    assert outcome.lines[:4] == [
        "KEY             VALUE  EFFECT     SET IN",
        f"num.partitions  3      honoured   {place} 1",
        f"num.io.threads  8      no effect  {place} 2",
        "    one event loop serves every connection; there is no pool of threads to size",
    ]
    assert "  node.id=1" in outcome.lines
    assert outcome.lines[-1] == "The configuration is valid."


def test_what_forbids_a_start(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("num.partition=3\n")
    outcome = run("config", "check", str(file), "--override", "num.partitions=x" + "y" * 50)
    assert outcome.code == 1
    assert outcome.lines[-3] == "A start is refused:"
    assert outcome.lines[-2].startswith(f"  {file}, line 1: num.partition: unknown")
    assert outcome.lines[-1].startswith("  --override: Invalid value x")
    assert any(
        " xyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy...  refused" in line for line in outcome.lines
    )


def test_nothing_is_set(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("# nothing\n")
    assert run("config", "check", str(file)).lines[0] == "No key is set."


def test_as_json_for_scripts(run: Run) -> None:
    outcome = run("config", "check", str(SAMPLE), "--json")
    report = json.loads(outcome.out)
    assert (outcome.code, report["valid"], report["errors"]) == (0, True, [])
    assert report["filled_in"] == {}
    assert report["keys"][0] == {
        "key": "process.roles",
        "value": "broker,controller",
        "effect": "honoured",
        "reason": "",
        "set_in": f"{SAMPLE}, line 7",
    }


def test_the_environment_counts_as_in_a_start(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_NUM_PARTITIONS", "many")
    monkeypatch.setenv("KAFKA_PORT", "tcp://10.0.0.1")
    outcome = run("config", "check", str(SAMPLE))
    assert outcome.code == 1
    assert outcome.lines[-1].startswith("  KAFKA_NUM_PARTITIONS: Invalid value many")
    assert outcome.err == "Ignoring KAFKA_PORT of the environment: there is no key port.\n"


def test_a_file_that_is_missing(run: Run) -> None:
    outcome = run("config", "check", "/nope.properties")
    wanted = "pykbroker config check: /nope.properties: No such file or directory\n"
    assert (outcome.code, outcome.err) == (1, wanted)
