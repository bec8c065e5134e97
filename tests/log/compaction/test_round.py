"""pykbroker.log.compaction.round: whole rounds against a plain model of a compacted log."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykbroker.log.compaction import round as compaction
from pykbroker.log.compaction.cleaner_state import CleanerState, make_job
from pykbroker.log.compaction.round import (
    CompactionJob,
    CompactionResult,
    Group,
    SourceSegment,
    UncleanableBatch,
    compact,
    group_segments,
)
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.recovery.opening import open_log
from pykbroker.protocol.control_records import ABORT, COMMIT
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.compaction.compaction_makers import (
    DAY,
    NOW,
    PARTITION,
    Writer,
    clean,
    open_accounts,
    records,
    stored,
)


def memory() -> MemoryFiles:
    files = MemoryFiles()
    files.mkdir("/d")
    return files


def filled() -> PartitionLog:
    """Sixty records of seven keys in small segments."""
    log = open_accounts(memory(), segment_bytes=400)
    writer = Writer(log)
    for number in range(30):
        key = b"k%d" % (number % 7)
        writer.put([(key, b"v%d" % number), (b"only-%d" % number, b"x")], codec=number % 5)
    log.config.segment_bytes = 1000  # so that cleaned segments are put together
    return log


def test_a_round() -> None:
    log = filled()
    state = CleanerState()
    segments = len(log.segments)
    before = log.size_bytes
    active = log.active.base_offset
    result = clean(log, state)
    assert result is not None
    assert result.end_offset == active
    assert result.bytes_read > result.bytes_written > 0
    assert len(log.segments) < segments
    assert log.size_bytes < before
    seen: dict[bytes | None, int] = {}
    for record in records(log):
        if record.offset < active:
            assert record.key not in seen, "an old value is left"
            seen[record.key] = record.offset
    latest = {b"k%d" % (n % 7): 2 * n for n in range(active // 2)}
    assert {key: offset for key, offset in seen.items() if key in latest} == latest
    assert clean(log, state) is None  # clean now


def test_a_second_round_goes_on_where_the_first_ended() -> None:
    log = filled()
    state = CleanerState()
    clean(log, state)
    writer = Writer(log)
    for number in range(30):
        writer.put([(b"k%d" % (number % 7), b"new%d" % number)])
    result = clean(log, state)
    assert result is not None
    values = {record.key: record.value for record in records(log)}
    assert values[b"k3"] == b"new24"
    assert [r.offset for r in records(log)] == sorted({r.offset for r in records(log)})
    assert len([r for r in records(log) if r.key == b"only-1"]) == 1


def test_look_ups_and_reopening_after_a_round() -> None:
    log = filled()
    clean(log, CleanerState())
    found = stored(log)
    offsets = [record.offset for _, batch in found for record in batch]
    for offset in range(log.log_end_offset):
        outcome = log.read(offset, 1 << 20, log.log_end_offset)
        assert outcome.slice is not None
        first = [r.offset for r in stored_in(outcome.slice.read()) if r.offset >= offset]
        expected = [o for o in offsets if o >= offset]
        assert first[:1] == expected[:1], offset
    end = log.log_end_offset
    log.close()
    again = open_log(log.files, log.directory, PARTITION, log.config, now_ms=NOW)
    assert again.log_end_offset == end
    assert [r.offset for r in records(again)] == offsets
    unclean = open_log(log.files, log.directory, PARTITION, log.config, now_ms=NOW, is_clean=False)
    assert [r.offset for r in records(unclean)] == offsets
    assert unclean.log_end_offset == end


def stored_in(content: bytes) -> list[Any]:
    from pykbroker.protocol.record_batch import iter_batches, iter_records

    return [
        record
        for _, batch in iter_batches(content, partial_tail=True)
        for record in iter_records(batch)
    ]


def test_a_small_map_takes_several_rounds() -> None:
    log = filled()
    state = CleanerState()
    ends = []
    while (result := clean(log, state, map_bytes=700)) is not None:
        ends.append(result.end_offset)
        assert len(ends) < 40
    assert len(ends) > 2
    assert ends == sorted(set(ends))
    whole = filled()
    clean(whole, CleanerState())
    assert [(r.offset, r.value) for r in records(log)] == [
        (r.offset, r.value) for r in records(whole)
    ]


def test_a_piece_smaller_than_a_batch_grows() -> None:
    log, other = filled(), filled()
    clean(log, CleanerState(), io_buffer_bytes=1)
    clean(other, CleanerState())
    assert records(log) == records(other) != records(filled())


def test_tombstones_go_a_day_after_they_were_first_cleaned() -> None:
    log = open_accounts(memory(), segment_bytes=300)
    writer = Writer(log)
    writer.put([(b"gone", b"1"), (b"kept", b"2")])
    writer.put([(b"gone", None)])
    for number in range(12):
        writer.put([(b"fill", b"%d" % number)])
    state = CleanerState()
    clean(log, state)
    assert [r.offset for r in records(log) if r.key == b"gone"] == [2]
    state.first_dirty.clear()
    clean(log, state, NOW + DAY - 1)
    assert [r.offset for r in records(log) if r.key == b"gone"] == [2]
    state.first_dirty.clear()
    clean(log, state, NOW + DAY)
    assert [r.offset for r in records(log) if r.key == b"gone"] == []
    assert [r.value for r in records(log) if r.key == b"kept"] == [b"2"]


def test_transactions_markers_and_the_transaction_index() -> None:
    log = open_accounts(memory(), segment_bytes=500)
    writer = Writer(log)
    writer.put([(b"a", b"committed")], producer=1, transactional=True)
    writer.end(1, COMMIT)
    writer.put([(b"a", b"aborted"), (b"b", b"aborted")], producer=2, transactional=True)
    writer.end(2, ABORT)
    for number in range(12):
        writer.put([(b"fill", b"%d" % number)])
    assert log.aborted_transactions(0, log.log_end_offset) == [(2, 2)]
    state = CleanerState()
    clean(log, state)
    assert [r.value for r in records(log) if r.key in (b"a", b"b")] == [b"committed"]
    # The last batches of both producers still say their sequences; the abort marker stays.
    kept = {h.producer_id: h.last_sequence for h, _ in stored(log) if not h.is_control}
    assert kept[1] == 0
    markers = [header.base_offset for header, _ in stored(log) if header.is_control]
    assert markers == [1, 4]
    assert log.aborted_transactions(0, log.log_end_offset) == [(2, 2)]

    def again(days: int) -> list[int]:
        state.first_dirty.clear()
        clean(log, state, NOW + days * DAY)
        return [header.base_offset for header, _ in stored(log) if header.is_control]

    assert again(3) == [1, 4]  # the empty batches that keep the sequences are still theirs
    log.expire_producers(NOW + 9 * DAY)
    assert again(4) == [1, 4]  # the empty batch of the aborted one goes in this round
    assert again(5) == [1, 4]  # its marker gets its delete horizon
    assert again(6) == [1]
    assert log.aborted_transactions(0, log.log_end_offset) == []


def test_producers_that_are_known_keep_their_last_sequence() -> None:
    log = open_accounts(memory(), segment_bytes=300)
    writer = Writer(log)
    writer.put([(b"a", b"1")], producer=5)
    writer.put([(b"a", b"2")], producer=5)
    for number in range(12):
        writer.put([(b"a", b"%d" % number)])
    clean(log, CleanerState())
    mine = [(header, batch) for header, batch in stored(log) if header.producer_id == 5]
    assert [(h.base_offset, h.last_sequence, len(batch)) for h, batch in mine] == [(1, 1, 0)]
    log.close()
    again = open_log(log.files, log.directory, PARTITION, log.config, now_ms=NOW)
    assert again.producers.producers[5].last_sequence == 1


def test_a_damaged_batch_is_named_and_nothing_is_swapped() -> None:
    log = filled()
    segment = log.segments[1]
    size = segment.size
    content = bytearray(segment.file.pread(size, 0))
    content[-1] ^= 1
    segment.file.pwritev([content], 0)
    names = set(log.files.listdir(log.directory))
    with pytest.raises(UncleanableBatch, match=f"{segment.base_offset:020d}.log: .* position"):
        clean(log, CleanerState())
    log.segments[1].file.truncate(size - 3)
    with pytest.raises(UncleanableBatch, match="incomplete"):
        clean(log, CleanerState())
    assert {n for n in log.files.listdir(log.directory) if not n.endswith(".cleaned")} >= {
        n for n in names if n.endswith(".log")
    }


def test_grouping() -> None:
    def job(sizes: list[tuple[int, int]], end: int = 1000, **limits: int) -> CompactionJob:
        log = filled()
        chosen = CleanerState().examine(log, log.log_end_offset, NOW)
        made, _ = make_job(chosen, 0, NOW, map_bytes=1, io_buffer_bytes=1)
        segments = tuple(SourceSegment(base, size, 8, 12, NOW) for base, size in sizes)
        return replace(
            made,
            segments=segments,
            first_uncleanable_offset=end,
            segment_bytes=limits.get("segment_bytes", 100),
            segment_index_bytes=limits.get("index_bytes", 1000),
        )

    def bases(made: CompactionJob, end_offset: int = 1 << 40) -> list[list[int]]:
        groups = group_segments(made, end_offset)
        return [[segment.base_offset for segment in group] for group in groups]

    assert bases(job([(0, 60), (10, 40), (20, 1), (30, 100)])) == [[0, 10], [20], [30]]
    assert bases(job([(0, 30), (10, 30), (20, 30)]), 20) == [[0, 10]]
    assert bases(job([(0, 1), (10, 1), (20, 1)], index_bytes=24)) == [[0, 10], [20]]
    far = 1 << 31
    assert bases(job([(0, 1), (10, 1), (far, 1)], end=far + 9)) == [[0, 10], [far]]
    assert bases(job([(0, 1), (10, 0), (far, 0)], end=far + 9)) == [[0, 10, far]]


def test_a_cleaned_segment_that_outgrows_its_limit_is_split(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compaction, "MAX_SEGMENT_BYTES", 250)
    log = filled()
    expected = filled()
    clean(log, CleanerState())
    monkeypatch.undo()
    clean(expected, CleanerState())
    assert [r.offset for r in records(log)] == [r.offset for r in records(expected)]
    assert len(log.segments) > len(expected.segments)
    assert max(segment.size for segment in log.segments if segment is not log.active) <= 250


def test_a_job_travels_as_json() -> None:
    log = filled()
    chosen = CleanerState().examine(log, log.log_end_offset, NOW)
    job, _ = make_job(chosen, 7, NOW, map_bytes=1 << 20, io_buffer_bytes=4096)
    assert CompactionJob.from_json(json.loads(json.dumps(job.to_json()))) == job
    steps = list(compact(log.files, job, CompactionResult()))
    assert any(isinstance(step, Group) for step in steps)


STEP = st.one_of(
    st.tuples(
        st.just("put"),
        st.lists(
            st.tuples(st.integers(0, 5), st.none() | st.integers(0, 99)), min_size=1, max_size=4
        ),
        st.integers(0, 4),
        st.integers(-1, 2),
    ),
    st.tuples(st.just("txn"), st.integers(0, 2), st.booleans(), st.integers(0, 5)),
)


@given(st.lists(STEP, max_size=40), st.lists(st.integers(0, 3), max_size=3), st.integers(600, 4000))
@settings(max_examples=60)
def test_a_reader_of_a_cleaned_log_ends_with_the_same_table(
    steps: list[tuple[object, ...]], days: list[int], map_bytes: int
) -> None:
    """The contract of compaction: latest value of each key, offsets in order, no resurrection."""
    log = open_accounts(memory(), segment_bytes=500)
    writer = Writer(log)
    table: dict[bytes, tuple[int, bytes | None]] = {}
    for step in steps:
        if step[0] == "put":
            _, entries, codec, producer = step
            pairs = [(b"k%d" % k, None if v is None else b"%d" % v) for k, v in entries]  # type: ignore[attr-defined]
            base = writer.put(pairs, codec=codec, producer=producer)  # type: ignore[arg-type]
            table.update({k: (base + i, v) for i, (k, v) in enumerate(pairs)})
        else:
            _, producer, commits, key = step
            base = writer.put([(b"k%d" % key, b"t")], producer=producer, transactional=True)  # type: ignore[arg-type, str-format]
            writer.end(producer, COMMIT if commits else ABORT)  # type: ignore[arg-type]
            if commits:
                table[b"k%d" % key] = (base, b"t")  # type: ignore[str-format]
    now_ms = NOW
    state = CleanerState()
    for pause in [0, *days]:
        now_ms += pause * DAY
        for _ in range(4):
            if clean(log, state, now_ms, map_bytes=map_bytes) is None:
                break
        check_table(log, table)
        state.first_dirty.clear()
    end = log.log_end_offset
    log.close()
    again = open_log(log.files, log.directory, PARTITION, log.config, now_ms=NOW)
    assert again.log_end_offset == end
    check_table(again, table)


def check_table(log: PartitionLog, table: dict[bytes, tuple[int, bytes | None]]) -> None:
    aborted = {producer for producer, _ in log.aborted_transactions(0, log.log_end_offset)}
    spans = log.aborted_transactions(0, log.log_end_offset)
    found: dict[bytes, tuple[int, bytes | None]] = {}
    previous = -1
    open_aborts: dict[int, bool] = {}
    pending = list(spans)
    for header, batch in stored(log):
        assert header.base_offset > previous
        previous = header.last_offset
        while pending and pending[0][1] <= header.last_offset:
            open_aborts[pending.pop(0)[0]] = True
        if header.is_control:
            open_aborts.pop(header.producer_id, None)
            continue
        if header.is_transactional and open_aborts.get(header.producer_id):
            assert header.producer_id in aborted
            continue
        for record in batch:
            assert record.key is not None
            found[record.key] = (record.offset, record.value)
    for key, (offset, value) in table.items():
        if value is not None:
            assert found[key] == (offset, value)
        elif key in found:
            assert found[key] == (offset, None)
    assert set(found) <= set(table)
