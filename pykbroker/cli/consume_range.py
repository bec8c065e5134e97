"""Where `pykbroker consume` begins and ends in each partition: --from and --until.

In: `earliest`, `latest`, an offset, or a time; a consumer of kafka-python, whose isolation level
determines the end offsets. Out: the records between the two.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pykbroker.cli.command import CommandError, is_number
from pykbroker.cli.output_reader import check_reader

_AGO: Final = re.compile(r"(\d+)(ms|s|m|h|d)\Z", re.ASCII)
_UNITS_MS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}

_POLL_MS: Final = 100
_COMMIT_SECONDS: Final = 5.0
#: Numbers between these are more likely milliseconds since 1970 (of 1973 to 2286) than offsets.
_FIRST_TIME_MS: Final = 100_000_000_000
_LAST_TIME_MS: Final = 10_000_000_000_000

Bound = int | str | datetime


def parse_bound(text: str, now: datetime) -> Bound:
    """Parse `earliest`, `latest`, an offset, a time (ISO 8601, local without zone), or 5m (ago)."""
    if text in ("earliest", "latest"):
        return text
    if is_number(text):
        return int(text)
    try:
        if match := _AGO.match(text):
            return now - timedelta(milliseconds=int(match[1]) * _UNITS_MS[match[2]])
        return datetime.fromisoformat(text).astimezone()
    except OverflowError:
        raise CommandError(f"{text!r} is longer ago than the year 1") from None
    except ValueError:
        raise CommandError(
            f"{text!r} is neither earliest, latest, an offset, a time such as "
            "2026-01-31T12:00:00, nor an age such as 5m (ms, s, m, h, d)"
        ) from None


def offsets_of(
    consumer: Any, partitions: Iterable[Any], bound: Bound, *, is_begin: bool = False
) -> dict[Any, int]:
    """Return the offset of a bound in each partition, limited to the existing offsets.

    Raises CommandError for an offset beyond the end of all partitions that leaves nothing to read,
    or that is more likely a time in milliseconds.
    """
    wanted = list(partitions)
    ends: dict[Any, int] = consumer.end_offsets(wanted)
    match bound:
        case "latest":
            return ends
        case "earliest":
            return dict(consumer.beginning_offsets(wanted))
        case datetime():
            at_ms = int(bound.timestamp() * 1000)
            found = consumer.offsets_for_times(dict.fromkeys(wanted, at_ms))
            return {
                each: ends[each] if found.get(each) is None else min(found[each].offset, ends[each])
                for each in wanted
            }
    starts: dict[Any, int] = consumer.beginning_offsets(wanted)
    offset = int(bound)
    end = max(ends.values(), default=0)
    if offset > end and (is_begin or _FIRST_TIME_MS <= offset < _LAST_TIME_MS):
        raise CommandError(_beyond(offset, end))
    return {each: min(max(offset, starts[each]), ends[each]) for each in wanted}


def _beyond(offset: int, end: int) -> str:
    message = f"Offset {offset} is beyond the end, which is {end}"
    if _FIRST_TIME_MS <= offset < _LAST_TIME_MS:
        at = datetime.fromtimestamp(offset / 1000, UTC).isoformat(timespec="milliseconds")
        message += f"; if it is a time in milliseconds, write {at}"
    return message


class ConsumedRange:
    """The records of a topic's partitions between two bounds.

    With a group, a partition's records begin at its committed offset, if there is one, and offsets
    are committed for what the caller has taken. `total` is how many offsets lie between the bounds,
    if both are known.
    """

    def __init__(self, consumer: Any, partitions: list[Any], group: str | None) -> None:
        self._consumer = consumer
        self._partitions = partitions
        self._group = group
        self._next_offsets: dict[Any, int] = {}
        self.total: int | None = None

    def records(self, begin: Bound, until: Bound | None) -> Iterator[Any]:
        """Return an iterator of records as they arrive, until each partition is at its end; `until`
        None never ends. Sets `total`.

        Raises CommandError for impossible bounds, before any record.
        """
        ends = None if until is None else offsets_of(self._consumer, self._partitions, until)
        starts = offsets_of(self._consumer, self._partitions, begin, is_begin=True)
        if self._group is not None:
            starts |= self._committed()
        self._consumer.assign(self._partitions)
        for partition, offset in starts.items():
            self._consumer.seek(partition, offset)
        if ends is not None:
            self.total = sum(max(0, ends[each] - starts[each]) for each in ends)
        return self._received(ends)

    def _received(self, ends: dict[Any, int] | None) -> Iterator[Any]:
        last_commit = time.monotonic()
        while ends is None or not self._is_done(ends):
            polled = self._consumer.poll(timeout_ms=_POLL_MS)
            for partition, records in polled.items():
                yield from self._before_end(partition, records, ends)
            if polled:
                sys.stdout.flush()
            check_reader()
            if time.monotonic() - last_commit >= _COMMIT_SECONDS:
                self.commit()
                last_commit = time.monotonic()

    def commit(self) -> None:
        """Commit what the caller has taken, if there is a group."""
        from kafka.structs import OffsetAndMetadata

        if self._group is not None and self._next_offsets:
            offsets = {
                partition: OffsetAndMetadata(offset, "", -1)
                for partition, offset in self._next_offsets.items()
            }
            self._next_offsets.clear()
            self._consumer.commit(offsets)

    def _committed(self) -> dict[Any, int]:
        """Return the group's offsets; partitions without one begin as without a group."""
        found = {each: self._consumer.committed(each) for each in self._partitions}
        return {partition: offset for partition, offset in found.items() if offset is not None}

    def _before_end(
        self, partition: Any, records: Iterable[Any], ends: dict[Any, int] | None
    ) -> Iterator[Any]:
        for record in records:
            if ends is not None and record.offset >= ends[partition]:
                self._consumer.pause(partition)
                return
            self._next_offsets[partition] = record.offset + 1
            yield record

    def _is_done(self, ends: dict[Any, int]) -> bool:
        return all(self._consumer.position(each) >= end for each, end in ends.items())
