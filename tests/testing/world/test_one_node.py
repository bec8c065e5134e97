"""Lives of one simulated node under faults.

PYKBROKER_WORLD_SEEDS=1000 runs more of them; a failure prints the command that repeats its seed.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pykbroker.testing.world.__main__ import Kind, live, main
from pykbroker.testing.world.one_node import OneNode

SEEDS = int(os.environ.get("PYKBROKER_WORLD_SEEDS", "60"))
CHUNKS = 6


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_lives(chunk: int) -> None:
    for seed in range(chunk, SEEDS, CHUNKS):
        _, failure = live(seed, Kind())
        assert not failure, failure


@pytest.mark.parametrize("seed", ["3", "41"])
def test_a_seed_repeats_in_another_process(seed: str) -> None:
    digests = set()
    for hash_seed in ("1", "77"):
        done = subprocess.run(
            [sys.executable, "-m", "pykbroker.testing.world", "--seed", seed],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        digests.add(done.stdout)
    assert len(digests) == 1
    assert digests != {live(4, Kind())[0]}


def test_a_leader_of_a_group_that_joins_again_assigns_as_before() -> None:
    """Its first SyncGroup may have been lost with the connection, or carried out."""
    _, failure = live(308106, Kind())
    assert not failure, failure


def test_lives_are_full_of_events() -> None:
    """A world in which nothing happens would prove nothing."""
    acknowledged = read = commits = faults = changes = starts = 0
    for seed in range(12):
        life = OneNode(seed)
        with life.world.logs_captured():
            life.run()
        assert life.faults is not None
        acknowledged += sum(producer.acknowledged for producer in life.producers)
        read += sum(reader.records_read for reader in life.readers)
        commits += life.group.commits
        faults += life.faults.count
        changes += life.administrator.changes
        starts += life.node.starts
    assert acknowledged > 400
    assert read > 400
    assert commits > 20
    assert faults > 40
    assert changes > 10
    assert starts > 30


def test_a_failure_tells_how_to_repeat_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(self: OneNode) -> str:
        self.node.note("does something")
        raise AssertionError("it must not")

    monkeypatch.setattr(OneNode, "run", fail)
    assert main(["--seeds", "2", "--first", "40"]) == 1
    printed = capsys.readouterr().out
    for seed in (40, 41):
        assert f"seed {seed}: AssertionError: it must not\n" in printed
        assert f"repeat with: {Kind().repeat_command(seed)}\n" in printed
    assert "node-1       does something" in printed
    assert main(["--seed", "5"]) == 1
    monkeypatch.setattr(OneNode, "run", lambda self: self.world.timeline.digest)
    assert main(["--seeds", "1"]) == 0
    assert "failed: none" in capsys.readouterr().out
