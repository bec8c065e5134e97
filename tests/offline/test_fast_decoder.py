"""The fast decoder against the plain one: the same rows or refusals, whatever the bytes."""

from __future__ import annotations

import random
import resource
import signal
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pykbroker.offline import (
    ALL_COLUMNS,
    Corruption,
    CorruptSegment,
    ReadOptions,
    Split,
    corruption_table,
    open_log,
    read_split,
)
from pykbroker.protocol.record_batch import build_batch, compute_crc, read_header
from tests.offline.samples import (
    BASE_MS,
    odd_batches,
    partition_directory,
    simple_batches,
    write_segment,
)

COLUMNS = tuple(ALL_COLUMNS)

# A broken decoder may run without end and take all memory there is: a test of it fails soon.
MORE_BYTES = 4 << 30
CPU_SECONDS = 120


@pytest.fixture(autouse=True)
def bounds() -> Iterator[None]:
    def is_over(number: int, frame: object) -> None:
        raise AssertionError(f"no end after {CPU_SECONDS} seconds of computing")

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MORE_BYTES, hard))
    before = signal.signal(signal.SIGPROF, is_over)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def split_of(path: Path, **bounds: Any) -> Split:
    return Split(str(path), "t", 0, int(path.stem), 0, path.stat().st_size, **bounds)


def outcome(split: Split, decoder: str, mode: str = "FAILFAST", **options: Any) -> Any:
    """(rows, side table), or how it was refused."""
    import pyarrow as pa

    corruptions: list[Corruption] = []
    columns = options.pop("columns", COLUMNS)
    how = ReadOptions(columns=columns, mode=mode, decoder=decoder, **options)
    try:
        found = list(read_split(split, how, corruptions.append))
    except CorruptSegment as fault:
        return str(fault)
    from pykbroker.offline import schema_of

    table = pa.Table.from_batches(found, schema=schema_of(columns)).combine_chunks()
    return table, corruption_table(corruptions)


def assert_same(split: Split, mode: str = "FAILFAST", **options: Any) -> Any:
    fast = outcome(split, "numpy", mode, **options)
    plain = outcome(
        split, "plain", mode, **{k: v for k, v in options.items() if k != "chunk_bytes"}
    )
    assert isinstance(fast, str) == isinstance(plain, str), (fast, plain)
    if isinstance(fast, str):
        assert fast == plain
    else:
        assert fast[1].to_pylist() == plain[1].to_pylist()
        assert fast[0].equals(plain[0])
    return fast


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("chunk_bytes", [4 << 20, 100_000])
def test_every_legal_oddity(tmp_path: Path, seed: int, chunk_bytes: int):
    path = write_segment(tmp_path, odd_batches(seed))
    rows, corruptions = assert_same(split_of(path), chunk_bytes=chunk_bytes)
    assert rows.num_rows > 500
    assert corruptions.num_rows == 0


@pytest.mark.parametrize("codec", range(5))
def test_big_dense_batches_are_cut_into_lanes(tmp_path: Path, codec: int):
    path = write_segment(tmp_path, simple_batches(3, 12_000, codec=codec, size=70))
    rows, _ = assert_same(split_of(path))
    assert rows.num_rows == 36_000
    assert rows["offset"].to_pylist() == list(range(36_000))
    assert rows["codec"].to_pylist()[0] == ("none", "gzip", "snappy", "lz4", "zstd")[codec]


def test_values_that_look_like_records(tmp_path: Path):
    # Every value is itself a run of encoded records with the right offset deltas.
    from pykbroker.protocol.record_batch import encode_record

    bait = b"".join(encode_record(delta, 0, b"k", b"v") for delta in range(60, 70))
    rows = [(None, bait, BASE_MS, ()) for _ in range(2000)]
    path = write_segment(tmp_path, [bytes(build_batch(rows))])
    table, _ = assert_same(split_of(path))
    assert set(table["value"].to_pylist()) == {bait}


def test_records_of_many_sizes(tmp_path: Path):
    chance = random.Random(5)
    rows = [
        (None, bytes(chance.choice([0, 1, 50, 57, 58, 8180, 8190, 70_000])), BASE_MS, ())
        for _ in range(900)
    ]
    path = write_segment(tmp_path, [bytes(build_batch(rows))])
    table, _ = assert_same(split_of(path))
    assert [len(value) for value in table["value"].to_pylist()] == [len(row[1]) for row in rows]


