"""Finding the seed whose life shows a mutant."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pykbroker.testing.world.mutants.election_mutants import ELECTION_MUTANTS
from pykbroker.testing.world.mutants.group_mutants import GROUP_MUTANTS
from pykbroker.testing.world.mutants.log_mutants import LOG_MUTANTS
from pykbroker.testing.world.mutants.metadata_mutants import METADATA_MUTANTS
from pykbroker.testing.world.mutants.move_mutants import MOVE_MUTANTS
from pykbroker.testing.world.mutants.mutant import Mutant, applied
from pykbroker.testing.world.mutants.raft_mutants import RAFT_MUTANTS
from pykbroker.testing.world.mutants.replication_mutants import REPLICATION_MUTANTS
from pykbroker.testing.world.mutants.serving_mutants import SERVING_MUTANTS
from pykbroker.testing.world.mutants.transaction_mutants import TRANSACTION_MUTANTS
from pykbroker.values import NamedTuple

MUTANTS: tuple[Mutant, ...] = (
    *LOG_MUTANTS,
    *SERVING_MUTANTS,
    *GROUP_MUTANTS,
    *METADATA_MUTANTS,
    *TRANSACTION_MUTANTS,
    *RAFT_MUTANTS,
    *REPLICATION_MUTANTS,
    *ELECTION_MUTANTS,
    *MOVE_MUTANTS,
)


MISTAKES = ("AttributeError", "NameError", "TypeError")


class BrokenMutant(Exception):
    """A mutant failed by a mistake of its own, as when what it breaks has changed: that shows
    nothing about its rule.
    """


class Caught(NamedTuple):
    """Which life showed a mutant, and how."""

    seed: int
    failure: str


def hunt(mutant: Mutant, seeds: Iterable[int], failure_of: Callable[[int], str]) -> Caught | None:
    """Live with the mutant, one seed after the other; return the first that shows it, or None.
    `failure_of(seed)` is "" when nothing was noticed. Raises BrokenMutant.
    """
    with applied(mutant):
        for seed in seeds:
            failure = failure_of(seed)
            if any(f"seed {seed}: {mistake}: " in failure for mistake in MISTAKES):
                raise BrokenMutant(f"{mutant.name}: {failure}")
            if failure:
                return Caught(seed, failure)
    return None
