"""Truncation of replicas and elections in whole clusters: tests/scenarios/cluster_*.txt.

Each script is played once more with the rule broken that it is about. Then another record is lost
or kept, or a rule of the world (`replication_invariants.py`, `election_rules.py`) is violated.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pykbroker.replication.isr import IsrState
from pykbroker.replication.truncation import Truncation
from pykbroker.testing.world.mutants.mutant import Mutant, Patch, applied, instead, returning
from pykbroker.testing.world.world import Violation
from tests.harness.scenarios import SCENARIOS, played, replayed, scripts
from tests.testing.world.played_cluster import PlayedCluster


def _only_by_the_leaders_end(
    original: Any, leader_epoch: int, end: int, offset: int, log: Any
) -> Truncation:
    """As before KIP-279: where its own log has that epoch end does not count."""
    return Truncation(min(end, log.log_end_offset), True)


def _only_members(original: Any) -> property:
    return property(lambda isr: isr.members)


def _without_them_at_once(original: Any, isr: IsrState, replicas: frozenset[int]) -> IsrState:
    return IsrState(isr.members - replicas, removing=replicas)


BROKEN = {
    "01_high_watermark_truncation": Patch("replication.follower_log:latest_epoch", returning(None)),
    "02_divergence_after_hard_failures": Patch(
        "replication.fetch_reader:diverging_epoch", returning(None)
    ),
    "03_fast_leader_failover": Patch(
        "replication.fetcher:truncation_for", instead(_only_by_the_leaders_end)
    ),
    "04_last_replica_standing": Patch(
        "kraft.controller.partition_change:eligible_leaders", returning(())
    ),
    "05_nobody_eligible_is_left": Patch(
        "kraft.controller.brokers:_was_clean_shutdown", returning(True)
    ),
    "06_joins_before_it_is_answered": Patch("replication.isr:IsrState.maximal", _only_members),
    "07_leaves_when_it_is_answered": Patch(
        "replication.isr:IsrState.propose_removing", instead(_without_them_at_once)
    ),
}


@pytest.mark.parametrize("path", scripts("cluster", len(BROKEN)), ids=lambda path: path.stem)
def test_scenarios(path: Path) -> None:
    now, expected = replayed(path, PlayedCluster())
    assert now == expected


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_shows(name: str) -> None:
    script = (SCENARIOS / f"cluster_{name}.txt").read_text("utf-8")
    with applied(Mutant(name, name, (BROKEN[name],))):
        try:
            broken = played(script, PlayedCluster())
        except Violation:
            return
    assert _last_records(broken) != _last_records(script)


def _last_records(script: str) -> list[str]:
    """What each broker's log has at the end."""
    lines = script.partition("> show")[2].rsplit("> show", 1)[1].splitlines()
    return [line.partition(",")[0] for line in lines if line[:3] in ("  1", "  2", "  3")]
