"""The fixtures as a project that installed the package sees them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PROJECT = """
import socket

def serves(broker):
    with socket.create_connection(("127.0.0.1", broker.port), timeout=60) as sock:
        sock.sendall(bytes.fromhex("0000000a" "00120000" "00000005" "ffff"))
        return sock.recv(100)[4:8] == b"\\0\\0\\0\\5"

def test_mine(pykbroker, pykbroker_session):
    assert serves(pykbroker) and serves(pykbroker_session)
    assert pykbroker.port != pykbroker_session.port
    test_mine.seen = (pykbroker.port, pykbroker_session.port)

def test_mine_again(pykbroker, pykbroker_session):
    assert test_mine.seen[0] != pykbroker.port
    assert test_mine.seen[1] == pykbroker_session.port
"""


OPTIONS = """
import pytest
from confluent_kafka.admin import AdminClient, ConfigResource

def topics(broker):
    found = AdminClient({"bootstrap.servers": broker.bootstrap_servers}).list_topics(timeout=60)
    return {name: len(topic.partitions) for name, topic in found.topics.items()}

@pytest.mark.pykbroker(num_partitions=3, topics=["orders"])
class TestMarked:
    def test_class(self, pykbroker):
        assert topics(pykbroker) == {"orders": 3}

    @pytest.mark.pykbroker(topics={"wide": 5}, overrides={"log.retention.ms": -1})
    def test_both(self, pykbroker):
        assert topics(pykbroker) == {"orders": 3, "wide": 5}
        assert pykbroker.overrides["log.retention.ms"] == "-1"

def test_ini(pykbroker, pykbroker_session):
    assert pykbroker.overrides["log.segment.bytes"] == "1048576"
    assert pykbroker_session.overrides["log.segment.bytes"] == "1048576"

@pytest.mark.pykbroker(topics=["orders"])
@pytest.mark.parametrize("turn", [1, 2])
def test_shared(pykbroker_shared, pykbroker_session, turn):
    assert pykbroker_shared.broker is pykbroker_session
    mine = {name for name in topics(pykbroker_session) if name.startswith(pykbroker_shared.prefix)}
    assert mine == {pykbroker_shared.topic("orders")}
"""

FAILING = """
import pytest

def test_own(pykbroker):
    assert pykbroker.port == 0

def test_shared_passes(pykbroker_session):
    pass

def test_shared_fails(pykbroker_shared):
    pykbroker_shared.create_topics(["shown"])
    assert pykbroker_shared.prefix == ""

def test_no_broker():
    assert False
"""

MISUSED = """
import pytest

@pytest.mark.pykbroker(num_partitions=3)
def test_key_of_a_shared_broker(pykbroker_shared):
    pass

@pytest.mark.pykbroker(3)
def test_positional(pykbroker):
    pass

@pytest.mark.pykbroker(num_partition=3)
def test_unknown_key(pykbroker):
    pass
"""


def run_pytest(directory: Path, project: str, ini: str = "") -> subprocess.CompletedProcess[str]:
    (directory / "test_project.py").write_text(project)
    (directory / "pytest.ini").write_text(f"[pytest]\naddopts = --strict-markers\n{ini}")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "test_project.py"]
    logging = os.environ | {"PYKBROKER_LOG": "pykbroker.request=DEBUG"}
    return subprocess.run(
        command, cwd=directory, env=logging, capture_output=True, text=True, check=False
    )


def test_one_broker_a_test_and_one_a_session(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, PROJECT)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "2 passed" in run.stdout


def test_options(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, OPTIONS, "pykbroker_config =\n  log.segment.bytes = 1048576\n")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "5 passed" in run.stdout


def test_the_log_is_in_the_report_of_a_failure(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, FAILING)
    assert "3 failed, 1 passed" in run.stdout, run.stdout + run.stderr
    own, shared, none = re.split(r"\n_+ test_\w+ _+\n", run.stdout)[1:]
    assert "- Log of pykbroker -" in own
    assert "started (pykbroker" in own
    assert "- Log of pykbroker_s" in shared
    assert "DEBUG CreateTopics" in shared
    assert "started (pykbroker" not in shared, "the part of the log before the test"
    assert "Log of" not in none


def test_misuse(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, MISUSED)
    assert "3 errors" in run.stdout, run.stdout + run.stderr
    assert "num.partitions cannot be set for a broker that tests share; use the" in run.stdout
    assert "@pytest.mark.pykbroker takes only keyword arguments" in run.stdout
    assert "num.partition" in run.stdout
    assert "ended with exit code 1" in run.stdout


def test_a_line_of_the_ini_option_without_a_value(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, PROJECT, "pykbroker_config = log.segment.bytes\n")
    assert "pykbroker_config: 'log.segment.bytes' is not KEY=VALUE" in run.stdout, run.stdout


def test_the_examples_of_the_page(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "testing.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    tests = [block for block in blocks if "def test_" in block]
    assert len(tests) == 3
    run_my_code = "def run_my_code(servers, *names):\n    assert servers\n\n"
    run = run_pytest(tmp_path, run_my_code + "\n".join(tests))
    assert run.returncode == 0, run.stdout + run.stderr
    assert "3 passed" in run.stdout
