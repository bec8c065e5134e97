"""Moves of logs in which a power failure has left holes, or in whose copies it has."""

from __future__ import annotations

import pytest

from pykbroker.log.directories import log_mover_driver
from pykbroker.log.directories.log_mover_driver import LogMover
from tests.log.directories.test_log_manager import ORDERS, failing, loaded
from tests.log.directories.test_log_mover_driver import Moving, begin_move, finished
from tests.log.log_makers import NOW_MS, append, values_of


@pytest.mark.parametrize("is_clean_between", [False, True])
def test_what_a_power_failure_took_from_the_copy_is_copied_again(
    monkeypatch: pytest.MonkeyPatch, is_clean_between: bool
) -> None:
    """Also if the node was stopped before it could be: the log was in an offline directory."""
    monkeypatch.setattr(log_mover_driver, "CHUNK_BYTES", 100)
    moving = Moving()
    log = moving.fill()

    async def begin(mover: LogMover) -> None:
        await begin_move(moving, mover, 8)
        copy = moving.manager.future(ORDERS[0])
        assert copy is not None
        copy.roll(NOW_MS)
        await begin_move(moving, mover, 16)

    moving.run(begin)
    moving.files.kill()
    (copy,) = (name for name in moving.files.listdir("/b") if name.endswith("-future"))
    moving.files.resize(f"/b/{copy}/{0:020}.log", 0)
    if is_clean_between:
        moving.files.fail = failing("/a")
        between = loaded(moving.files, "/a", "/b")
        assert between.future(ORDERS[0]) is not None
        between.shutdown(NOW_MS)
        moving.files.fail = None
    again = Moving(moving.files)
    new = again.resume()
    assert new.log_directory == "/b"
    assert values_of(new) == [b"%d" % number for number in range(20)] == values_of(log)


@pytest.mark.parametrize("leads", [False, True])
def test_a_log_is_copied_behind_its_hole_when_it_was_cut_there_or_leads(
    monkeypatch: pytest.MonkeyPatch, leads: bool
) -> None:
    """Its copy would not have the hole between two segments, where it could be found."""
    monkeypatch.setattr(log_mover_driver, "CHUNK_BYTES", 100)
    monkeypatch.setattr(log_mover_driver, "HOLE_CHECK_MS", 0)
    moving = Moving()
    moving.fill()
    moving.files.kill()
    moving.files.resize(f"/a/orders-0/{7:020}.log", 0)
    moving = Moving(moving.files)
    log = moving.manager.get(ORDERS[0])
    assert log is not None

    async def story(mover: LogMover) -> None:
        await begin_move(moving, mover, 7)
        for _ in range(50):
            await mover._scheduler.sleep(0)
        future = moving.manager.future(ORDERS[0])
        assert future is not None
        assert future.log_end_offset == 7
        log.local.unsynced_from = None
        if not leads:
            log.truncate_to(7, NOW_MS)
            for number in range(7, 20):
                append(log, b"%d" % number, epoch=number // 8)
        await finished(mover)

    moving.run(story)
    new = moving.manager.get(ORDERS[0])
    assert new is not None
    assert new.log_directory == "/b"
    kept = [number for number in range(20) if not leads or not 7 <= number < 14]
    assert values_of(new) == [b"%d" % number for number in kept]


def test_gaps_that_compaction_left_are_not_copied_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(log_mover_driver, "CHUNK_BYTES", 100)
    moving = Moving()
    moving.fill()

    async def begin(mover: LogMover) -> None:
        await begin_move(moving, mover, 8)
        copy = moving.manager.future(ORDERS[0])
        assert copy is not None
        copy.truncate_to(7, NOW_MS)
        copy.skip_to(14, NOW_MS)
        await begin_move(moving, mover, 16)

    moving.run(begin)
    moving.files.kill()
    moving.files.resize(f"/a/orders-0/{7:020}.log", 0)
    again = Moving(moving.files)
    kept = again.manager.get(ORDERS[0])
    assert kept is not None
    kept.local.unsynced_from = None
    new = again.resume()
    assert values_of(new) == [b"%d" % number for number in range(20) if not 7 <= number < 14]
    assert "copying them again" not in caplog.text
