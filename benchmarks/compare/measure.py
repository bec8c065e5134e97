"""The definition and measurement of a row: rounds that alternate between the two servers."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.compare.servers import Server, Servers

Load = Callable[[Server, float], float]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    load: `(server, scale) -> figure`; runs the work once on one server.
    lower_is_better: for times and sizes; the printed ratio is always "above 1 is better".
    goal: the least ratio that is asked for; None when nothing is.
    """

    name: str
    unit: str
    load: Load
    goal: float | None = None
    lower_is_better: bool = False


@dataclass(frozen=True)
class Outcome:
    """The figures of one row, a pair per round."""

    row: Row
    pairs: list[tuple[float, float]]

    @property
    def ours(self) -> float:
        """Return the median figure of pykbroker."""
        return statistics.median(ours for ours, _ in self.pairs)

    @property
    def apache(self) -> float:
        """Return the median figure of Apache Kafka."""
        return statistics.median(apache for _, apache in self.pairs)

    @property
    def ratios(self) -> list[float]:
        """Return the ratio of each round, above 1 if pykbroker is better."""
        if self.row.lower_is_better:
            return [apache / ours for ours, apache in self.pairs]
        return [ours / apache for ours, apache in self.pairs]

    @property
    def ratio(self) -> float:
        """Return the median of the rounds' ratios."""
        return statistics.median(self.ratios)

    def as_json(self) -> dict[str, Any]:
        """Return the outcome for `--json`."""
        return {
            "row": self.row.name,
            "unit": self.row.unit,
            "pykbroker": self.ours,
            "apache": self.apache,
            "ratio": self.ratio,
            "ratios": self.ratios,
            "goal": self.row.goal,
        }


def measure(
    row: Row, servers: Servers, rounds: int, scale: float, *, is_warm: bool = True
) -> Outcome:
    """Run a warm-up of each server if `is_warm` (the JVM compiles), then `rounds` pairs, A B A B
    ...
    """
    if is_warm:
        row.load(servers.ours, scale / 4)
        row.load(servers.apache, scale / 4)
    pairs = []
    for _ in range(rounds):
        ours = row.load(servers.ours, scale)
        apache = row.load(servers.apache, scale)
        pairs.append((ours, apache))
    return Outcome(row, pairs)