@pytest.mark.parametrize(
    "columns", [("offset",), ("key",), ("timestamp", "topic"), ("value_size",)]
)
def test_fewer_columns_are_the_same_columns(tmp_path: Path, columns: tuple[str, ...]):
    path = write_segment(tmp_path, odd_batches(11))
    everything, _ = outcome(split_of(path), "numpy")
    some, _ = outcome(split_of(path), "numpy", columns=columns)
    assert some.equals(everything.select(columns))


@pytest.mark.parametrize("seed", range(8))
def test_ranges_of_offsets_and_times(tmp_path: Path, seed: int):
    chance = random.Random(seed)
    path = write_segment(tmp_path, odd_batches(seed, 12))
    everything, _ = outcome(split_of(path), "plain")
    offsets = everything["offset"].to_pylist()
    times = everything["timestamp_ms"].to_pylist()
    low, high = sorted(chance.choices(offsets, k=2))
    early, late = sorted(chance.choices(times, k=2))
    bounds = {"start_offset": low, "end_offset": high, "start_timestamp_ms": early}
    rows, _ = assert_same(split_of(path, end_timestamp_ms=late, **bounds))
    wanted = [
        offset
        for offset, time in zip(offsets, times, strict=True)
        if low <= offset < high and early <= time < late
    ]
    assert rows["offset"].to_pylist() == wanted


def damage(chance: random.Random, batches: list[bytearray]) -> None:
    """One of: a flipped bit, wrong bytes under a right checksum, bytes that are missing."""
    batch = chance.choice(batches)
    kind = chance.randrange(4)
    if kind == 0:
        batch[chance.randrange(len(batch))] ^= 1 << chance.randrange(8)
    elif kind == 1:
        start = chance.randrange(len(batch))
        del batch[start : start + chance.choice([1, 7, 40])]
    else:
        for _ in range(chance.choice([1, 2, 5])):
            in_records = len(batch) > 61 and chance.random() < 0.8
            low, high = (61, len(batch)) if in_records else (21, min(61, len(batch)))
            batch[chance.randrange(low, high)] = chance.randrange(256)
        struct.pack_into(">I", batch, 17, compute_crc(batch))


@pytest.mark.parametrize("seed", range(30))
def test_fuzz_equal_rows_or_equal_refusals(tmp_path: Path, seed: int):
    chance = random.Random(seed)
    batches = [batch for batch in odd_batches(seed, 8) if len(batch) < 60_000]
    batches = batches or simple_batches(4)
    damaged = [bytearray(batch) for batch in batches]
    for _ in range(chance.choice([1, 1, 3])):
        damage(chance, [batch for batch in damaged if batch])
    path = write_segment(tmp_path, batches, read_header(batches[0]).base_offset)
    path.write_bytes(b"".join(damaged))
    split = split_of(path, index_path=str(path.with_suffix(".index")))
    for verify in (True, False):
        for mode in ("FAILFAST", "PERMISSIVE", "DROPMALFORMED"):
            assert_same(split, mode, verify_checksums=verify)


def patched(batch: bytes, position: int, layout: str, value: int) -> bytes:
    """A field changed, under a right checksum."""
    changed = bytearray(batch)
    struct.pack_into(layout, changed, position, value)
    struct.pack_into(">I", changed, 17, compute_crc(changed))
    return bytes(changed)


