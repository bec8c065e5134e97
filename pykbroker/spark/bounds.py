"""Start and end of a read, with the options of Spark's Kafka source, and the JSON of its offsets.

    earliest | latest
    {"topic": {"0": 23, "1": -2}}            offsets; -2 earliest, -1 latest
    {"topic": {"0": 1700000000000}}          ...ByTimestamp: the first record at or after it
    1700000000000                            ...Timestamp: the same for all partitions

A time is converted to an offset: everything from that offset on (as an end: before it) is read,
whatever its time. (A filter on the column `timestamp` checks every record instead.)
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pykbroker.offline import OffsetsGone
from pykbroker.spark.faults import OptionError
from pykbroker.types import TopicPartition

EARLIEST: Final = -2
LATEST: Final = -1

_Key = TypeVar("_Key")
Ends = Mapping[TopicPartition, tuple[int, int]]
OffsetsByPartition = dict[TopicPartition, int]
#: The form in checkpoints: topic -> partition as text -> offset.
OffsetsNode = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Bound:
    """One end of a range: `all_at` for all partitions, or `by_partition`; times if `is_time`."""

    option: str
    all_at: int | None = None
    by_partition: Mapping[TopicPartition, int] | None = None
    is_time: bool = False

    @property
    def is_latest(self) -> bool:
        return self.all_at == LATEST and not self.is_time


def parse_offsets(option: str, text: str) -> Bound:
    """Parse `earliest`, `latest`, or JSON of offsets."""
    named = {"earliest": EARLIEST, "latest": LATEST}.get(text.strip().lower())
    if named is not None:
        return Bound(option, all_at=named)
    offsets = parse_partition_values(option, text, "earliest, latest, or ")
    if min(offsets.values()) < EARLIEST:
        raise OptionError(option, f"must be -2 (earliest), -1 (latest), or offsets, not {text!r}")
    return Bound(option, by_partition=offsets)


def parse_partition_values(option: str, text: str, others: str = "") -> OffsetsByPartition:
    """Parse {"topic": {"0": number}}; `others` names the other values that the option accepts."""
    try:
        node = _parse_json(text)
        found = _each_once(
            (TopicPartition(topic, _number(partition)), value)
            for topic, partitions in node.items()
            for partition, value in partitions.items()
        )
    except (ValueError, AttributeError):
        found = None
    if not found or not all(type(value) is int for value in found.values()):
        raise OptionError(
            option, f'must be {others}JSON such as {{"topicA":{{"0":23,"1":-1}}}}, not {text!r}'
        )
    return found


def parse_assign(text: str) -> frozenset[TopicPartition]:
    """{"topic": [0, 1]}"""
    try:
        node = _parse_json(text)
        pairs = [(topic, partition) for topic, those in node.items() for partition in those]
        found = frozenset(TopicPartition(topic, _number(str(part))) for topic, part in pairs)
    except (ValueError, AttributeError, TypeError):
        found = frozenset()
    if not found:
        raise OptionError("assign", f'must be JSON such as {{"topicA":[0,1]}}, not {text!r}')
    return found


def _parse_json(text: str) -> Any:
    """Parse JSON; raises ValueError also for a duplicate key, because one of
    its values would be lost.
    """
    return json.loads(text, object_pairs_hook=_each_once)


def _each_once(pairs: Iterable[tuple[_Key, Any]]) -> dict[_Key, Any]:
    found: dict[_Key, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{key} is given twice")
        found[key] = value
    return found


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"not a partition number: {text!r}")
    return int(text)


def check_complete(bound: Bound, partitions: Ends) -> None:
    """Check, like the connector, that offsets or times are given for all partitions or none."""
    if bound.by_partition is None or set(bound.by_partition) == set(partitions):
        return

    def shown(those: object) -> str:
        assert isinstance(those, set)
        return ", ".join(f"{each.topic}-{each.partition}" for each in sorted(those)) or "none"

    missing = set(partitions) - set(bound.by_partition)
    unknown = set(bound.by_partition) - set(partitions)
    raise OptionError(
        bound.option,
        "must name all partitions that are read (use -1 for latest or -2 for earliest); "
        f"missing: {shown(missing)}; not read: {shown(unknown)}",
    )


def resolve(
    bound: Bound,
    ends: Ends,
    offset_at: Callable[[TopicPartition, int], int | None],
    latest_without_match: bool,
) -> OffsetsByPartition:
    """Return the offset of each partition; `offset_at` finds the first record at
    or after a time.
    """
    check_complete(bound, ends)
    found: OffsetsByPartition = {}
    for partition, (low, high) in ends.items():
        value = bound.all_at
        if bound.by_partition is not None:
            value = bound.by_partition[partition]
        assert value is not None
        if value in (EARLIEST, LATEST):
            found[partition] = low if value == EARLIEST else high
        elif not bound.is_time:
            found[partition] = value
        else:
            offset = offset_at(partition, value)
            if offset is not None and offset >= high:
                offset = None  # behind what may be read
            if offset is None and not latest_without_match:
                raise OptionError(
                    bound.option,
                    f"no record of {partition.topic}-{partition.partition} is at or after {value} "
                    "(startingOffsetsByTimestampStrategy=latest starts at the end)",
                )
            found[partition] = high if offset is None else offset
    return found


def check_order(start: OffsetsByPartition, end: OffsetsByPartition) -> None:
    """Check, like the connector, that no start is after its end; such a
    partition is not silently skipped.
    """
    for partition in sorted(end):
        if start[partition] > end[partition]:
            raise OptionError(
                "startingOffsets",
                f"the start offset {start[partition]} of {partition.topic}-{partition.partition} "
                f"is greater than the end offset {end[partition]}",
            )


def clamp(
    offsets: OffsetsByPartition, ends: Ends, what: str, fail_on_data_loss: bool
) -> OffsetsByPartition:
    """Limit offsets to the available range, or raise OffsetsGone if data loss is to fail."""
    found: OffsetsByPartition = {}
    for partition, offset in offsets.items():
        low, high = ends[partition]
        if fail_on_data_loss and not low <= offset <= high:
            raise OffsetsGone(
                f"{what} offset {offset} of {partition.topic}-{partition.partition} is not there: "
                f"its offsets are {low} to {high} (failOnDataLoss=false reads what there is)"
            )
        found[partition] = min(max(offset, low), high)
    return found


def to_node(offsets: Mapping[TopicPartition, int]) -> OffsetsNode:
    """Return the form in checkpoints, always in the same order: equal offsets give equal text."""
    node: OffsetsNode = {}
    for partition in sorted(offsets):
        node.setdefault(partition.topic, {})[str(partition.partition)] = offsets[partition]
    return node


def from_node(node: Mapping[str, Mapping[str, Any]]) -> OffsetsByPartition:
    """Parse the offsets of a checkpoint."""
    return {
        TopicPartition(topic, int(partition)): int(offset)
        for topic, partitions in node.items()
        for partition, offset in partitions.items()
    }


def by_topic(offsets: Mapping[TopicPartition, int]) -> dict[str, dict[int, int]]:
    """Return the offsets in the form of a Selection."""
    found: dict[str, dict[int, int]] = {}
    for (topic, partition), offset in offsets.items():
        found.setdefault(topic, {})[partition] = offset
    return found


def limited(
    start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int], limit: int
) -> OffsetsByPartition:
    """Return ends about `limit` offsets away in all: each partition gets a share, none starves."""
    sizes = {each: end[each] - start[each] for each in end if end[each] > start[each]}
    total = sum(sizes.values())
    found = dict(end)
    if total <= limit:
        return found
    for each, size in sizes.items():
        share = limit * (size / total)
        taken = math.ceil(share) if share < 1 else math.floor(share)
        found[each] = min(end[each], start[each] + taken)
    return found
