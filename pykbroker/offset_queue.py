"""Replies that wait until everything up to an offset of a log is committed.

State: the items in the order of their offsets; of each, the offset it needs and its deadline.
In:  park, release, expire, take_back, clear. Out: the items that need wait no longer, in order.
Invariants: offsets never go down from one item to the next, and neither do deadlines: an owner
gives all its items the same time. So whoever is first in the queue is released and expires first.
Source of the idea: Kafka's `DeferredEventQueue`.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")

NO_DEADLINE_MS = 1 << 62


class OffsetQueue(Generic[ItemT]):
    """See the module's text."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: deque[tuple[int, int, ItemT]] = deque()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def last_offset(self) -> int | None:
        """The offset that the latest item needs; None when nothing waits."""
        return self._entries[-1][0] if self._entries else None

    @property
    def next_deadline_ms(self) -> int | None:
        """When the first item expires; None when none does."""
        if not self._entries:
            return None
        deadline_ms = self._entries[0][1]
        return None if deadline_ms == NO_DEADLINE_MS else deadline_ms

    def park(self, offset: int, item: ItemT, deadline_ms: int = NO_DEADLINE_MS) -> None:
        """Hold `item` until `offset` is reached."""
        self._entries.append((offset, deadline_ms, item))

    def take_back(self) -> ItemT:
        """Remove the latest item: what it waits for will not come. IndexError: nothing waits."""
        return self._entries.pop()[2]

    def release_next(self, reached: int) -> ItemT | None:
        """Remove the first item if the offset that it needs is reached; None: it is not.

        One at a time: what is done with an item may park others, or clear the queue.
        """
        entries = self._entries
        return entries.popleft()[2] if entries and entries[0][0] <= reached else None

    def expire_next(self, now_ms: int) -> ItemT | None:
        """Remove the first item if its time is up; None: it is not."""
        entries = self._entries
        return entries.popleft()[2] if entries and entries[0][1] <= now_ms else None

    def clear(self) -> list[ItemT]:
        """Remove all items and return them, in order."""
        items = [item for _, _, item in self._entries]
        self._entries.clear()
        return items
