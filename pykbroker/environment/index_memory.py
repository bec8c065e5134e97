"""Limits how much memory the indexes of closed segments, and all transaction indexes, use, for a
whole node.

State: the loaded indexes, in the order in which they were loaded; use does not change it.
Invariant: at most `max_bytes` by their sizes when loaded, or a single larger index.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict

MAX_LOADED_BYTES = 64 << 20


class Droppable(ABC):
    """An object whose content IndexMemory can drop."""

    __slots__ = ()

    @abstractmethod
    def drop(self) -> None:
        """Drop the content, if it can be read from the file again when needed."""


class IndexMemory:
    """The loaded indexes; beyond a limit, drops those that were loaded first."""

    def __init__(self, max_bytes: int = MAX_LOADED_BYTES) -> None:
        self.max_bytes = max_bytes
        self.loaded_bytes = 0
        self._loaded: OrderedDict[Droppable, int] = OrderedDict()

    def loaded(self, index: Droppable, size_bytes: int) -> None:
        self.forget(index)
        self._loaded[index] = size_bytes
        self.loaded_bytes += size_bytes
        while self.loaded_bytes > self.max_bytes and len(self._loaded) > 1:
            oldest, size = self._loaded.popitem(last=False)
            self.loaded_bytes -= size
            oldest.drop()

    def forget(self, index: Droppable) -> None:
        self.loaded_bytes -= self._loaded.pop(index, 0)
