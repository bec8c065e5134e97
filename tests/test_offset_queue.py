"""Items leave in order, by offset or by time, and never twice."""

from __future__ import annotations

import pytest

from pykbroker.offset_queue import OffsetQueue


def test_items_are_released_in_order_up_to_the_offset() -> None:
    queue: OffsetQueue[str] = OffsetQueue()
    for offset, item in ((3, "a"), (3, "b"), (7, "c")):
        queue.park(offset, item)
    assert (len(queue), queue.last_offset) == (3, 7)
    assert queue.release_next(2) is None
    assert [queue.release_next(6) for _ in range(3)] == ["a", "b", None]
    assert queue.release_next(7) == "c"
    assert (queue.release_next(99), queue.last_offset) == (None, None)


def test_items_expire_in_order() -> None:
    queue: OffsetQueue[str] = OffsetQueue()
    deadlines = [queue.next_deadline_ms]
    queue.park(1, "a", 100)
    queue.park(2, "b", 200)
    deadlines.append(queue.next_deadline_ms)
    assert [queue.expire_next(150) for _ in range(2)] == ["a", None]
    deadlines.append(queue.next_deadline_ms)
    assert deadlines == [None, 100, 200]
    assert queue.clear() == ["b"]
    assert (len(queue), queue.expire_next(999)) == (0, None)


def test_without_a_deadline_an_item_waits_for_ever() -> None:
    queue: OffsetQueue[str] = OffsetQueue()
    queue.park(1, "a")
    assert queue.next_deadline_ms is None
    assert queue.expire_next(1 << 61) is None


def test_the_latest_is_taken_back_when_its_append_failed() -> None:
    queue: OffsetQueue[str] = OffsetQueue()
    queue.park(1, "a")
    queue.park(2, "b")
    assert queue.take_back() == "b"
    assert queue.release_next(2) == "a"
    with pytest.raises(IndexError):
        queue.take_back()
