"""pykbroker.protocol.compression: every codec both ways, strangers' framings, hostile input."""

from __future__ import annotations

import contextlib
import struct
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import lz4.frame
import pytest
import snappy
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from kafka.codec import (
    gzip_decode,
    gzip_encode,
    lz4_decode,
    lz4_encode,
    snappy_decode,
    snappy_encode,
    zstd_decode,
    zstd_encode,
)

from pykbroker.protocol import compression
from pykbroker.protocol.compression import (
    GZIP,
    LZ4,
    NONE,
    SNAPPY,
    ZSTD,
    CorruptCompression,
    DecompressedTooLarge,
    compress,
    decompress,
)

CODECS = (NONE, GZIP, SNAPPY, LZ4, ZSTD)
PACKED = (GZIP, SNAPPY, LZ4, ZSTD)
ROOM = 10_000_000
TEXT = b"".join(b"flight %d of N%05d; " % (i, i * 7919 % 99999) for i in range(8000))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("size", [0, 1, 100, 32767, 32768, 32769, 65536, 140_000])
def test_round_trip(codec: int, size: int) -> None:
    payload = TEXT[:size]
    packed = compress(codec, memoryview(bytearray(payload)))
    assert decompress(codec, packed, ROOM) == payload
    assert decompress(codec, memoryview(bytearray(packed)), size) == payload


@pytest.mark.parametrize("codec", CODECS)
def test_one_byte_more_than_allowed_is_refused(codec: int) -> None:
    packed = compress(codec, TEXT)
    assert decompress(codec, packed, len(TEXT)) == TEXT
    with pytest.raises(DecompressedTooLarge):
        decompress(codec, packed, len(TEXT) - 1)


