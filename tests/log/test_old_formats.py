"""Logs that Kafka before 0.11 began: opened clean and unclean, read, looked up, kept, continued."""

from __future__ import annotations

import pytest

from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.protocol.compression import GZIP, LZ4, NONE, SNAPPY
from pykbroker.protocol.record import Record
from pykbroker.protocol.stored_batch import iter_stored, stored_records
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.harness.old_messages import OLD_MS, Old, compressed, message, old_segment
from tests.log.log_makers import DIRECTORY, NOW_MS, append, batch_of, memory_disk, open_orders

CODECS = [NONE, GZIP, SNAPPY, LZ4]
DAY_MS = 86_400_000


def path_of(base_offset: int, suffix: str = ".log") -> str:
    return f"{DIRECTORY}/{base_offset:020d}{suffix}"


def old_directory(*segments: tuple[int, bytes]) -> MemoryFiles:
    """As 0.8 to 0.10.0 left it: no time index, no snapshot, no leader epochs."""
    files = memory_disk()
    files.mkdir(DIRECTORY)
    for base_offset, content in segments:
        files.write_file(path_of(base_offset), content)
        files.write_file(path_of(base_offset, ".index"), b"")
    return files


def two_segments(magic: int, codec: int) -> MemoryFiles:
    """Offsets 10 to 29 and 30 to 49."""
    return old_directory((10, old_segment(magic, codec)), (30, old_segment(magic, codec, first=30)))


def records_from(log: PartitionLog, offset: int, max_bytes: int = 1 << 20) -> list[Record]:
    """As a consumer would that begins there."""
    found: list[Record] = []
    while offset < log.log_end_offset:
        outcome = log.read(offset, max_bytes, log.log_end_offset)
        assert outcome.slice is not None
        for header, batch in iter_stored(outcome.slice.read(), partial_tail=True):
            found += [r for r in stored_records(batch, header) if r.offset >= offset]
            offset = max(offset, header.next_offset)
    return found


@pytest.mark.parametrize("is_clean", [True, False])
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("magic", [0, 1])
def test_every_start_keeps_and_serves_them(magic: int, codec: int, is_clean: bool) -> None:
    files = two_segments(magic, codec)
    before = [files.read_file(path_of(base)) for base in (10, 30)]
    log = open_orders(files, is_clean=is_clean)
    assert [files.read_file(path_of(base)) for base in (10, 30)] == before
    assert (log.log_start_offset, log.log_end_offset) == (10, 50)
    for start in range(10, 50):
        found = records_from(log, start, max_bytes=1)
        assert [record.offset for record in found] == list(range(start, 50))
        assert found[0].value == b"v%d" % start
    outcome = log.read(10, 1 << 20, 50)
    assert outcome.slice is not None
    assert outcome.slice.read() == before[0]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("magic", [0, 1])
def test_new_records_go_on_behind_them(magic: int, codec: int) -> None:
    files = two_segments(magic, codec)
    log = open_orders(files)
    assert append(log, b"new", timestamp=OLD_MS + 1000) == 50
    log.close()
    for is_clean in (True, False):
        log = open_orders(files, is_clean=is_clean)
        assert len(log.segments) == 2
        assert [record.value for record in records_from(log, 48)] == [b"v48", b"v49", b"new"]
        assert log.leader_epochs.epochs.entries == [(0, 50)]
        log.close()


@pytest.mark.parametrize("codec", CODECS)
def test_look_ups_by_time(codec: int) -> None:
    log = open_orders(two_segments(1, codec), index_interval_bytes="0")
    append(log, b"new", timestamp=OLD_MS + 40)
    assert log.offset_for_timestamp(0) == (10, OLD_MS, -1)
    for offset in range(10, 30):
        wanted = OLD_MS + offset - 10
        assert log.offset_for_timestamp(wanted) == (offset, wanted, -1)
    assert log.offset_for_timestamp(OLD_MS + 20) == (50, OLD_MS + 40, 0)
    assert log.offset_of_max_timestamp() == (50, OLD_MS + 40, 0)


@pytest.mark.parametrize("codec", CODECS)
def test_magic_0_has_no_times(codec: int) -> None:
    log = open_orders(two_segments(0, codec))
    assert log.offset_for_timestamp(0) is None
    assert log.offset_of_max_timestamp() is None
    append(log, b"new")
    assert log.offset_for_timestamp(0) == (50, NOW_MS, 0)


def test_log_append_time_of_a_compressed_message() -> None:
    records = [Old(b"k", b"v", OLD_MS + n) for n in range(3)]
    raw = compressed(0, records, magic=1, codec=GZIP, attributes=8)
    log = open_orders(old_directory((0, raw)))
    assert log.offset_for_timestamp(OLD_MS + 1) == (0, OLD_MS + 2, -1)


@pytest.mark.parametrize("codec", CODECS)
def test_retention_goes_by_their_times(codec: int) -> None:
    files = two_segments(1, codec)
    log = open_orders(files, retention_ms=str(DAY_MS))
    append(log, b"new")
    log.roll(NOW_MS)
    assert log.delete_old_segments(OLD_MS + DAY_MS + 19, log.log_end_offset) == 0
    assert log.delete_old_segments(OLD_MS + DAY_MS + 20, log.log_end_offset) == 2
    assert [record.value for record in records_from(log, log.log_start_offset)] == [b"new"]