LIES = {
    "magic": (16, ">b", 1, "magic 1"),
    "codec": (21, ">h", 6, "unknown compression codec 6"),
    "more records": (57, ">i", 11, "11 records with a last offset delta of 9"),
    "fewer records": (57, ">i", 9, "bytes over"),
    "no records": (57, ">i", -1, "-1 records"),
    "two billion records": (57, ">i", 0x7FFFFFFF, "2147483647 records with a last offset delta"),
    "last offset": (23, ">i", 5, "10 records with a last offset delta of 5"),
    "base offset": (0, ">q", -7, "base offset -7"),
    "base offset of the batch before": (0, ">q", 3, "base offset 3 after offset 9"),
    "base offset over the next": (0, ">q", 15, "offsets 15 to 24 reach beyond the base offset 20"),
    "base offset far above": (0, ">q", 10 + (1 << 40), "are outside this segment's 0 to"),
    "last possible offset": (0, ">q", 2**63 - 2, "base offset 9223372036854775806"),
    "short length": (8, ">i", 10, "record batch of 22 bytes, less than its header"),
    "long length": (8, ">i", 0x7FFFFFFF, "only"),
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_are_named_with_their_place(tmp_path: Path, lie: str):
    position, layout, value, reason = LIES[lie]
    batches = simple_batches(3, size=3000)
    bad = bytearray(batches[1])
    struct.pack_into(layout, bad, position, value)
    if position >= 21:
        struct.pack_into(">I", bad, 17, compute_crc(bad))
    path = write_segment(tmp_path, batches, index_every=1000)
    path.write_bytes(batches[0] + bytes(bad) + batches[2])
    split = split_of(path, index_path=str(path.with_suffix(".index")))
    refusal = assert_same(split)
    assert refusal.startswith(f"{path}, position {len(batches[0])}: ")
    assert reason in refusal
    rows, corruptions = assert_same(split, "PERMISSIVE")
    assert rows["offset"].to_pylist() == [*range(10), *range(20, 30)]
    (left_out,) = corruptions.to_pylist()
    assert left_out["position"] == len(batches[0])
    assert left_out["size_bytes"] == len(batches[1])
    assert left_out["raw"][:61] == bytes(bad[:61])


@pytest.mark.parametrize("lied", [3, 15, 25, 500])
def test_a_batch_that_says_it_is_elsewhere_is_not_left_out_silently(tmp_path: Path, lied: int):
    batches = simple_batches(3)
    bad = bytearray(batches[1])
    struct.pack_into(">q", bad, 0, lied)
    path = write_segment(tmp_path, batches)
    path.write_bytes(batches[0] + bytes(bad) + batches[2])
    wanted = {"start_offset": 10, "end_offset": 20, "next_base_offset": 30}
    refusal = assert_same(split_of(path, **wanted))
    assert refusal.startswith(f"{path}, position {len(batches[0])}: ")
    rows, corruptions = assert_same(split_of(path, **wanted), "DROPMALFORMED")
    assert (rows.num_rows, corruptions.num_rows) == (0, 1)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("chunk_bytes", [4 << 20, 2_000])
def test_fuzz_of_base_offsets(tmp_path: Path, seed: int, chunk_bytes: int):
    chance = random.Random(seed)
    batches = [bytearray(batch) for batch in simple_batches(40, 5)]
    for batch in chance.sample(batches, chance.choice([1, 1, 2, 5])):
        lie = chance.choice([chance.randrange(200), chance.randrange(1 << 62), 1 << 63])
        struct.pack_into(">Q", batch, 0, lie)
    path = write_segment(tmp_path, simple_batches(40, 5))
    path.write_bytes(b"".join(batches))
    for mode in ("FAILFAST", "PERMISSIVE"):
        found = assert_same(split_of(path, next_base_offset=200), mode, chunk_bytes=chunk_bytes)
    offsets = found[0]["offset"].to_pylist()
    assert offsets == sorted(set(offsets))
    assert len(offsets) + 5 * found[1].num_rows == 200


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_decompression_bomb(tmp_path: Path, codec: int):
    bomb = bytes(build_batch([(None, bytes(40_000_000), BASE_MS, ())], base_offset=10, codec=codec))
    assert len(bomb) < 2_500_000
    path = write_segment(tmp_path, [*simple_batches(1), bomb])
    refusal = assert_same(split_of(path), max_decompressed_bytes=1 << 20)
    assert "decompresses to more than 1048576 bytes" in refusal


def test_many_records_claimed_by_few_bytes_allocate_nothing(tmp_path: Path):
    batch = bytes(build_batch([(b"k", b"v", BASE_MS, ())]))
    lying = patched(patched(batch, 57, ">i", 0x7FFFFFFF), 23, ">i", 0x7FFFFFFE)
    path = write_segment(tmp_path, [lying])
    for columns in (COLUMNS, ("offset",)):
        assert "records end early" in assert_same(split_of(path), columns=columns)


def test_more_records_than_the_bytes_can_hold(tmp_path: Path):
    batch = bytes(build_batch([(None, bytes(2000), BASE_MS, ())]))
    lying = patched(patched(batch, 57, ">i", 1000), 23, ">i", 999)
    path = write_segment(tmp_path, [lying])
    assert "records end early" in assert_same(split_of(path), columns=("offset",))


@pytest.mark.parametrize("behind", [0, 5, 4095, 4096, 9000])
def test_offsets_that_do_not_ascend(tmp_path: Path, behind: int):
    deltas = [*range(behind + 1), *range(behind, 10_000)]
    rows = [(b"k", b"v", BASE_MS, ())] * len(deltas)
    batch = bytes(build_batch(rows, offset_deltas=deltas, last_offset_delta=10_000))
    path = write_segment(tmp_path, [batch])
    assert "offset deltas out of order, or not 0 to 10000" in assert_same(split_of(path))


def test_long_lanes_beside_many_short_ones_stay_small(tmp_path: Path):
    tiny = [(None, None, BASE_MS, ())]
    long = bytes(build_batch(tiny * 100_000))
    short = [bytes(build_batch(tiny, base_offset=100_000 + n)) for n in range(3000)]
    path = write_segment(tmp_path, [long, *short])
    rows, _ = outcome(split_of(path), "numpy", columns=("key", "offset"))
    assert rows.num_rows == 103_000
    assert rows["offset"].to_pylist() == list(range(103_000))


def test_timestamps_that_microseconds_cannot_hold(tmp_path: Path):
    far = 2**62
    rows = [(None, None, far, ()), (None, None, BASE_MS, ())]
    path = write_segment(tmp_path, [bytes(build_batch(rows))])
    table, _ = assert_same(split_of(path))
    assert table["timestamp_ms"].to_pylist() == [far, BASE_MS]
    assert table["timestamp"].is_null().to_pylist() == [True, False]


def test_malformed_header_names_are_replaced(tmp_path: Path):
    batch = bytearray(build_batch([(None, None, 1, [("hh", None)]), (None, None, 1, ())]))
    at = bytes(batch).index(b"hh")
    batch[at : at + 2] = b"\xff\xfe"
    struct.pack_into(">I", batch, 17, compute_crc(batch))
    path = write_segment(tmp_path, [bytes(batch)])
    table, _ = assert_same(split_of(path))
    assert table["headers"].to_pylist() == [[{"key": "\ufffd\ufffd", "value": None}], None]


def test_file_that_became_shorter(tmp_path: Path):
    path = write_segment(tmp_path, simple_batches(3))
    split = split_of(path)
    path.write_bytes(path.read_bytes()[: split.end_position // 2])
    assert "only" in assert_same(split)
    path.write_bytes(b"")
    assert "the file ends at 0" in assert_same(split)


@pytest.mark.parametrize("decoder", ["numpy", "plain"])
def test_rows_before_a_corrupt_batch_come_first(tmp_path: Path, decoder: str):
    directory = partition_directory(tmp_path)
    batches = simple_batches(4)
    bad = bytearray(batches[2])
    bad[70] ^= 1
    path = write_segment(directory, batches)
    path.write_bytes(b"".join([batches[0], batches[1], bytes(bad), batches[3]]))
    rows = 0
    scan = open_log(str(tmp_path), "t", columns=["offset"], decoder=decoder)
    with pytest.raises(CorruptSegment, match="the checksum does not match the batch"):  # noqa: PT012
        for batch in scan:
            rows += batch.num_rows
    assert rows == 20


def written(root: Path, batches: list[bytearray], base_offset: int = 0) -> str:
    write_segment(partition_directory(root), [b"".join(batches)], base_offset, 10**9)
    for each in (root / "t-0").glob("*.*index"):
        each.unlink()
    return str(root)


@pytest.mark.parametrize("decoder", ["numpy", "plain"])
@pytest.mark.parametrize("flip", [(23, 0x80), (24, 0x10), (25, 0x80), (26, 0x01)])
def test_a_batch_that_lies_of_its_own_end_costs_no_other(
    tmp_path: Path, flip: tuple[int, int], decoder: str
):
    """The last offset delta: what is left out before its checksum is looked at goes by it."""
    batches = [bytearray(each) for each in simple_batches(100, 3)]
    at, mask = flip
    batches[5][at] ^= mask
    place = written(tmp_path, batches)
    position = sum(map(len, batches[:5]))
    some: tuple[dict[str, Any], ...]
    some = ({}, {"start_offsets": 15, "end_offsets": 18}, {"start_offsets": 17})
    for bounds in some:
        with pytest.raises(CorruptSegment, match=f"position {position}: "):
            open_log(place, decoder=decoder, **bounds).read_all()
    scan = open_log(place, decoder=decoder, mode="DROPMALFORMED")
    assert scan.read_all()["offset"].to_pylist() == [n for n in range(300) if n not in (15, 16, 17)]
    assert (scan.corrupt_batches, scan.corrupt_bytes) == (1, len(batches[5]))


@pytest.mark.parametrize("seed", range(40))
def test_one_damaged_batch_costs_no_sound_one(tmp_path: Path, seed: int):
    """Bits, bytes missing and bytes too many: reading goes on at the next batch."""
    chance = random.Random(seed)
    batches = [bytearray(each) for each in simple_batches(12, 3, size=chance.choice([5, 300]))]
    number = chance.randrange(1, 11)
    victim = batches[number]
    at = chance.randrange(8, 61) if chance.random() < 0.5 else chance.randrange(8, len(victim))
    match chance.randrange(3):
        case 0:
            victim[at] ^= 1 << chance.randrange(8)
        case 1:
            del victim[at : at + chance.choice([1, 3, 50])]
        case _:
            victim[at:at] = chance.randbytes(chance.choice([1, 3, 50]))
    place = written(tmp_path, batches)
    found = []
    for decoder in ("numpy", "plain"):
        scan = open_log(place, decoder=decoder, mode="PERMISSIVE")
        offsets = scan.read_all()["offset"].to_pylist()
        found.append((offsets, scan.corruptions.to_pylist()))
    assert found[0] == found[1]
    lost = {number * 3, number * 3 + 1, number * 3 + 2}
    assert set(range(36)) - set(found[0][0]) <= lost
    assert bool(found[0][1]) == (len(found[0][0]) < 36)


@pytest.mark.parametrize("decoder", ["numpy", "plain"])
def test_a_damaged_batch_that_is_not_asked_for_costs_nothing(tmp_path: Path, decoder: str):
    """Any bit of its last offset delta, but those by which it has too few for its records."""
    batches = simple_batches(30)
    path = write_segment(partition_directory(tmp_path), batches)
    start = sum(map(len, batches[:18]))
    for bit in set(range(32)) - {7, 24, 27}:
        broken = bytearray(b"".join(batches))
        broken[start + 23 + bit // 8] ^= 1 << bit % 8
        path.write_bytes(broken)
        log = open_log(tmp_path, start_offsets=190, columns=["offset"], decoder=decoder)
        assert log.read_all()["offset"].to_pylist() == list(range(190, 300)), bit


@pytest.mark.parametrize("decoder", ["numpy", "plain"])
@pytest.mark.parametrize("start", [2, 3, 5])
def test_a_damaged_offset_hides_nothing_of_the_batch_before(
    tmp_path: Path, decoder: str, start: int
):
    batches = simple_batches(3)
    path = write_segment(partition_directory(tmp_path), batches)
    path.write_bytes(b"".join([batches[0], (3).to_bytes(8) + batches[1][8:], batches[2]]))
    scan = open_log(
        tmp_path, start_offsets=start, mode="DROPMALFORMED", columns="offset", decoder=decoder
    )
    assert scan.read_all()["offset"].to_pylist() == [*range(start, 10), *range(20, 30)]
    assert scan.corrupt_batches == 1


@pytest.mark.parametrize("decoder", ["numpy", "plain"])
def test_a_wrong_length_does_not_hide_what_the_index_knows(tmp_path: Path, decoder: str):
    """It reaches over the next batch, and another one begins where it seems to end."""
    batches = simple_batches(5, size=900)
    path = write_segment(partition_directory(tmp_path), batches, index_every=1)
    length = (len(batches[1]) + len(batches[2]) - 12).to_bytes(4)
    batches[1] = batches[1][:8] + length + batches[1][12:]
    path.write_bytes(b"".join(batches))
    scan = open_log(tmp_path, mode="DROPMALFORMED", columns="offset", decoder=decoder)
    assert scan.read_all()["offset"].to_pylist() == [*range(10), *range(20, 50)]
    assert scan.corrupt_batches == 1
