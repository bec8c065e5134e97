"""The five codecs of a record batch: none, gzip, snappy, lz4 and zstd, in the framings of Kafka.

    codec  id  what stands after the 61 header bytes
    none   0   the records as they are
    gzip   1   one or more gzip members
    snappy 2   xerial framing as Java writes it, or (librdkafka, Go) one bare snappy block

                +-------------------+------------+------------+ +--------+-----------+ +--------+--
                | 82 'SNAPPY' 00    | version u32| compat u32 | | len u32| block ... | | len u32|..
                +-------------------+------------+------------+ +--------+-----------+ +--------+--
                big endian; each block holds up to 32 KiB of input; the header may come again

    lz4    3   one lz4 frame with independent blocks (Kafka's reader knows no linked ones)
    zstd   4   one or more zstd frames, usually without a content size

In      bytes-like payloads; `max_bytes` bounds what a decompressor may produce.
Out     bytes.
Invariants
    Decompression never produces much more than `max_bytes`, whatever the input claims.
    Every fault of the input is CorruptCompression; a codec library's own exception never leaks.
    Any number of threads may call at once.
    Linked lz4 blocks, bytes behind the end of a frame and truncated frames are refused.

Codec libraries (but zlib) are loaded at first use: a broker that sees no zstd never pays for it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pykbroker.protocol.crc32c import BytesLike

NONE = 0
GZIP = 1
SNAPPY = 2
LZ4 = 3
ZSTD = 4

CODEC_NAMES: tuple[str, ...] = ("none", "gzip", "snappy", "lz4", "zstd")
CODEC_IDS: dict[str, int] = {name: codec for codec, name in enumerate(CODEC_NAMES)}

#: The levels Kafka takes for `compression.<codec>.level` and what it does without one.
LEVELS: dict[int, tuple[int, int, int]] = {  # codec -> (minimum, maximum, default)
    GZIP: (1, 9, -1),
    LZ4: (1, 17, 9),
    ZSTD: (-131072, 22, 3),
}

XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES = 32 * 1024
#: The first four bytes of the magic, read as a block length: a second header follows.
_XERIAL_MAGIC_WORD = int.from_bytes(XERIAL_MAGIC[:4], "big")
_U32 = struct.Struct(">I")
_U32_LITTLE = struct.Struct("<I")

_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_LZ4_INDEPENDENT_BLOCKS = 0x20

_ZSTD_MAGIC = 0xFD2FB528
_ZSTD_SKIPPABLE = 0x184D2A50
_ZSTD_BLOCK_BYTES = 128 * 1024
_CHUNK_BYTES = 1024 * 1024


class CorruptCompression(Exception):
    """The compressed bytes cannot be decoded, or hold more than they may."""


class DecompressedTooLarge(CorruptCompression):
    """The payload is longer than `max_bytes` once decompressed."""

    def __init__(self, codec: int, max_bytes: int) -> None:
        super().__init__(
            f"{CODEC_NAMES[codec]} payload decompresses to more than {max_bytes} bytes"
        )


def compress(codec: int, payload: BytesLike, level: int | None = None) -> bytes:
    """Compress with Kafka's framing; `level` as in Kafka's `compression.<codec>.level`, which gzip,
    lz4 and zstd have. CorruptCompression for an unknown codec.
    """
    if codec == NONE:
        return bytes(payload)
    if codec == GZIP:
        return zlib.compress(payload, -1 if level is None else level, 31)
    if codec == SNAPPY:
        return _compress_snappy(payload)
    if codec == LZ4:
        return _compress_lz4(payload, level)
    if codec == ZSTD:
        return _compress_zstd(payload, LEVELS[ZSTD][2] if level is None else level)
    raise CorruptCompression(f"unknown compression codec {codec}")


def decompress(codec: int, payload: BytesLike, max_bytes: int) -> bytes:
    """The original bytes, at most `max_bytes`; raises CorruptCompression."""
    if codec == NONE:
        if len(payload) > max_bytes:
            raise DecompressedTooLarge(NONE, max_bytes)
        return bytes(payload)
    if codec == GZIP:
        return _decompress_gzip(payload, max_bytes)
    if codec == SNAPPY:
        return _decompress_snappy(payload, max_bytes)
    if codec == LZ4:
        return _decompress_lz4(payload, max_bytes)
    if codec == ZSTD:
        return _decompress_zstd(payload, max_bytes)
    raise CorruptCompression(f"unknown compression codec {codec}")


# -- gzip ---------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _inflater() -> tuple[Callable[[], Any], type[Exception]]:
    """A maker of gzip decompressors and their exception: ISA-L's (2-3x) where it is installed."""
    try:
        from isal import isal_zlib
    except ImportError:
        return lambda: zlib.decompressobj(31), zlib.error
    return lambda: isal_zlib.decompressobj(31), isal_zlib.error


