"""`python -m pykbroker.testing.world`: run lives of simulated nodes, one for each seed.

--seeds 1000                            seeds 0 to 999, each a life of one node
--seeds 1000 --nodes 3                  a quorum of three that replicates metadata
--seeds 1000 --nodes 3 --controllers 7  seven voters, and three brokers that observe them
--seeds 1000 --nodes 3 --life cluster   three brokers that replicate partitions as well
--seeds 1000 --nodes 3 --life cluster --controllers 5     the same with five separate controllers
--seed 17                               only this seed

For a life that fails the end of its timeline, the failure and the command that repeats it are
printed, and the exit code is 1. With --mutants, one line for each broken rule is printed, and the
exit code is 1 if one was not noticed.
"""

from __future__ import annotations

import argparse
import gc
import logging
import sys
import time
import traceback
from collections.abc import Sequence
from functools import partial

from pykbroker.testing.world.mutants.hunt import MUTANTS, hunt
from pykbroker.testing.world.mutants.mutant import CLUSTER, ONE_NODE, QUORUM
from pykbroker.testing.world.one_node import OneNode
from pykbroker.testing.world.several_brokers import SeveralBrokers
from pykbroker.testing.world.shape import Shape
from pykbroker.testing.world.three_voters import ThreeVoters
from pykbroker.values import NamedTuple

LINES_SHOWN = 80


class Kind(NamedTuple):
    """The kind of lives to run."""

    nodes: int = 1
    scale: int = 1
    is_cluster: bool = False
    controllers: int = 0

    def life(self, seed: int) -> OneNode | ThreeVoters | SeveralBrokers:
        """Return a life that has not started."""
        shape = Shape(self.nodes, self.controllers)
        if self.is_cluster:
            return SeveralBrokers(seed, self.scale, shape)
        if self.nodes == 1 and not self.controllers:
            return OneNode(seed, self.scale)
        return ThreeVoters(seed, self.scale, shape)

    def repeat_command(self, seed: int) -> str:
        """Return the command that repeats this life."""
        more = " --life cluster" if self.is_cluster else ""
        more += f" --controllers {self.controllers}" if self.controllers else ""
        more += f" --scale {self.scale}" if self.scale != 1 else ""
        return f"python -m pykbroker.testing.world --seed {seed} --nodes {self.nodes}{more}"


def live(seed: int, kind: Kind, level: int = logging.WARNING) -> tuple[str, str]:
    """Run one life; return its digest, and a report of its failure ("" if there was none)."""
    life = kind.life(seed)
    with life.world.logs_captured(level):
        try:
            return life.run(), ""
        except Exception as failure:
            lines = [
                *life.world.timeline.lines(LINES_SHOWN),
                f"seed {seed}: {type(failure).__name__}: {failure}",
                f"repeat with: {kind.repeat_command(seed)}",
            ]
            if not isinstance(failure, AssertionError):
                lines.insert(-2, traceback.format_exc())
            return life.world.timeline.digest, "\n".join(lines)


KINDS = {ONE_NODE: Kind(), QUORUM: Kind(nodes=3), CLUSTER: Kind(nodes=3, is_cluster=True)}
"""How the lives that mutants name are lived."""


def failure_of(kind: Kind, seed: int) -> str:
    """Return the report of `live`: "" if the life did not fail."""
    return live(seed, kind)[1]


def live_with_mutants(names: Sequence[str], seeds: int) -> int:
    """Break these rules (all, if none is named), one at a time; return 1 if one goes unnoticed."""
    missed = []
    chosen = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    for mutant in chosen:
        caught = hunt(mutant, [mutant.seed, *range(seeds)], partial(failure_of, KINDS[mutant.life]))
        gc.collect()
        if caught is None:
            missed.append(mutant.name)
            print(f"{mutant.name}: NOT noticed ({mutant.rule})", flush=True)
        else:
            shown = caught.failure.splitlines()[-2]
            print(f"{mutant.name}: {shown}", flush=True)
    print(f"{len(chosen)} mutants; not noticed: {missed or 'none'}")
    return 1 if missed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run lives as the arguments say; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m pykbroker.testing.world",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--seeds", type=int, default=100, help="number of seeds (default %(default)s)"
    )
    parser.add_argument("--first", type=int, default=0, help="first seed (default %(default)s)")
    parser.add_argument("--seed", type=int, help="run only this seed, and print its digest")
    parser.add_argument(
        "--nodes",
        type=int,
        default=1,
        help="number of nodes (default %(default)s); 3, 5 or 7 hold elections",
    )
    parser.add_argument(
        "--life",
        choices=("metadata", "cluster"),
        default="metadata",
        help="what several nodes replicate: metadata alone, or partitions as well "
        "(default %(default)s)",
    )
    parser.add_argument(
        "--controllers",
        type=int,
        default=0,
        help="number of separate controllers; 0: the nodes are voters (default %(default)s)",
    )
    parser.add_argument(
        "--scale",
        type=int,
        default=1,
        help="multiply the length of a life by this (default %(default)s)",
    )
    parser.add_argument(
        "--mutants",
        nargs="*",
        metavar="NAME",
        choices=[mutant.name for mutant in MUTANTS],
        help="break rules one at a time (all, or those named), and check that each is noticed",
    )
    parser.add_argument(
        "--verbose", action="store_true", help="include INFO log lines in the timeline"
    )
    options = parser.parse_args(arguments)
    level = logging.INFO if options.verbose else logging.WARNING
    kind = Kind(options.nodes, options.scale, options.life == "cluster", options.controllers)
    if options.mutants is not None:
        return live_with_mutants(options.mutants, options.seeds)
    if options.seed is not None:
        digest, failure = live(options.seed, kind, level)
        print(failure or f"seed {options.seed}: digest {digest}")
        return 1 if failure else 0
    began = time.monotonic()
    failed = []
    for seed in range(options.first, options.first + options.seeds):
        _, failure = live(seed, kind, level)
        if failure:
            failed.append(seed)
            print(failure, flush=True)
        gc.collect()
    took_s = time.monotonic() - began
    print(f"{options.seeds} seeds in {took_s:.1f} s; failed: {failed or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