@pytest.mark.parametrize("codec", PACKED)
@pytest.mark.parametrize("size", [10, 100_000])
def test_a_cut_stream_is_refused_wherever_it_is_cut(codec: int, size: int) -> None:
    packed = compress(codec, TEXT[:size])
    cuts: Iterable[int]
    cuts = range(len(packed)) if size == 10 else range(0, len(packed), len(packed) // 50)
    if codec == SNAPPY and size > 10:
        cuts = [cut for cut in cuts if not _between_snappy_blocks(packed, cut)]
    else:
        cuts = [cut for cut in cuts if codec != SNAPPY or cut != 16]
    for cut in [*cuts, len(packed) - 1]:
        with pytest.raises(CorruptCompression):
            decompress(codec, packed[:cut], ROOM)


def _between_snappy_blocks(packed: bytes, cut: int) -> bool:
    pos = 16
    while pos < cut:
        pos += 4 + struct.unpack_from(">I", packed, pos)[0]
    return pos == cut


@pytest.mark.parametrize("codec", PACKED)
@pytest.mark.parametrize("tail", [b"\x00", b"trailing bytes"])
def test_bytes_behind_the_end_are_refused(codec: int, tail: bytes) -> None:
    with pytest.raises(CorruptCompression):
        decompress(codec, compress(codec, TEXT) + tail, ROOM)


@given(st.sampled_from(PACKED), st.binary(max_size=60))
def test_garbage_is_corrupt_and_nothing_else(codec: int, garbage: bytes) -> None:
    magic = {GZIP: b"\x1f\x8b\x08\x00", SNAPPY: b"", LZ4: b"\x04\x22\x4d\x18", ZSTD: b"(\xb5/\xfd"}
    for payload in (garbage, magic[codec] + garbage, compression._XERIAL_HEADER + garbage):
        with contextlib.suppress(CorruptCompression):
            assert len(decompress(codec, payload, 1000)) <= 1000


@given(st.sampled_from(PACKED), st.data())
def test_flipped_bytes_never_leak_another_exception(codec: int, chance: st.DataObject) -> None:
    packed = bytearray(compress(codec, TEXT[:3000]))
    for _ in range(chance.draw(st.integers(1, 4))):
        packed[chance.draw(st.integers(0, len(packed) - 1))] = chance.draw(st.integers(0, 255))
    with contextlib.suppress(CorruptCompression):
        assert len(decompress(codec, packed, 100_000)) <= 100_000


def test_strangers_read_what_we_write() -> None:
    assert gzip_decode(compress(GZIP, TEXT)) == TEXT
    assert snappy_decode(compress(SNAPPY, TEXT)) == TEXT
    assert lz4_decode(compress(LZ4, TEXT)) == TEXT
    assert zstd_decode(compress(ZSTD, TEXT)) == TEXT


def test_we_read_what_strangers_write() -> None:
    assert decompress(GZIP, gzip_encode(TEXT), ROOM) == TEXT
    assert decompress(SNAPPY, snappy_encode(TEXT), ROOM) == TEXT
    assert decompress(SNAPPY, snappy.compress(TEXT), ROOM) == TEXT  # librdkafka: one bare block
    assert decompress(LZ4, lz4_encode(TEXT), ROOM) == TEXT
    assert decompress(ZSTD, zstd_encode(TEXT), ROOM) == TEXT


def test_concatenated_streams() -> None:
    for codec in (GZIP, SNAPPY, ZSTD):
        assert decompress(codec, compress(codec, b"ab") + compress(codec, b"cd"), 4) == b"abcd"
    with pytest.raises(CorruptCompression, match="behind the end"):
        decompress(LZ4, compress(LZ4, b"ab") + compress(LZ4, b"cd"), ROOM)


def test_kafka_framings() -> None:
    assert compress(SNAPPY, b"x" * 40_000)[:16] == b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
    frame = lz4.frame.get_frame_info(compress(LZ4, TEXT))
    assert frame["block_size"] == 65536
    assert not frame["block_linked"]
    assert not frame["content_checksum"]
    assert not frame["content_size"]


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_unknown_codecs(codec: int) -> None:
    with pytest.raises(CorruptCompression, match=f"codec {codec}"):
        decompress(codec, b"", ROOM)
    with pytest.raises(CorruptCompression, match=f"codec {codec}"):
        compress(codec, b"")


@pytest.mark.parametrize("codec, levels", [(GZIP, (1, 6, 9, -1)), (LZ4, (1, 9, 12, 17))])
def test_levels(codec: int, levels: tuple[int, ...]) -> None:
    for level in levels:
        assert decompress(codec, compress(codec, TEXT, level), ROOM) == TEXT
    assert len(compress(codec, TEXT, levels[-2])) <= len(compress(codec, TEXT, levels[0]))


def test_zstd_levels() -> None:
    sizes = [len(compress(ZSTD, TEXT, level)) for level in (-100, 3, 19)]
    assert sizes == sorted(sizes, reverse=True)
    assert decompress(ZSTD, compress(ZSTD, TEXT, 22), ROOM) == TEXT


# -- bombs and lies -----------------------------------------------------------------------------


def test_bombs_are_refused_without_being_unpacked() -> None:
    bomb = bytes(200_000_000)
    packed = {
        GZIP: zlib.compress(bomb, 9, 31),
        ZSTD: zstandard.ZstdCompressor(level=3).compress(bomb),
        LZ4: lz4.frame.compress(bomb, block_linked=False, store_size=False),
    }
    for codec, payload in packed.items():
        assert len(payload) < 1_000_000
        with pytest.raises(DecompressedTooLarge):
            decompress(codec, payload, 1_000_000)


def test_lying_sizes_are_not_allocated() -> None:
    # A bare snappy block that claims 2 GiB, and an lz4 frame that claims 2**62 bytes.
    with pytest.raises(CorruptCompression, match="claims more"):
        decompress(SNAPPY, b"\xff\xff\xff\xff\x07\x00a", ROOM)
    frame = bytearray(lz4.frame.compress(b"abc", block_linked=False, store_size=True))
    frame[6:14] = (1 << 62).to_bytes(8, "little")
    with pytest.raises(CorruptCompression):
        decompress(LZ4, frame, ROOM)


def test_linked_lz4_blocks_are_refused_as_no_java_client_reads_them() -> None:
    linked = lz4.frame.compress(TEXT, block_linked=True)
    with pytest.raises(CorruptCompression, match="linked"):
        decompress(LZ4, linked, ROOM)


def test_lz4_checksums_are_checked() -> None:
    frame = bytearray(
        lz4.frame.compress(TEXT, block_linked=False, block_checksum=True, content_checksum=True)
    )
    assert decompress(LZ4, frame, ROOM) == TEXT
    frame[-1] ^= 1
    with pytest.raises(CorruptCompression):
        decompress(LZ4, frame, ROOM)


def test_zstd_frames_with_checksum_content_size_and_skippable_frames() -> None:
    packed = zstandard.ZstdCompressor(write_checksum=True, write_content_size=True).compress(TEXT)
    skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    assert decompress(ZSTD, packed, len(TEXT)) == TEXT
    assert decompress(ZSTD, skippable + packed, len(TEXT)) == TEXT
    with pytest.raises(CorruptCompression):
        decompress(ZSTD, packed[:-1] + bytes([packed[-1] ^ 1]), ROOM)


def test_xerial_of_an_incompatible_version() -> None:
    packed = bytearray(compress(SNAPPY, b"abc"))
    packed[15] = 2
    with pytest.raises(CorruptCompression, match="version 2"):
        decompress(SNAPPY, packed, ROOM)


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD])
def test_many_threads_at_once(codec: int) -> None:
    """A codec library's context that is shared crashes the process, or mixes batches up."""
    texts = [TEXT + bytes([number]) * 50_000 for number in range(4)]
    packed = [compression.compress(codec, text) for text in texts]

    def work(number: int) -> bool:
        return all(
            compression.decompress(codec, packed[number], 1 << 28) == texts[number]
            and compression.compress(codec, texts[number]) == packed[number]
            for _ in range(10)
        )

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(work, range(4))) == [True] * 4