def test_retention_of_magic_0_goes_by_the_file() -> None:
    files = two_segments(0, NONE)
    files.set_modified_ms(path_of(10), NOW_MS - 2 * DAY_MS)
    files.set_modified_ms(path_of(30), NOW_MS)
    log = open_orders(files, retention_ms=str(DAY_MS))
    append(log, b"new")
    assert log.delete_old_segments(NOW_MS, log.log_end_offset) == 1
    assert log.log_start_offset == 30


@pytest.mark.parametrize("codec", CODECS)
def test_truncation_and_deletion_within_them(codec: int) -> None:
    log = open_orders(two_segments(1, codec))
    log.advance_log_start_offset(13)
    assert records_from(log, 13)[0].offset == 13
    assert log.truncate_to(32)
    assert log.log_end_offset == 32
    assert append(log, b"again") == 32
    end = 32 if codec == NONE else 30  # a compressed message goes as a whole
    assert [r.offset for r in records_from(log, 13)] == [*range(13, end), 32]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("magic", [0, 1])
def test_a_follower_appends_what_its_leader_has(magic: int, codec: int) -> None:
    leader = open_orders(two_segments(magic, codec))
    append(leader, b"new")
    follower = open_orders(memory_disk(), log_start_offset=10, segment_ms="1")
    now_ms = NOW_MS
    while follower.log_end_offset < leader.log_end_offset:
        outcome = leader.read(follower.log_end_offset, 400, leader.log_end_offset)
        assert outcome.slice is not None
        now_ms += 10
        appended = follower.append_as_follower(outcome.slice.read(), now_ms)
        assert appended.error == 0
        follower.write_pending()
    assert len(follower.segments) > 2
    assert records_from(follower, 10) == records_from(leader, 10)
    for start in range(10, 51):
        assert records_from(follower, start)[0].offset == start


def test_a_damaged_old_message_is_not_replicated() -> None:
    raw = bytearray(message(0, Old(b"k", b"v"), magic=0))
    raw[-1] ^= 1
    outcome = open_orders(memory_disk()).append_as_follower(bytes(raw), NOW_MS)
    assert "wrong checksum" in (outcome.error_message or "")


@pytest.mark.parametrize("magic", [0, 1])
def test_producers_cannot_write_them(magic: int) -> None:
    log = open_orders(memory_disk())
    raw = bytearray(message(0, Old(b"k", b"v" * 100), magic=magic))
    assert log.append_as_leader(raw, 0, NOW_MS).error != 0
    assert not log.has_pending


def first_offset_index(messages: list[bytes], offsets: list[int], base: int) -> bytes:
    """As Kafka before 1.0 wrote it: the first offset of what was appended, for every append."""
    entries, position = b"", 0
    for raw, offset in zip(messages, offsets, strict=True):
        if position:
            entries += (offset - base).to_bytes(4, "big") + position.to_bytes(4, "big")
        position += len(raw)
    return entries


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_an_index_of_first_offsets_is_used_as_it_is(
    magic: int, caplog: pytest.LogCaptureFixture
) -> None:
    firsts = [10, 15, 20, 25]
    if magic == 2:
        parts = []
        for first in firsts:
            batch = batch_of(*[b"v%d" % (first + n) for n in range(5)])
            batch[:8] = first.to_bytes(8, "big")
            parts.append(bytes(batch))
    else:
        parts = [old_segment(magic, GZIP, first, 5) for first in firsts]
    files = old_directory((10, b"".join(parts)))
    index = first_offset_index(parts, firsts, 10)
    files.write_file(path_of(10, ".index"), index)
    files.write_file(path_of(10, ".timeindex"), b"")
    log = open_orders(files)
    for start in range(10, 30):
        assert records_from(log, start)[0].value == b"v%d" % start
    assert files.read_file(path_of(10, ".index")) == index
    assert "rebuilding" not in caplog.text


def test_an_index_that_lies_about_old_messages_is_built_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    content = old_segment(1, NONE)
    size = len(message(10, Old(b"k10", b"v10"), magic=1))
    for entry in ((5, 3 * size), (3, 3 * size + 1), (900, len(content) - 5)):
        files = old_directory((10, content))
        raw = b"".join(number.to_bytes(4, "big") for number in entry)
        files.write_file(path_of(10, ".index"), raw)
        files.write_file(path_of(10, ".timeindex"), b"")
        log = open_orders(files)
        assert [record.offset for record in records_from(log, 20)] == list(range(20, 30))
        assert "does not point at a batch" in caplog.text
        caplog.clear()


def test_the_least_message_at_the_end_of_a_segment() -> None:
    least = message(11, Old(None, None), magic=0)
    content = message(10, Old(b"k", b"v"), magic=0) + least
    files = old_directory((10, content))
    position = len(content) - len(least)
    raw = (1).to_bytes(4, "big") + position.to_bytes(4, "big")
    files.write_file(path_of(10, ".index"), raw)
    files.write_file(path_of(10, ".timeindex"), b"")
    log = open_orders(files)
    assert log.log_end_offset == 12
    assert log.read(11, 1, 12).position == position
    assert records_from(log, 11) == [Record(11, -1, None, None)]


def test_a_time_index_that_names_a_record_inside_a_compressed_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    files = old_directory((10, old_segment(1, GZIP)))
    entry = (OLD_MS + 9).to_bytes(8, "big") + (7).to_bytes(4, "big")  # 17 is in 15 to 19
    files.write_file(path_of(10, ".timeindex"), entry)
    log = open_orders(files)
    assert log.offset_for_timestamp(OLD_MS + 12) == (22, OLD_MS + 12, -1)
    assert files.read_file(path_of(10, ".timeindex"))[:12] == entry
    assert "rebuilding" not in caplog.text
