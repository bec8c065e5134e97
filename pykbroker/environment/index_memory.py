"""How much of the indexes of closed segments is in memory, for a whole node.

State: which are loaded, oldest use first. Invariant: at most `max_bytes` of them (and one more).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict

MAX_LOADED_BYTES = 64 << 20


class Droppable(ABC):
    """What IndexMemory can make forget its content."""

    __slots__ = ()

    @abstractmethod
    def drop(self) -> None:
        """Forget the content: it is in the file, and read again when it is asked for."""


class IndexMemory:
    """Which indexes of closed segments are loaded, oldest use first; drops them beyond a bound."""

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
