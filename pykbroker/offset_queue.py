"""Replies that wait until everything up to an offset of a log is committed.

State: the items in the order of their offsets, each with the offset it needs and its deadline.
The owner parks items in this order and gives all of them the same time-out, or none, so neither
offsets nor deadlines decrease from one item to the next: the first item is released and expires
first.
Source of the idea: Kafka's `DeferredEventQueue`.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")

NO_DEADLINE_MS = 1 << 62


class OffsetQueue(Generic[ItemT]):
    """A queue of replies that wait for offsets to be committed."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: deque[tuple[int, int, ItemT]] = deque()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def last_offset(self) -> int | None:
        """The offset that the last item needs; None if the queue is empty."""
        return self._entries[-1][0] if self._entries else None

    @property
    def next_deadline_ms(self) -> int | None:
        """When the first item expires; None if it has no deadline or the queue is empty."""
        if not self._entries:
            return None
        deadline_ms = self._entries[0][1]
        return None if deadline_ms == NO_DEADLINE_MS else deadline_ms

    def park(self, offset: int, item: ItemT, deadline_ms: int = NO_DEADLINE_MS) -> None:
        """Queue `item` until `offset` is reached."""
        self._entries.append((offset, deadline_ms, item))

    def take_back(self) -> ItemT:
        """Remove the last item, whose offset will never be reached. Raises
        IndexError if the queue is empty.
        """
        return self._entries.pop()[2]

    def release_next(self, reached: int) -> ItemT | None:
        """Remove and return the first item if its offset is reached; None if it is not.

        Items are released one at a time, because handling an item may park others or clear the
        queue.
        """
        entries = self._entries
        return entries.popleft()[2] if entries and entries[0][0] <= reached else None

    def expire_next(self, now_ms: int) -> ItemT | None:
        """Remove and return the first item if its deadline has passed; None if it has not."""
        entries = self._entries
        return entries.popleft()[2] if entries and entries[0][1] <= now_ms else None

    def clear(self) -> list[ItemT]:
        """Remove all items and return them, in order."""
        items = [item for _, _, item in self._entries]
        self._entries.clear()
        return items
