"""Rows of a benchmark that runs turns of work: microseconds of processor time for each unit.

In      functions that run one turn, timed by a stopwatch, and return the number of its units.
Out     printed rows: the median and the best of several rounds. A round is as long as its median
        turn, so that one turn that was interrupted does not count.
"""

from __future__ import annotations

import cProfile
import pstats
import statistics
import time
from collections.abc import Callable, Sequence

from benchmarks.command_line import times

Turn = Callable[[], int]


class Stopwatch:
    """Processor time of this thread, while it runs."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.thread_time()

    def __exit__(self, *error: object) -> None:
        self.seconds += time.thread_time() - self._started


class Report:
    """Measures and prints rows: microseconds a unit."""

    def __init__(self, rounds: int, scale: float, profiled: str | None) -> None:
        self._rounds = rounds
        self._scale = scale
        self._profiled = profiled

    def row(self, name: str, watch: Stopwatch, turn: Turn, turns: int) -> None:
        """Measure `turn`, which runs one turn, timed by `watch`, and returns its units."""
        self._print(name, [figures[0] for figures in self._measure([name], watch, [turn], turns)])

    def pair(
        self, names: tuple[str, str], watch: Stopwatch, pair: tuple[Turn, Turn], turns: int
    ) -> None:
        """Measure two kinds of turn, which alternate, and how much more the second one costs."""
        rounds = self._measure(names, watch, pair, turns)
        for number, name in enumerate(names):
            self._print(name, [figures[number] for figures in rounds])
        self._print(f"{names[1]}, on top of one", [more - less for less, more in rounds])

    def _measure(
        self, names: Sequence[str], watch: Stopwatch, kinds: Sequence[Turn], turns: int
    ) -> list[list[float]]:
        """Return, for each round, what a unit of each kind costs in the median turn."""
        profilers = [
            cProfile.Profile() if self._profiled and self._profiled in name else None
            for name in names
        ]
        rounds = []
        for _ in range(self._rounds):
            spent: list[list[float]] = [[] for _ in kinds]
            for _ in range(times(turns, self._scale)):
                for turn, profiler, each in zip(kinds, profilers, spent, strict=True):
                    watch.seconds = 0.0
                    units = turn() if profiler is None else profiler.runcall(turn)
                    each.append(watch.seconds / units * 1e6)
            rounds.append([statistics.median(each) for each in spent])
        for profiler in profilers:
            if profiler is not None:
                pstats.Stats(profiler).sort_stats("tottime").print_stats(30)
        return rounds

    @staticmethod
    def _print(name: str, rounds: Sequence[float]) -> None:
        print(f"{name:56} {statistics.median(rounds):8.2f} us (best {min(rounds):.2f})", flush=True)
