"""Record batches of magic 2: a header over a memoryview, strict decoding, building, patching.

    pos size  field                    (big endian; the record data of Kafka since 0.11)
      0   8   base offset              \\  outside the checksum: the
      8   4   batch length             |  leader sets offset and epoch;
     12   4   partition leader epoch   |  length counts from byte 12
     16   1   magic = 2                /
     17   4   CRC-32C of all bytes from 21 on
     21   2   attributes   0-2 codec, 3 timestamp type (1 = log append time), 4 transactional,
                           5 control, 6 delete horizon (KIP-534), 7-15 unused
     23   4   last offset delta
     27   8   base timestamp (with bit 6: the delete horizon, and the base of the deltas still)
     35   8   max timestamp (with log append time: the time of every record)
     43   8   producer id              -1 none
     51   2   producer epoch           -1 none
     53   4   base sequence            -1 none
     57   4   record count
     61       records (see record.py), compressed together by the codec of bits 0-2

Nothing is copied before the records are decoded.
Invariants
    Malformed bytes raise CorruptBatch (`read_header`) or CorruptRecord (the records), nothing else.
    A decoded batch accounts for every one of its bytes: as many records as it counts, the last
    ending where the batch ends.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter, lt

from pykbroker.protocol import compression
from pykbroker.protocol.crc32c import BytesLike, crc32c
from pykbroker.protocol.record import (
    CorruptBatch,
    CorruptRecord,
    Headers,
    NewRecord,
    RawRecord,
    Record,
    encode_record,
    encode_varint,
    read_records,
    read_varint,
)
from pykbroker.values import NamedTuple

__all__ = [
    "BatchHeader",
    "CorruptBatch",
    "CorruptRecord",
    "Headers",
    "NewRecord",
    "Record",
    "RecordColumns",
    "assemble_batch",
    "assign_offset",
    "assign_timestamp",
    "build_batch",
    "check_crc",
    "columns_of",
    "compute_crc",
    "enclose",
    "encode_record",
    "encode_varint",
    "iter_batches",
    "iter_headers",
    "iter_records",
    "read_header",
    "read_records",
    "read_varint",
    "records_payload",
    "stored_crc",
    "unpack_header",
]


BASE_OFFSET_AT = 0
BATCH_LENGTH_AT = 8
LEADER_EPOCH_AT = 12
MAGIC_AT = 16
CRC_AT = 17
ATTRIBUTES_AT = 21
LAST_OFFSET_DELTA_AT = 23
BASE_TIMESTAMP_AT = 27
MAX_TIMESTAMP_AT = 35
PRODUCER_ID_AT = 43
PRODUCER_EPOCH_AT = 51
BASE_SEQUENCE_AT = 53
RECORD_COUNT_AT = 57
RECORDS_AT = 61

LOG_OVERHEAD = 12
RECORD_BATCH_OVERHEAD = 61
MAGIC_V2 = 2

CODEC_MASK = 0x07
LOG_APPEND_TIME_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40
KNOWN_ATTRIBUTES = 0x7F

NO_TIMESTAMP_TYPE = -1  # of messages of magic 0
CREATE_TIME = 0
LOG_APPEND_TIME = 1

NO_TIMESTAMP = -1
NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
NO_LEADER_EPOCH = -1

#: A bound on decompression where the caller has none of its own.
MAX_DECOMPRESSED_BYTES = 0x7FFFFFFF
_PIECE_RECORDS = 4096

HEADER = struct.Struct(">qiibIhiqqqhii")
_header_fields = attrgetter(
    "base_offset",
    "batch_length",
    "partition_leader_epoch",
    "magic",
    "crc",
    "attributes",
    "last_offset_delta",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "record_count",
)
_I64 = struct.Struct(">q")
_I32 = struct.Struct(">i")
_U32 = struct.Struct(">I")
_I16 = struct.Struct(">h")


class BatchHeader:
    """The fixed fields of one batch."""

    __slots__ = (
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "batch_length",
        "crc",
        "last_offset_delta",
        "magic",
        "max_timestamp",
        "partition_leader_epoch",
        "producer_epoch",
        "producer_id",
        "record_count",
    )

    def __init__(
        self,
        base_offset: int,
        batch_length: int,
        partition_leader_epoch: int,
        magic: int,
        crc: int,
        attributes: int,
        last_offset_delta: int,
        base_timestamp: int,
        max_timestamp: int,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
        record_count: int,
    ) -> None:
        self.base_offset = base_offset
        self.batch_length = batch_length
        self.partition_leader_epoch = partition_leader_epoch
        self.magic = magic
        self.crc = crc
        self.attributes = attributes
        self.last_offset_delta = last_offset_delta
        self.base_timestamp = base_timestamp
        self.max_timestamp = max_timestamp
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.base_sequence = base_sequence
        self.record_count = record_count

    @property
    def size_bytes(self) -> int:
        """Size of the whole batch, its first twelve bytes included."""
        return LOG_OVERHEAD + self.batch_length

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def timestamp_type(self) -> int:
        """CREATE_TIME or LOG_APPEND_TIME."""
        return LOG_APPEND_TIME if self.attributes & LOG_APPEND_TIME_BIT else CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_BIT)

    @property
    def has_delete_horizon(self) -> bool:
        return bool(self.attributes & DELETE_HORIZON_BIT)

    @property
    def delete_horizon_ms(self) -> int | None:
        return self.base_timestamp if self.attributes & DELETE_HORIZON_BIT else None

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id > NO_PRODUCER_ID

    @property
    def last_sequence(self) -> int:
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return increment_sequence(self.base_sequence, self.last_offset_delta)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)}" for name in self.__slots__)
        return f"BatchHeader({fields})"


def increment_sequence(sequence: int, increment: int) -> int:
    """Sequences run from 0 to 2**31 - 1 and then begin again at 0."""
    return (sequence + increment) & 0x7FFFFFFF


def decrement_sequence(sequence: int, decrement: int) -> int:
    return (sequence - decrement) & 0x7FFFFFFF


# -- reading ------------------------------------------------------------------------------------


def unpack_header(buf: BytesLike, pos: int = 0) -> BatchHeader:
    """The fields as they stand, whether or not they make sense and the records are there.
    struct.error if the header is not.
    """
    return BatchHeader(*HEADER.unpack_from(buf, pos))


def read_header(buf: BytesLike, pos: int = 0) -> BatchHeader:
    """The header of the batch that begins at `pos`; CorruptBatch unless all of the batch is there.

    The checksum is not looked at: see `check_crc`.
    """
    remaining = len(buf) - pos
    if remaining < RECORD_BATCH_OVERHEAD:
        raise CorruptBatch(f"{remaining} bytes are too few for a record batch")
    header = unpack_header(buf, pos)
    if header.magic != MAGIC_V2:
        raise CorruptBatch(f"record batch of magic {header.magic}")
    size = LOG_OVERHEAD + header.batch_length
    if size < RECORD_BATCH_OVERHEAD:
        raise CorruptBatch(f"record batch of {size} bytes, less than its header")
    if size > remaining:
        raise CorruptBatch(f"record batch of {size} bytes, only {remaining} are there")
    return header


def iter_headers(
    buf: BytesLike, *, partial_tail: bool = False
) -> Iterator[tuple[int, BatchHeader]]:
    """(position, header) of each batch of `buf`; a cut-off last batch ends it if `partial_tail`."""
    pos = 0
    end = len(buf)
    while pos < end:
        if partial_tail:
            if end - pos < LOG_OVERHEAD:
                return
            (length,) = _I32.unpack_from(buf, pos + BATCH_LENGTH_AT)
            if LOG_OVERHEAD + length > end - pos:
                return
        header = read_header(buf, pos)
        yield pos, header
        pos += LOG_OVERHEAD + header.batch_length


def iter_batches(
    buf: BytesLike, *, partial_tail: bool = False
) -> Iterator[tuple[BatchHeader, memoryview]]:
    """(header, the bytes of the batch) of each batch of `buf`."""
    view = memoryview(buf)
    for pos, header in iter_headers(view, partial_tail=partial_tail):
        yield header, view[pos : pos + LOG_OVERHEAD + header.batch_length]


def stored_crc(batch: BytesLike) -> int:
    crc: int = _U32.unpack_from(batch, CRC_AT)[0]
    return crc


def compute_crc(batch: BytesLike) -> int:
    """The checksum that the batch should have; `batch` is exactly one batch."""
    return crc32c(memoryview(batch)[ATTRIBUTES_AT:])


def check_crc(batch: BytesLike) -> bool:
    return stored_crc(batch) == compute_crc(batch)


def records_payload(
    batch: BytesLike, header: BatchHeader, max_decompressed: int = MAX_DECOMPRESSED_BYTES
) -> bytes:
    """The bytes of the records, decompressed; CorruptRecord when they cannot be."""
    try:
        return compression.decompress(
            header.attributes & CODEC_MASK, memoryview(batch)[RECORDS_AT:], max_decompressed
        )
    except compression.CorruptCompression as fault:
        raise CorruptRecord(str(fault)) from None


class RecordColumns(NamedTuple):
    """The records of a batch, field by field; offsets absolute, timestamps in ms."""

    offsets: Sequence[int]
    timestamps: Sequence[int]
    keys: Sequence[bytes | None]
    values: Sequence[bytes | None]
    headers: Sequence[Headers]


def columns_of(payload: bytes, header: BatchHeader) -> RecordColumns:
    """The decompressed records of a batch; CorruptRecord.

    Offsets out of order are refused before much of what is behind them is decoded. With log append
    time every record has the batch's max timestamp.
    """
    count = header.record_count
    pieces: list[RecordColumns] = []
    last, end = -1, 0
    for done in range(0, count, _PIECE_RECORDS):
        try:
            records = list(read_records(payload, min(count - done, _PIECE_RECORDS), end))
        except IndexError:
            raise CorruptRecord("the records end early") from None
        pieces.append(_columns_behind(last, records, header))
        last, end = records[-1][1], records[-1][5]
    if count < 0 or end != len(payload):
        raise CorruptRecord(f"{count} records leave {len(payload) - end} bytes over")
    if len(pieces) == 1:
        return pieces[0]
    return RecordColumns._make(list(chain(*(each[at] for each in pieces))) for at in range(5))


def _columns_behind(last: int, records: list[RawRecord], header: BatchHeader) -> RecordColumns:
    """Of some of a batch's records; `last`: the offset delta before them."""
    time_deltas, deltas, keys, values, headers, _ = zip(*records, strict=True)
    if (
        deltas[0] <= last
        or deltas[-1] > header.last_offset_delta
        or not all(map(lt, deltas, deltas[1:]))
    ):
        raise CorruptRecord(f"offset deltas out of order, or not 0 to {header.last_offset_delta}")
    base_offset, base_timestamp = header.base_offset, header.base_timestamp
    if header.attributes & LOG_APPEND_TIME_BIT:
        timestamps = [header.max_timestamp] * len(records)
    else:
        timestamps = [base_timestamp + delta for delta in time_deltas]
    return RecordColumns([base_offset + d for d in deltas], timestamps, keys, values, headers)


