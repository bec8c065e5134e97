"""The bound on loaded indexes."""

from __future__ import annotations

from pykbroker.environment.index_memory import Droppable, IndexMemory


class Loaded(Droppable):
    def __init__(self) -> None:
        self.is_dropped = False

    def drop(self) -> None:
        self.is_dropped = True


def test_memory_is_bounded_and_drops_the_oldest_use() -> None:
    memory = IndexMemory(100)
    indexes = [Loaded() for _ in range(4)]
    for index in indexes[:3]:
        memory.loaded(index, 40)
    assert [i.is_dropped for i in indexes] == [True, False, False, False]
    memory.loaded(indexes[1], 40)
    memory.loaded(indexes[3], 40)
    assert [i.is_dropped for i in indexes] == [True, False, True, False]
    memory.forget(indexes[1])
    assert memory.loaded_bytes == 40
