"""Samples as plain values, and their text in Prometheus' format.

In:  values that the event loop reads from the node's state.
Out: `render(families)`, bytes; slow for very many samples, so it runs in a thread. Nothing here
     refers to the node's state any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[str, ...]


class Kind(Enum):
    """The Prometheus type of a family. Names of counters end in `_total`, or in `_count` as in
    jmx_exporter; Prometheus' own library would rename the latter, so they are untyped.
    """

    COUNTER = "counter"
    GAUGE = "gauge"
    UNTYPED = "untyped"


class Family:
    """All samples of one name; `samples` are pairs of label values and the value."""

    __slots__ = ("help", "kind", "labels", "name", "samples")

    def __init__(self, name: str, kind: Kind, help_: str, labels: Labels) -> None:
        self.name = name
        self.kind = kind
        self.help = help_
        self.labels = labels
        self.samples: list[tuple[Labels, float]] = []

    def add(self, value: float, *labels: str) -> None:
        """Add a sample, with a value for each of the labels."""
        self.samples.append((labels, value))


class Histogram:
    """Counts by upper bound, for each combination of labels."""

    __slots__ = ("help", "labels", "name", "samples")

    def __init__(self, name: str, help_: str, labels: Labels) -> None:
        self.name = name
        self.help = help_
        self.labels = labels
        self.samples: list[tuple[Labels, Sequence[float], Sequence[int], float]] = []

    def add(
        self, bounds: Sequence[float], counts: Sequence[int], total: float, *labels: str
    ) -> None:
        """`counts[i]` were at most `bounds[i]` and above the bound before; the last count is of
        those above all bounds. total: the sum of the values.
        """
        self.samples.append((labels, bounds, tuple(counts), total))


class Families:
    """The families of one collection, by name."""

    def __init__(self) -> None:
        self._by_name: dict[str, Family | Histogram] = {}

    def counter(self, name: str, help_: str, *labels: str) -> Family:
        """Return the family of counters with this name; create it if it is new."""
        return self._family(name, Kind.COUNTER, help_, labels)

    def gauge(self, name: str, help_: str, *labels: str) -> Family:
        """Return the family of gauges with this name; create it if it is new."""
        return self._family(name, Kind.GAUGE, help_, labels)

    def untyped(self, name: str, help_: str, *labels: str) -> Family:
        """Return an untyped family."""
        return self._family(name, Kind.UNTYPED, help_, labels)

    def histogram(self, name: str, help_: str, *labels: str) -> Histogram:
        """A new histogram."""
        histogram = self._by_name[name] = Histogram(name, help_, labels)
        return histogram

    def _family(self, name: str, kind: Kind, help_: str, labels: Labels) -> Family:
        family = self._by_name.get(name)
        if family is None:
            family = self._by_name[name] = Family(name, kind, help_, labels)
        assert isinstance(family, Family)
        return family

    def __iter__(self) -> Iterator[Family | Histogram]:
        return iter(self._by_name.values())

    def __getitem__(self, name: str) -> Family | Histogram:
        return self._by_name[name]


def render(families: Iterable[Family | Histogram]) -> bytes:
    """Return the text of all samples, and of prometheus-client's metrics of the process and the
    garbage collector.
    """
    from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
    from prometheus_client.exposition import generate_latest

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Rendered(families))
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    return generate_latest(registry)


class _Rendered:
    """Families as a collector of prometheus-client."""

    def __init__(self, families: Iterable[Family | Histogram]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        """See prometheus_client.registry.Collector."""
        return map(_metric, self._families)


def _metric(family: Family | Histogram) -> Metric:
    from prometheus_client.metrics_core import HistogramMetricFamily, Metric

    if isinstance(family, Histogram):
        histogram = HistogramMetricFamily(family.name, family.help, labels=family.labels)
        for labels, bounds, counts, total in family.samples:
            histogram.add_metric(labels, _cumulated(bounds, counts), total)
        return histogram
    is_counter = family.kind is Kind.COUNTER
    name = family.name.removesuffix("_total") if is_counter else family.name
    metric = Metric(name, family.help, family.kind.value)
    for values, value in family.samples:
        named: dict[str, Any] = dict(zip(family.labels, values, strict=True))
        metric.add_sample(family.name, named, value)
    return metric


def _cumulated(bounds: Sequence[float], counts: Sequence[int]) -> list[tuple[str, float]]:
    buckets: list[tuple[str, float]] = []
    below = 0
    for bound, count in zip((*map(str, bounds), "+Inf"), counts, strict=True):
        below += count
        buckets.append((bound, float(below)))
    return buckets