def _decompress_gzip(payload: BytesLike, max_bytes: int) -> bytes:
    make, error = _inflater()
    members: list[bytes] = []
    remaining = max_bytes
    rest: BytesLike = payload
    while True:
        inflater = make()
        try:
            member = inflater.decompress(rest, remaining + 1)
        except error as fault:
            raise CorruptCompression(f"gzip: {fault}") from None
        if len(member) > remaining:
            raise DecompressedTooLarge(GZIP, max_bytes)
        if not inflater.eof:
            raise CorruptCompression("gzip: the stream ends early")
        remaining -= len(member)
        rest = inflater.unused_data
        if not rest:
            if not members:
                return bytes(member)
            members.append(member)
            return b"".join(members)
        members.append(member)


# -- snappy -------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _snappy() -> tuple[Callable[[BytesLike], bytes], Callable[[BytesLike], bytes]]:
    import snappy

    return snappy.compress, snappy.uncompress


def _compress_snappy(payload: BytesLike) -> bytes:
    block_compress, _ = _snappy()
    view = memoryview(payload)
    parts = [_XERIAL_HEADER]
    for start in range(0, len(view), _XERIAL_BLOCK_BYTES):
        block = block_compress(view[start : start + _XERIAL_BLOCK_BYTES])
        parts.append(_U32.pack(len(block)))
        parts.append(block)
    return b"".join(parts)


def _decompress_snappy(payload: BytesLike, max_bytes: int) -> bytes:
    view = memoryview(payload)
    if view[:8] != XERIAL_MAGIC:
        return _decompress_snappy_block(view, max_bytes, max_bytes)
    blocks: list[bytes] = []
    end = len(view)
    pos = _after_xerial_header(view, 0)
    remaining = max_bytes
    while pos < end:
        if end - pos < 4:
            raise CorruptCompression("snappy: the stream ends inside a block length")
        (length,) = _U32.unpack_from(view, pos)
        if length == _XERIAL_MAGIC_WORD:
            pos = _after_xerial_header(view, pos)
            continue
        pos += 4
        if length > end - pos:
            raise CorruptCompression("snappy: a block is longer than the stream")
        block = _decompress_snappy_block(view[pos : pos + length], remaining, max_bytes)
        blocks.append(block)
        remaining -= len(block)
        pos += length
    return b"".join(blocks)


def _after_xerial_header(view: memoryview, pos: int) -> int:
    if len(view) - pos < len(_XERIAL_HEADER) or view[pos : pos + 8] != XERIAL_MAGIC:
        raise CorruptCompression("snappy: bad stream header")
    (compatible_version,) = _U32.unpack_from(view, pos + 12)
    if compatible_version > 1:
        raise CorruptCompression(f"snappy: stream of incompatible version {compatible_version}")
    return pos + len(_XERIAL_HEADER)


def _decompress_snappy_block(block: memoryview, remaining: int, max_bytes: int) -> bytes:
    length = shift = 0
    for byte in block[:5]:
        length |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    else:
        raise CorruptCompression("snappy: bad length of a block")
    # A copy of three bytes yields 64 at most: a longer claim cannot be true, and is not allocated.
    if length > 22 * len(block) + 64:
        raise CorruptCompression("snappy: a block claims more than it can hold")
    if length > remaining:
        raise DecompressedTooLarge(SNAPPY, max_bytes)
    _, uncompress = _snappy()
    try:
        original = uncompress(block)
    except Exception as fault:  # the class differs between versions of python-snappy
        raise CorruptCompression(f"snappy: {fault}") from None
    if len(original) != length:
        raise CorruptCompression("snappy: a block does not hold what it claims")
    return original


# -- lz4 ----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _lz4_frame() -> Any:
    import lz4.frame

    return lz4.frame


def _compress_lz4(payload: BytesLike, level: int | None) -> bytes:
    frame = _lz4_frame()
    # Kafka's default level 9 means the fast compressor, every other one high compression.
    native = 0 if level is None or level == LEVELS[LZ4][2] else min(max(level, 3), 12)
    compressed: bytes = frame.compress(
        payload,
        compression_level=native,
        block_size=frame.BLOCKSIZE_MAX64KB,
        block_linked=False,
        content_checksum=False,
        block_checksum=False,
        store_size=False,
    )
    return compressed


def _decompress_lz4(payload: BytesLike, max_bytes: int) -> bytes:
    bound, claim = _measure_lz4(payload)
    if claim > max_bytes:
        raise DecompressedTooLarge(LZ4, max_bytes)
    frame = _lz4_frame()
    try:
        original: bytes
        if bound <= max_bytes:
            original = frame.decompress(payload)
        else:
            original = frame.LZ4FrameDecompressor().decompress(payload, max_bytes + 1)
    except (RuntimeError, ValueError, EOFError, MemoryError) as fault:
        raise CorruptCompression(f"lz4: {fault}") from None
    if len(original) > max_bytes:
        raise DecompressedTooLarge(LZ4, max_bytes)
    return original


