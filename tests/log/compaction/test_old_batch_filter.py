"""pykbroker.log.compaction.old_batch_filter: what is left of messages of magic 0 and 1."""

from __future__ import annotations

import pytest

from pykbroker.log.compaction.batch_filter import Retention
from pykbroker.log.compaction.cleaner_state import CleanerState
from pykbroker.log.compaction.old_batch_filter import collect_old_keys, filter_old_message
from pykbroker.log.compaction.round import UncleanableBatch, old_tombstones_until_ms
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.protocol.compression import GZIP, LZ4, NONE, SNAPPY
from pykbroker.protocol.record import Record
from pykbroker.protocol.record_batch import (
    CREATE_TIME,
    LOG_APPEND_TIME,
    BatchHeader,
    check_crc,
    iter_records,
    read_header,
)
from pykbroker.protocol.stored_batch import iter_stored, read_stored_header, stored_records
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.harness.old_messages import OLD_MS, Old, compressed, message
from tests.log.compaction.compaction_makers import (
    DAY,
    NOW,
    Writer,
    clean,
    job_of,
    open_accounts,
    records,
)
from tests.log.compaction.test_batch_filter import retention

CODECS = [GZIP, SNAPPY, LZ4]
THREE = [Old(b"a", b"1", OLD_MS + 7), Old(b"b", b"2", OLD_MS + 3), Old(b"a", b"3", OLD_MS + 5)]


def left(raw: bytes, rules: Retention) -> tuple[BatchHeader, list[Record]]:
    header = read_stored_header(raw)
    kept = filter_old_message(raw, header, rules)
    assert kept is not None
    assert check_crc(kept)
    assert repr(read_header(kept)) == repr(header)
    return header, list(iter_records(kept))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("magic", [0, 1])
def test_the_latest_of_each_key_becomes_a_batch_of_magic_2(magic: int, codec: int) -> None:
    raw = compressed(100, THREE, magic=magic, codec=codec)
    header, found = left(raw, retention({b"a": 102, b"b": 101}))
    times = [OLD_MS + 3, OLD_MS + 5] if magic else [-1, -1]
    assert found == [Record(101, times[0], b"b", b"2"), Record(102, times[1], b"a", b"3")]
    assert (header.magic, header.codec, header.timestamp_type) == (2, codec, CREATE_TIME)
    assert (header.base_offset, header.last_offset) == (101, 102)
    assert (header.base_timestamp, header.max_timestamp) == (times[0], times[1])
    assert (header.producer_id, header.base_sequence, header.partition_leader_epoch) == (-1, -1, -1)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_message_that_stays_is_written_anew(magic: int) -> None:
    raw = message(9, Old(b"a", b"1"), magic=magic)
    header, found = left(raw, retention({b"a": 9}))
    assert found == [Record(9, OLD_MS if magic else -1, b"a", b"1")]
    assert (header.base_offset, header.last_offset, header.record_count) == (9, 9, 1)


def test_log_append_time_stays() -> None:
    raw = compressed(100, THREE, magic=1, codec=GZIP, attributes=8)
    header, found = left(raw, retention({b"a": 102, b"b": 101}))
    assert header.timestamp_type == LOG_APPEND_TIME
    assert header.max_timestamp == OLD_MS + 7
    assert {record.timestamp for record in found} == {OLD_MS + 7}


def test_what_goes() -> None:
    raw = message(9, Old(b"a", b"1"), magic=1)
    assert filter_old_message(raw, read_stored_header(raw), retention({b"a": 10})) is None
    keyless = message(9, Old(None, b"1"), magic=1)
    assert filter_old_message(keyless, read_stored_header(keyless), retention({})) is None
    header, found = left(keyless, retention({}, covered=8))  # behind what the map covers
    assert (header.magic, [record.value for record in found]) == (2, [b"1"])


def test_tombstones_stay_by_the_age_of_their_segment() -> None:
    raw = message(9, Old(b"a", None), magic=1)
    rules = retention({b"a": 9})
    header, found = left(raw, rules)
    assert header.delete_horizon_ms == NOW + DAY
    assert found == [Record(9, OLD_MS, b"a", None)]
    assert header.max_timestamp == OLD_MS
    rules.keeps_old_tombstones = False
    assert filter_old_message(raw, read_stored_header(raw), rules) is None


def test_the_end_of_the_log_is_kept() -> None:
    raw = compressed(100, THREE, magic=1, codec=GZIP)
    header = read_stored_header(raw)
    kept = filter_old_message(raw, header, retention({b"a": 500, b"b": 500}, high_watermark=103))
    assert kept is not None
    empty = read_header(kept)
    assert (empty.magic, empty.last_offset, empty.record_count) == (2, 102, 0)


