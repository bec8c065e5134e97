"""Broken rules of elections: eligible leader replicas (KIP-966), who has crashed."""

from __future__ import annotations

from typing import Any

from pykbroker.testing.world.mutants.mutant import CLUSTER, Mutant, Patch, instead, returning


def _back_from_a_crash(
    original: Any, partition: Any, isr: Any, unclean: Any, rules: Any, replicas: Any
) -> Any:
    return original(partition, isr, None, rules, replicas)


def _for_ever(
    original: Any, partition: Any, isr: Any, unclean: Any, rules: Any, replicas: Any
) -> Any:
    return original(partition, isr, unclean, rules._replace(min_isr=99), replicas)


def _only_in_sync(
    original: Any,
    partition: Any,
    isr: Any,
    election: Any,
    acceptable: Any,
    replicas: Any = None,
    elr: Any = (),
    **named: Any,
) -> Any:
    """A replica that is only eligible does not count; the last known leader may lead instead."""
    return original(partition, isr, election, acceptable, replicas, (), **named)


ELECTION_MUTANTS = (
    Mutant(
        "nobody-is-eligible",
        "a replica that leaves fewer than min.insync.replicas in sync stays eligible",
        (Patch("kraft.controller.partition_change:eligible_leaders", returning(())),),
        life=CLUSTER,
    ),
    Mutant(
        "eligible-after-a-crash",
        "a replica that restarts after a crash is not eligible",
        (Patch("kraft.controller.partition_change:eligible_leaders", instead(_back_from_a_crash)),),
        life=CLUSTER,
    ),
    Mutant(
        "every-shutdown-is-clean",
        "a broker without a clean shutdown counts as crashed",
        (Patch("kraft.controller.brokers:_was_clean_shutdown", returning(True)),),
        life=CLUSTER,
    ),
    Mutant(
        "eligible-for-ever",
        "no replica is eligible while enough replicas are in sync",
        (Patch("kraft.controller.partition_change:eligible_leaders", instead(_for_ever)),),
        life=CLUSTER,
        seed=1,
    ),
    Mutant(
        "eligible-not-elected",
        "if no replica is in sync, an eligible replica becomes leader",
        (Patch("kraft.controller.partition_change:elect_leader", instead(_only_in_sync)),),
        life=CLUSTER,
        seed=2,
    ),
)