def iter_records(
    batch: BytesLike,
    header: BatchHeader | None = None,
    *,
    max_decompressed: int = MAX_DECOMPRESSED_BYTES,
) -> Iterator[Record]:
    """The records of one whole batch, strictly decoded; raises CorruptBatch and CorruptRecord."""
    if header is None:
        header = read_header(batch)
    return map(Record, *columns_of(records_payload(batch, header, max_decompressed), header))


# -- building -----------------------------------------------------------------------------------


def build_batch(
    records: Iterable[NewRecord],
    *,
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
    codec: int = compression.NONE,
    level: int | None = None,
    timestamp_type: int = CREATE_TIME,
    log_append_time: int = NO_TIMESTAMP,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    is_transactional: bool = False,
    is_control: bool = False,
    offset_deltas: Sequence[int] | None = None,
    last_offset_delta: int | None = None,
    delete_horizon_ms: int | None = None,
) -> bytearray:
    """A whole batch with its checksum.

    `offset_deltas` (one for each record) and `last_offset_delta` are for batches with gaps, as
    compaction leaves them; `delete_horizon_ms` takes the place of the base timestamp.
    """
    base_timestamp = delete_horizon_ms
    max_timestamp = NO_TIMESTAMP
    encoded: list[bytes] = []
    delta = -1
    for index, (key, value, timestamp, headers) in enumerate(records):
        if base_timestamp is None:
            base_timestamp = timestamp
        if timestamp > max_timestamp:
            max_timestamp = timestamp
        delta = index if offset_deltas is None else offset_deltas[index]
        encoded.append(encode_record(delta, timestamp - base_timestamp, key, value, headers))
    attributes = codec
    attributes |= LOG_APPEND_TIME_BIT if timestamp_type == LOG_APPEND_TIME else 0
    attributes |= TRANSACTIONAL_BIT if is_transactional else 0
    attributes |= CONTROL_BIT if is_control else 0
    attributes |= DELETE_HORIZON_BIT if delete_horizon_ms is not None else 0
    fields = (
        attributes, delta if last_offset_delta is None else last_offset_delta,
        NO_TIMESTAMP if base_timestamp is None else base_timestamp,
        log_append_time if timestamp_type == LOG_APPEND_TIME else max_timestamp,
        producer_id, producer_epoch, base_sequence, len(encoded),
    )  # fmt: skip
    return enclose(b"".join(encoded), fields, base_offset, leader_epoch, level)