@pytest.mark.parametrize("codec", CODECS)
def test_keys(codec: int) -> None:
    entries = [*THREE, Old(None, b"4"), Old(b"c", None)]
    raw = compressed(100, entries, magic=1, codec=codec)
    header = read_stored_header(raw)
    assert collect_old_keys(raw, header, 0) == ([b"a", b"b", b"a", b"c"], [100, 101, 102, 104])
    assert collect_old_keys(raw, header, 102) == ([b"a", b"c"], [102, 104])


# -- whole rounds -------------------------------------------------------------------------------


def old_part(magic: int, codec: int, first: int, count: int = 10) -> bytes:
    entries = [Old(b"k%d" % (n % 4), b"v%d" % n, OLD_MS + n) for n in range(first, first + count)]
    if codec == NONE:
        return b"".join(message(first + n, e, magic=magic) for n, e in enumerate(entries))
    return compressed(first, entries, magic=magic, codec=codec)


def old_log(magic: int, codec: int) -> PartitionLog:
    """Three old segments, new records behind them, and a segment that is active."""
    files = MemoryFiles()
    for directory in ("/d", "/d/accounts-0"):
        files.mkdir(directory)
    for first in (0, 10, 20):
        files.write_file(f"/d/accounts-0/{first:020d}.log", old_part(magic, codec, first))
        files.set_modified_ms(f"/d/accounts-0/{first:020d}.log", OLD_MS + first)
    log = open_accounts(files)
    log.roll(NOW)
    writer = Writer(log)
    writer.put([(b"k1", b"new"), (b"k7", b"seven")])
    log.roll(NOW)
    writer.put([(b"k9", b"active")])
    return log


@pytest.mark.parametrize("codec", [NONE, *CODECS])
@pytest.mark.parametrize("magic", [0, 1])
def test_a_round_across_formats(magic: int, codec: int) -> None:
    log = old_log(magic, codec)
    state = CleanerState()
    result = clean(log, state, io_buffer_bytes=100)
    assert result is not None
    assert result.end_offset == 32
    assert [(record.offset, record.key, record.value) for record in records(log)] == [
        (26, b"k2", b"v26"),
        (27, b"k3", b"v27"),
        (28, b"k0", b"v28"),
        (30, b"k1", b"new"),
        (31, b"k7", b"seven"),
        (32, b"k9", b"active"),
    ]
    assert log.segments.base_offsets == [0, 32]
    found = log.offset_for_timestamp(OLD_MS + 28)
    assert found == ((28, OLD_MS + 28, -1) if magic else (30, NOW, 0))
    log.close()
    again = open_accounts(log.files)
    assert len(records(again)) == 6
    state = CleanerState()
    state.load({again.topic_partition: result.end_offset}, [again])
    assert clean(again, state) is None


def test_old_tombstones_go_when_the_clean_part_has_grown_old() -> None:
    log = old_log(1, NONE)
    job = job_of(log, first_dirty_offset=0)
    assert old_tombstones_until_ms(job) == 0
    job = job_of(log, first_dirty_offset=20)
    assert old_tombstones_until_ms(job) == OLD_MS + 10 - DAY


def test_a_damaged_old_message_ends_the_round() -> None:
    log = old_log(1, NONE)
    path = f"/d/accounts-0/{10:020d}.log"
    content = bytearray(log.files.read_file(path))
    content[-1] ^= 1
    log.files.write_file(path, content)
    with pytest.raises(UncleanableBatch, match="wrong checksum"):
        clean(log, CleanerState())


def test_an_old_message_that_cannot_be_read_ends_the_round() -> None:
    log = old_log(1, NONE)
    raw = message(9, Old(None, b"no gzip"), magic=1, attributes=GZIP)
    log.files.write_file(f"/d/accounts-0/{0:020d}.log", raw)
    log.segments.first.size = len(raw)
    with pytest.raises(UncleanableBatch, match="batch at offset 9: gzip"):
        clean(log, CleanerState())


def test_what_the_cleaner_wrote_is_read_like_any_other() -> None:
    log = old_log(0, GZIP)
    clean(log, CleanerState())
    outcome = log.read(0, 1 << 20, log.log_end_offset)
    assert outcome.slice is not None
    for header, batch in iter_stored(outcome.slice.read()):
        assert header.magic == 2
        assert all(record.offset >= 26 for record in stored_records(batch, header))
