"""The partitions of a view, and its rows, partition by partition."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from pykbroker.offline.faults import BadOption
from pykbroker.offline.partition_files import PartitionFiles
from pykbroker.offline.reader import Names, names_of, numbers_of
from pykbroker.offline.selecting import look_at_each
from pykbroker.offline.split import Selection

_Row = TypeVar("_Row")


def view_selection(
    paths: Names | Selection,
    topics: str | Iterable[str] | None,
    partitions: Collection[int] | None,
) -> Selection:
    """Return the selection; BadOption if topics or partitions are given beside one."""
    if not isinstance(paths, Selection):
        return Selection(
            paths=names_of(paths) or (), topics=names_of(topics), partitions=numbers_of(partitions)
        )
    if topics is not None or partitions is not None:
        raise BadOption("a Selection already names topics and partitions: do not pass them as well")
    return paths


def of_partitions(
    selection: Selection, rows_of: Callable[[PartitionFiles], list[_Row]]
) -> list[_Row]:
    """Return the rows of all partitions; restart one whose segments are replaced meanwhile."""
    return [row for rows in look_at_each(selection, rows_of) for row in rows]
