"""Records by time inside of batches that hold much."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pykbroker.environment.files import ColdRead
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.partition.record_lookup import MOST_KEPT, LookedUp, first_record, is_light
from pykbroker.log.segments.segment import FoundOffset
from pykbroker.log.validation.validation_rules import LIGHT_DECOMPRESSED_BYTES
from pykbroker.protocol.compression import GZIP, LZ4, NONE, SNAPPY, ZSTD
from pykbroker.protocol.record import CorruptBatch
from pykbroker.protocol.record_batch import (
    LOG_APPEND_TIME,
    RECORD_BATCH_OVERHEAD,
    build_batch,
    read_header,
)
from tests.log.log_makers import NOW_MS, memory_disk, open_orders

CODECS = (NONE, GZIP, SNAPPY, LZ4, ZSTD)


def batch_of(size: int, codec: int, base_offset: int = 7, **options: Any) -> bytearray:
    """Three records, of which the second holds `size` zeros; a millisecond between them."""
    values = (b"a", bytes(size), b"c")
    records = [(None, value, NOW_MS + at, ()) for at, value in enumerate(values)]
    return build_batch(records, codec=codec, base_offset=base_offset, **options)


def look_up(batch: bytearray, timestamp: int, start_offset: int = 0) -> FoundOffset | None:
    """On the event loop, with a thread that is done at once."""
    looked_up: LookedUp = {}
    header = read_header(batch)

    def again() -> FoundOffset | None:
        return first_record(batch, header, timestamp, start_offset, looked_up, may_wait=False)

    with pytest.raises(ColdRead) as cold:
        again()
    cold.value.warm()
    return again()


@pytest.mark.parametrize("codec", CODECS)
def test_what_is_light(codec: int) -> None:
    small, large = batch_of(1000, codec), batch_of(LIGHT_DECOMPRESSED_BYTES, codec)
    assert is_light(small, read_header(small))
    assert not is_light(large, read_header(large))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("size", [1000, LIGHT_DECOMPRESSED_BYTES])
def test_light_or_not_the_same_is_found(codec: int, size: int) -> None:
    batch = batch_of(size, codec)
    header = read_header(batch)
    find: Callable[[int, int], FoundOffset | None]
    if size == 1000:
        find = lambda time, start: first_record(batch, header, time, start, {}, may_wait=False)  # noqa: E731
    else:
        find = lambda time, start: look_up(batch, time, start)  # noqa: E731
    for time, start in ((0, 0), (NOW_MS + 1, 0), (NOW_MS + 2, 0), (0, 8), (NOW_MS + 1, 9)):
        offset = max(7 + max(0, time - NOW_MS), start)
        expected = FoundOffset(offset, NOW_MS + offset - 7, header.partition_leader_epoch)
        assert find(time, start) == expected
        assert first_record(batch, header, time, start, {}, may_wait=True) == expected
    assert find(NOW_MS + 3, 0) is None
    assert find(0, 10) is None


def test_append_time_is_that_of_the_batch() -> None:
    batch = batch_of(
        LIGHT_DECOMPRESSED_BYTES, ZSTD, timestamp_type=LOG_APPEND_TIME, log_append_time=NOW_MS + 9
    )
    found = look_up(batch, NOW_MS + 5)
    assert found is not None
    assert (found.offset, found.timestamp) == (7, NOW_MS + 9)


def test_damage_is_found_by_the_thread_and_told_by_the_look_up() -> None:
    batch = batch_of(LIGHT_DECOMPRESSED_BYTES, NONE)
    batch[RECORD_BATCH_OVERHEAD + 1] |= 0x80
    del batch[-20:]
    with pytest.raises(CorruptBatch):
        look_up(batch, NOW_MS + 2)


def test_only_so_much_is_kept() -> None:
    batch = batch_of(LIGHT_DECOMPRESSED_BYTES, LZ4)
    header = read_header(batch)
    looked_up: LookedUp = {}
    for timestamp in range(2 * MOST_KEPT):
        with pytest.raises(ColdRead) as cold:
            first_record(batch, header, timestamp, 0, looked_up, may_wait=False)
        cold.value.warm()
    assert len(looked_up) == MOST_KEPT


def log_with_a_large_batch() -> PartitionLog:
    log = open_orders(memory_disk())
    batch = batch_of(LIGHT_DECOMPRESSED_BYTES, ZSTD, base_offset=0)
    assert log.append_as_leader(batch, 0, NOW_MS).error == 0
    log.write_pending()
    return log


def test_a_log_looks_through_a_large_batch_in_a_thread() -> None:
    log = log_with_a_large_batch()
    expected = [(1, NOW_MS + 1), (2, NOW_MS + 2)]

    def asked() -> list[FoundOffset | None]:
        return [log.offset_for_timestamp(NOW_MS + 1), log.offset_of_max_timestamp()]

    assert [found[:2] for found in asked() if found is not None] == expected
    log.files.may_wait = False
    for _ in range(2):
        with pytest.raises(ColdRead) as cold:
            asked()
        assert log.files.may_wait is False
        cold.value.warm()
    assert [found[:2] for found in asked() if found is not None] == expected


def test_a_log_tells_of_damage_in_a_large_batch() -> None:
    log = log_with_a_large_batch()
    asked = (log.segments.last.file.pread(61, 0), NOW_MS, 0)
    log.reader.looked_up[asked] = CorruptBatch("bad records")
    log.files.may_wait = False
    with pytest.raises(KafkaError) as refused:
        log.offset_for_timestamp(NOW_MS)
    assert refused.value.code == ErrorCode.CORRUPT_MESSAGE
