"""Resolves a Selection to partitions, and reads each one while its files come and go."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from pykbroker.offline.faults import OffsetsGone, SegmentGone, UnknownTopic
from pykbroker.offline.layout import find_partitions, read_partitions
from pykbroker.offline.partition_files import PartitionFiles
from pykbroker.offline.snapshot_sizes import refuse_changed
from pykbroker.offline.split import INTERNAL_TOPICS, Selection, topic_pattern
from pykbroker.types import TopicPartition

_MOST_TRIES: Final = 10
_Found = TypeVar("_Found")


def select_partitions(selection: Selection) -> list[TopicPartition]:
    """Return the partitions that a selection names; raises UnknownTopic for a name that does not
    exist.
    """
    there = find_partitions(selection.paths)
    where = ", ".join(selection.paths)
    _check_topics(selection.topics or (), there, where)
    for offsets in (selection.start_offsets, selection.end_offsets):
        if isinstance(offsets, Mapping):
            _check_pairs(_pairs_of(offsets), there, where)
    if selection.only is not None:
        _check_pairs(selection.only, there, where)
        return sorted(selection.only)
    pattern = None if selection.topic_pattern is None else topic_pattern(selection.topic_pattern)
    chosen = [each for each in there if _is_chosen(each, selection, pattern)]
    if selection.partitions is not None and pattern is None:
        for number in sorted(selection.partitions - {each.partition for each in chosen}):
            shown = ", ".join(selection.topics or ("any topic",))
            raise UnknownTopic(f"no partition {number} of {shown} in {where}")
    return chosen


def _check_topics(topics: Iterable[str], there: Sequence[TopicPartition], where: str) -> None:
    names = {each.topic for each in there}
    for topic in topics:
        if topic not in names:
            known = ", ".join(sorted(names)[:10]) or "none"
            raise UnknownTopic(f"no topic {topic!r} in {where}; there are {known}")


def _check_pairs(
    named: Iterable[TopicPartition], there: Sequence[TopicPartition], where: str
) -> None:
    for each in sorted(set(named).difference(there)):
        raise UnknownTopic(f"no partition {each} in {where}")


def _pairs_of(offsets: Mapping[str, Mapping[int, int]]) -> Iterator[TopicPartition]:
    for topic, by_partition in offsets.items():
        for partition in by_partition:
            yield TopicPartition(topic, partition)


def _is_chosen(each: TopicPartition, selection: Selection, pattern: re.Pattern[str] | None) -> bool:
    if selection.partitions is not None and each.partition not in selection.partitions:
        return False
    if selection.topics is not None:
        return each.topic in selection.topics
    if pattern is not None:
        return pattern.fullmatch(each.topic) is not None
    return each.topic not in INTERNAL_TOPICS


def look_at_each(
    selection: Selection,
    look: Callable[[PartitionFiles], _Found],
    *,
    may_be_faulty: bool = False,
) -> list[_Found]:
    """Return the result of `look` for each partition of a selection, in order; see `while_listed`.

    A partition that is deleted meanwhile is left out; UnknownTopic is raised if the selection has
    `topics` or `only`.
    """
    chosen = select_partitions(selection)
    listed = {
        TopicPartition(files.topic, files.partition): files
        for files in read_partitions(selection.paths, chosen, may_be_faulty=may_be_faulty)
    }
    found: list[_Found] = []
    for partition in chosen:
        files = listed.get(partition)
        seen = (
            None
            if files is None
            else while_listed(selection.paths, files, look, may_be_faulty=may_be_faulty)
        )
        if seen is not None:
            found.append(seen)
        elif selection.topics is not None or selection.only is not None:
            raise UnknownTopic(f"{partition} was deleted while it was being read")
    return found


def while_listed(
    paths: Iterable[str],
    files: PartitionFiles,
    look: Callable[[PartitionFiles], _Found],
    *,
    may_be_faulty: bool = False,
) -> _Found | None:
    """Return the result of `look` for a partition; None if it was deleted meanwhile.

    FileNotFoundError and SegmentGone are taken for compaction or retention, and the directory is
    listed again; after ten times, OffsetsGone is raised. Unless `may_be_faulty`, OfflineError is
    raised for faults that prevent reading and for a snapshot that has changed.
    """
    wanted = [TopicPartition(files.topic, files.partition)]
    paths = tuple(paths)
    found = [files]
    for _ in range(_MOST_TRIES):
        try:
            if not may_be_faulty:
                refuse_changed(found[0])
            return look(found[0])
        except (FileNotFoundError, SegmentGone):
            found = read_partitions(paths, wanted, may_be_faulty=may_be_faulty)
            if not found:
                return None
    raise OffsetsGone(
        f"segments of {files} are deleted faster than they can be listed in {files.directory}"
    )
