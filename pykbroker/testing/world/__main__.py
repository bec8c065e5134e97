"""`python -m pykbroker.testing.world`: lives of simulated nodes, one a seed.

--seeds 1000 --nodes 1      seeds 0 to 999
--seed 17                   one seed, with its timeline at the end
"""

from __future__ import annotations

import argparse
import gc
import logging
import sys
import time
import traceback
from collections.abc import Sequence

from pykbroker.testing.world.mutants.hunt import MUTANTS, hunt
from pykbroker.testing.world.one_node import OneNode
from pykbroker.testing.world.three_voters import ThreeVoters

LINES_SHOWN = 80


def repeat_command(seed: int, nodes: int, scale: int) -> str:
    """What a person types to see this life again."""
    more = f" --scale {scale}" if scale != 1 else ""
    return f"python -m pykbroker.testing.world --seed {seed} --nodes {nodes}{more}"


def live(seed: int, nodes: int, scale: int, level: int = logging.WARNING) -> tuple[str, str]:
    """One life: its digest, and the text of what failed ("" when nothing did)."""
    life = OneNode(seed, scale) if nodes == 1 else ThreeVoters(seed, scale, nodes)
    with life.world.logs_captured(level):
        try:
            return life.run(), ""
        except Exception as failure:
            lines = [
                *life.world.timeline.lines(LINES_SHOWN),
                f"seed {seed}: {type(failure).__name__}: {failure}",
                f"repeat with: {repeat_command(seed, nodes, scale)}",
            ]
            if not isinstance(failure, AssertionError):
                lines.insert(-2, traceback.format_exc())
            return life.world.timeline.digest, "\n".join(lines)


def live_with_mutants(names: Sequence[str], seeds: int) -> int:
    """Break one rule after the other; 1 when a world does not notice one of them."""
    missed = []
    for mutant in MUTANTS:
        if names and mutant.name not in names:
            continue
        caught = hunt(mutant, [mutant.seed, *range(seeds)], lambda seed: live(seed, 1, 1)[1])
        gc.collect()
        if caught is None:
            missed.append(mutant.name)
            print(f"{mutant.name}: NOT noticed ({mutant.rule})", flush=True)
        else:
            shown = caught.failure.splitlines()[-2]
            print(f"{mutant.name}: {shown}", flush=True)
    print(f"{len(MUTANTS)} mutants; not noticed: {missed or 'none'}")
    return 1 if missed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run lives; 1 when one of them failed."""
    parser = argparse.ArgumentParser(prog="pykbroker.testing.world", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="how many seeds")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="one seed alone")
    parser.add_argument("--nodes", type=int, default=1, choices=(1, 3, 5))
    parser.add_argument("--scale", type=int, default=1, help="how many times longer a life is")
    parser.add_argument(
        "--mutants", nargs="*", metavar="NAME", help="break rules (all, or those named) instead"
    )
    parser.add_argument("--verbose", action="store_true", help="log lines of level INFO, too")
    options = parser.parse_args(arguments)
    level = logging.INFO if options.verbose else logging.WARNING
    if options.mutants is not None:
        return live_with_mutants(options.mutants, options.seeds)
    if options.seed is not None:
        digest, failure = live(options.seed, options.nodes, options.scale, level)
        print(failure or f"seed {options.seed}: digest {digest}")
        return 1 if failure else 0
    began = time.monotonic()
    failed = []
    for seed in range(options.first, options.first + options.seeds):
        _, failure = live(seed, options.nodes, options.scale, level)
        if failure:
            failed.append(seed)
            print(failure, flush=True)
        gc.collect()
    took_s = time.monotonic() - began
    print(f"{options.seeds} seeds in {took_s:.1f} s; failed: {failed or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
