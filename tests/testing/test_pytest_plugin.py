"""The fixtures as a project that installed the package sees them."""

from __future__ import annotations

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


def test_one_broker_a_test_and_one_a_session(tmp_path: Path) -> None:
    (tmp_path / "test_project.py").write_text(PROJECT)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "test_project.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "2 passed" in run.stdout