def assemble_batch(payload: BytesLike, header: BatchHeader, level: int | None = None) -> bytearray:
    """Compress the encoded records with the header's codec, set its length and checksum."""
    fields = _header_fields(header)
    batch = enclose(payload, fields[5:], header.base_offset, header.partition_leader_epoch, level)
    header.batch_length = len(batch) - LOG_OVERHEAD
    header.crc = stored_crc(batch)
    return batch


def enclose(
    payload: BytesLike,
    fields: tuple[int, ...],
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
    level: int | None = None,
) -> bytearray:
    """The batch of encoded records; `fields` are those of its header from the attributes on."""
    codec = fields[0] & CODEC_MASK
    stored = payload if codec == compression.NONE else compression.compress(codec, payload, level)
    size = RECORDS_AT - LOG_OVERHEAD + len(stored)
    batch = bytearray(HEADER.pack(base_offset, size, leader_epoch, MAGIC_V2, 0, *fields))
    batch += stored
    _U32.pack_into(batch, CRC_AT, compute_crc(batch))
    return batch


# -- patching in place --------------------------------------------------------------------------


def assign_offset(batch: bytearray | memoryview, base_offset: int, leader_epoch: int) -> None:
    """Write the base offset and leader epoch: both outside the checksum."""
    _I64.pack_into(batch, BASE_OFFSET_AT, base_offset)
    _I32.pack_into(batch, LEADER_EPOCH_AT, leader_epoch)


def assign_timestamp(
    batch: bytearray | memoryview, timestamp_type: int, max_timestamp: int
) -> None:
    """Write the max timestamp and its type, and the new checksum if that changed anything.

    With log append time the max timestamp becomes the time of every record of the batch.
    """
    (attributes,) = _I16.unpack_from(batch, ATTRIBUTES_AT)
    (current,) = _I64.unpack_from(batch, MAX_TIMESTAMP_AT)
    wanted = attributes & ~LOG_APPEND_TIME_BIT
    if timestamp_type == LOG_APPEND_TIME:
        wanted |= LOG_APPEND_TIME_BIT
    if wanted == attributes and current == max_timestamp:
        return
    _I16.pack_into(batch, ATTRIBUTES_AT, wanted & KNOWN_ATTRIBUTES)  # as Kafka computes them anew
    _I64.pack_into(batch, MAX_TIMESTAMP_AT, max_timestamp)
    _U32.pack_into(batch, CRC_AT, compute_crc(batch))