def _measure_lz4(payload: BytesLike) -> tuple[int, int]:
    """Walk the blocks of the one frame: (the most it can hold, the size that it claims or 0)."""
    if len(payload) < 11 or payload[:4] != _LZ4_MAGIC:
        raise CorruptCompression("lz4: not a frame")
    flags = payload[4]
    if not flags & _LZ4_INDEPENDENT_BLOCKS:
        raise CorruptCompression("lz4: linked blocks are not supported")
    claim = int.from_bytes(payload[6:14], "little") if flags & 0x08 else 0
    pos = 7 + (8 if flags & 0x08 else 0) + (4 if flags & 0x01 else 0)
    block_bytes = 1 << (8 + 2 * (payload[5] >> 4 & 7))
    behind_block = 4 if flags & 0x10 else 0
    end = len(payload)
    blocks = 0
    while pos + 4 <= end:
        (word,) = _U32_LITTLE.unpack_from(payload, pos)
        pos += 4
        if word == 0:
            pos += 4 if flags & 0x04 else 0
            if pos < end:
                raise CorruptCompression("lz4: bytes behind the end of the frame")
            if pos == end:
                return blocks * block_bytes, claim
            break
        pos += (word & 0x7FFFFFFF) + behind_block
        blocks += 1
    raise CorruptCompression("lz4: the frame ends early")


# -- zstd ---------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _zstandard() -> Any:
    import zstandard

    return zstandard


# A context of the library must not be used by two threads at once (it crashes the process), and
# big batches go through threads: each call takes one for itself. pop and append are atomic.
_idle_compressors: dict[int, list[Any]] = {}
_idle_decompressors: list[Any] = []
_MOST_LEVELS = 8


def _take_compressor(level: int) -> Any:
    try:
        return _idle_compressors[level].pop()
    except (KeyError, IndexError):
        return _zstandard().ZstdCompressor(level=level, write_content_size=False)


def _compress_zstd(payload: BytesLike, level: int) -> bytes:
    compressor = _take_compressor(level)
    compressed: bytes = compressor.compress(payload)
    if level not in _idle_compressors and len(_idle_compressors) >= _MOST_LEVELS:
        _idle_compressors.clear()
    _idle_compressors.setdefault(level, []).append(compressor)
    return compressed


def _decompress_zstd(payload: BytesLike, max_bytes: int) -> bytes:
    bound, frames = _measure_zstd(payload)
    try:
        decompressor = _idle_decompressors.pop()
    except IndexError:
        decompressor = _zstandard().ZstdDecompressor()
    try:
        if bound > max_bytes:
            _refuse_too_large_zstd(decompressor, payload, max_bytes)
        if frames == 1:
            original: bytes = decompressor.decompressobj().decompress(payload)
            return original
        with decompressor.stream_reader(payload, read_across_frames=True) as reader:
            return b"".join(iter(lambda: reader.read(_CHUNK_BYTES), b""))
    except _zstandard().ZstdError as fault:
        raise CorruptCompression(f"zstd: {fault}") from None
    finally:
        _idle_decompressors.append(decompressor)


def _refuse_too_large_zstd(decompressor: Any, payload: BytesLike, max_bytes: int) -> None:
    """Decompress into one small buffer: the allocator would keep what a bomb had filled."""
    buffer = bytearray(_ZSTD_BLOCK_BYTES)
    size = 0
    with decompressor.stream_reader(payload, read_across_frames=True) as reader:
        while read := reader.readinto(buffer):
            size += read
            if size > max_bytes:
                raise DecompressedTooLarge(ZSTD, max_bytes)


def _measure_zstd(payload: BytesLike) -> tuple[int, int]:
    """Walk the block headers: (the most the frames can hold, how many frames there are).

    The library's reader takes a truncated frame for a short one, so the end is checked here.
    """
    pos = bound = frames = 0
    end = len(payload)
    while pos + 5 <= end:
        (magic,) = _U32_LITTLE.unpack_from(payload, pos)
        frames += 1
        if magic & 0xFFFFFFF0 == _ZSTD_SKIPPABLE:
            pos += 8 + int.from_bytes(payload[pos + 4 : pos + 8], "little")
            continue
        if magic != _ZSTD_MAGIC:
            raise CorruptCompression("zstd: not a frame")
        descriptor = payload[pos + 4]
        single_segment = descriptor & 0x20
        pos += 5 if single_segment else 6
        pos += (0, 1, 2, 4)[descriptor & 3]
        size_flag = descriptor >> 6
        pos += 1 << size_flag if size_flag or single_segment else 0
        last = 0
        while not last:
            if pos + 3 > end:
                raise CorruptCompression("zstd: the frame ends early")
            word = payload[pos] | payload[pos + 1] << 8 | payload[pos + 2] << 16
            last = word & 1
            kind = word >> 1 & 3
            pos += 4 if kind == 1 else 3 + (word >> 3)
            bound += _ZSTD_BLOCK_BYTES if kind == 2 else word >> 3
        pos += 4 if descriptor & 0x04 else 0
    if pos != end or not frames:
        raise CorruptCompression("zstd: the frame ends early")
    return bound, frames
