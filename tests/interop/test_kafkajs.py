"""kafkajs (Node) against the broker: the script does the work and prints what it saw as JSON."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.harness.tools import node_modules

SCRIPTS = Path(__file__).parent / "js"


def _node(script: str, *arguments: str) -> dict[str, Any]:
    environment = {
        **os.environ,
        "NODE_PATH": str(node_modules()),
        "KAFKAJS_NO_PARTITIONER_WARNING": "1",
    }
    done = subprocess.run(
        ["node", str(SCRIPTS / script), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_round_trip_with_a_group(servers: str, name: str, codec: str):
    seen = _node("round_trip.js", servers, name, codec)
    assert seen["offsets"] == list(range(20))
    assert seen["values"] == [None if n % 7 == 6 else f"value-{n}" for n in range(20)]
    assert seen["keys"] == [None if n % 5 == 0 else f"key-{n % 3}" for n in range(20)]
    assert seen["headers"] == [{"n": str(n)} for n in range(20)]
    assert seen["timestamps"] == [str(1_700_000_000_000 + n * 1000) for n in range(20)]


def test_administration(servers: str, name: str):
    seen = _node("administration.js", servers, name)
    assert seen["created"] is True
    assert seen["partitions"] == 3
    assert seen["grown"] == 5
    assert seen["retention"] == "86400000"
    assert seen["offsets"] == [["0", "0"]] * 5
    assert seen["listed_after_delete"] is False
    assert seen["group_state"] == "Empty"
    assert seen["committed"] == "3"
