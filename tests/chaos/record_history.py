"""What producers were promised and readers were shown, and the verdict on it.

A record's value is `PRODUCER NUMBER`; each producer numbers its records from 0 on, over all
partitions, and retries for ever: when it has been flushed, everything that it sent was
acknowledged, and the log holds each of its numbers once, in ascending order in each partition.

State: acknowledgements, sightings, refusals. In: `acknowledge`, `refuse`, `see`. Out: `verdict`.
Threads: called by all of them; one lock.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

Place = tuple[str, int]
"""Topic and partition."""
Log = Sequence[tuple[int, str]]
"""(offset, value) of a partition, in the order of a read from the beginning."""

MOST_OF_A_KIND = 5
PATIENCE_S = 300.0
PATIENCE_WITH_FAULTS_S = 20.0


class RecordHistory:
    """See the module's text."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.acknowledged: defaultdict[Place, dict[int, str]] = defaultdict(dict)
        self.seen: defaultdict[Place, dict[int, str]] = defaultdict(dict)
        self.sent: Counter[str] = Counter()
        self._faults: list[str] = []

    def acknowledge(self, place: Place, offset: int, value: str) -> None:
        """Record that the producer's `value` was acknowledged at `offset`."""
        with self._lock:
            known = self.acknowledged[place].setdefault(offset, value)
            if known != value:
                self._faults.append(f"{place} {offset}: acknowledged for {known} and for {value}")

    def refuse(self, value: str, reason: str) -> None:
        """Record that the producer gave up on `value`, which is always a violation."""
        with self._lock:
            self._faults.append(f"the producer gave up on {value}: {reason}")

    def see(self, place: Place, offset: int, value: str) -> None:
        """Record that a consumer received `value` at `offset` during the faults."""
        with self._lock:
            known = self.seen[place].setdefault(offset, value)
            if known != value:
                self._faults.append(f"{place} {offset}: read as {known} and as {value}")

    def note(self, fault: str) -> None:
        """Record any other violation."""
        with self._lock:
            self._faults.append(fault)

    @property
    def patience_s(self) -> float:
        """How long to wait for outstanding records; only briefly once there is a violation."""
        return PATIENCE_WITH_FAULTS_S if self._faults else PATIENCE_S

    def verdict(self, logs: Mapping[Place, Log]) -> list[str]:
        """Return the violations, given the final contents of the partitions."""
        faults = _first_of(self._faults, "noted")
        for place, log in logs.items():
            at = dict(log)
            for kind, promised in (("acknowledged", self.acknowledged), ("read", self.seen)):
                wrong = [
                    f"{place} {offset}: {value} was {kind}, but the log has "
                    f"{at.get(offset, 'nothing')}"
                    for offset, value in sorted(promised[place].items())
                    if at.get(offset) != value
                ]
                faults += _first_of(wrong, f"{kind} but lost")
            faults += _first_of(_order_faults(place, log), "out of order")
        faults += _count_faults(self.sent, logs)
        unread = [place for place in logs if len(self.seen[place]) < len(logs[place])]
        return faults + [f"{place}: the group has not seen every record" for place in unread]


def _order_faults(place: Place, log: Log) -> list[str]:
    """Return where a producer's numbers or the offsets do not ascend."""
    faults = []
    last_offset = -1
    last: dict[str, int] = {}
    for offset, value in log:
        if offset <= last_offset:
            faults.append(f"{place}: offset {offset} after {last_offset}")
        last_offset = offset
        producer, number = _parse(value)
        if number <= last.get(producer, -1):
            faults.append(f"{place} {offset}: {value} after number {last[producer]}")
        last[producer] = max(number, last.get(producer, -1))
    return faults


def _count_faults(sent: Mapping[str, int], logs: Mapping[Place, Log]) -> list[str]:
    """Return which numbers of a producer are not stored exactly once."""
    found: Counter[str] = Counter(value for log in logs.values() for _, value in log)
    twice = [f"{value} is stored {count} times" for value, count in found.items() if count > 1]
    missing = [
        f"{producer} {number} is missing"
        for producer, count in sorted(sent.items())
        for number in range(count)
        if f"{producer} {number}" not in found
    ]
    unknown = [
        f"{value} was never sent"
        for value in found
        if (parsed := _parse(value))[1] >= sent.get(parsed[0], 0)
    ]
    return (
        _first_of(twice, "there twice")
        + _first_of(missing, "lost")
        + _first_of(unknown, "there and never sent")
    )


def _parse(value: str) -> tuple[str, int]:
    producer, _, number = value.rpartition(" ")
    return producer, int(number)


def _first_of(faults: list[str], kind: str) -> list[str]:
    """A few of many."""
    if len(faults) <= MOST_OF_A_KIND:
        return list(faults)
    return [*faults[:MOST_OF_A_KIND], f"... {len(faults)} in all are {kind}"]
