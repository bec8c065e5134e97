"""A leader's checks of a produced batch, and how it is rewritten before it is appended.

State   none. ValidationRules are the settings of one partition, recreated when its config changes.
In      the record bytes of one partition of a produce request (or of a coordinator), the time.
Out     ValidationOutcome: an error of the protocol with its record errors, or the batch to append.
Invariants
    Nothing passes that a consumer cannot read: framing, checksum, codec and the structure of every
    record are checked. A batch that passes has offset deltas 0, 1, 2 …; its max timestamp is
    corrected, or is `now_ms` in a topic with LogAppendTime.
    The caller's bytes change only if the batch passes, or is only longer than segment.bytes.

Kafka's checks, and their error codes (LogValidator.java, UnifiedLog.analyzeAndValidateRecords):

    no batch, more than one, magic 0 or 1, base offset not 0     INVALID_RECORD
    length shorter than a header, unknown magic, wrong checksum  CORRUPT_MESSAGE
    longer than max.message.bytes / than segment.bytes           MESSAGE_TOO_LARGE / RECORD_LIST_…
    count against offset range, control batch, no base sequence  INVALID_RECORD
    a record without key in a compacted topic                    INVALID_RECORD, record errors
    a timestamp out of bounds, if the topic has CreateTime       INVALID_TIMESTAMP, record errors
    the type LogAppendTime, if the topic has it or time is -1    INVALID_TIMESTAMP, record errors
    a compressed record above max.decompressed.message.bytes     INVALID_RECORD

Base offset, count, control batch and base sequence are checked only if a client sent the batch.

The checksum is looked at after max.message.bytes, segment.bytes last, as in Kafka.

Differences from Kafka: bytes that do not decompress, codec ids 5 to 7 and records with an
inconsistent structure are INVALID_RECORD (Kafka answers UNKNOWN_SERVER_ERROR to the first two); a
batch of more than MAX_DECOMPRESSED_BATCH_BYTES is MESSAGE_TOO_LARGE, whereupon stock producers
split it; offset deltas with gaps are renumbered even in uncompressed batches, where Kafka keeps
them; timestamps below -1, or a transaction without a producer id, in a batch that has to be
rewritten are INVALID_TIMESTAMP and INVALID_RECORD, not UNKNOWN_SERVER_ERROR.

Every record is parsed, as in Kafka: the header does not guarantee that the records are valid, and
an invalid record would stop all consumers of the partition. record_walk.py has the cost.
"""

from __future__ import annotations

from pykbroker.errors import ErrorCode
from pykbroker.log.validation.record_walk import RecordSurvey, survey_records
from pykbroker.log.validation.validation_rules import (
    CLIENT,
    COORDINATOR,
    REPLICATION,
    HeavyBatch,
    Refused,
    ValidationOutcome,
    ValidationRules,
)
from pykbroker.protocol import compression
from pykbroker.protocol.crc32c import crc32c
from pykbroker.protocol.record import CorruptBatch, CorruptRecord, encode_record, read_records
from pykbroker.protocol.record_batch import (
    ATTRIBUTES_AT,
    CODEC_MASK,
    CONTROL_BIT,
    CREATE_TIME,
    LOG_APPEND_TIME,
    LOG_APPEND_TIME_BIT,
    LOG_OVERHEAD,
    MAGIC_AT,
    MAGIC_V2,
    NO_TIMESTAMP,
    RECORD_BATCH_OVERHEAD,
    RECORDS_AT,
    TRANSACTIONAL_BIT,
    BatchHeader,
    assemble_batch,
    assign_timestamp,
    unpack_header,
)
from pykbroker.protocol.stored_batch import has_right_crc, iter_stored

__all__ = [
    "CLIENT",
    "COORDINATOR",
    "REPLICATION",
    "ValidationOutcome",
    "ValidationRules",
    "check_replicated",
    "stamp",
    "validate",
]

#: The maximum size of one batch once decompressed, however well it compresses.
MAX_DECOMPRESSED_BATCH_BYTES = 128 * 1024 * 1024

_SMALLEST_BATCH_LENGTH = 14
_HEADER_UP_TO_MAGIC = MAGIC_AT + 1
_MAX_REPORTED_ERRORS = 3
_LENGTH_BYTES = 5  # at most, of a record: RecordSurvey.largest is the size after it
_NOT_ONE_BATCH = "Produce requests must have exactly one record batch per partition"

_CORRUPT_MESSAGE = int(ErrorCode.CORRUPT_MESSAGE)
_INVALID_RECORD = int(ErrorCode.INVALID_RECORD)
_INVALID_TIMESTAMP = int(ErrorCode.INVALID_TIMESTAMP)
_MESSAGE_TOO_LARGE = int(ErrorCode.MESSAGE_TOO_LARGE)
_RECORD_LIST_TOO_LARGE = int(ErrorCode.RECORD_LIST_TOO_LARGE)


def validate(
    records: bytearray | memoryview | bytes,
    rules: ValidationRules,
    now_ms: int,
    origin: int = CLIENT,
    light_bytes: int | None = None,
) -> ValidationOutcome:
    """Check the one batch of `records` and adapt it to `rules`.

    Raises HeavyBatch if it is compressed and holds more than `light_bytes` once decompressed.
    """
    view = memoryview(records)
    try:
        header = _read_one_batch(view, rules, origin)
        size = LOG_OVERHEAD + header.batch_length
        if size != len(view):
            view = view[:size]
        if header.crc != crc32c(view[ATTRIBUTES_AT:]):
            return ValidationOutcome(
                _CORRUPT_MESSAGE,
                f"Record is corrupt (stored crc = {header.crc}) in topic partition "
                f"{rules.partition}.",
            )
        if origin == CLIENT:
            _check_client_header(header, rules)
        return _validate_records(view, header, rules, now_ms, light_bytes)
    except Refused as refused:
        return refused.outcome


def check_replicated(records: memoryview, partition: str) -> list[tuple[int, BatchHeader]]:
    """Return (position, header) of each batch that a leader sent; raises
    CorruptBatch unless all are intact.

    An incomplete batch at the end, as a fetch may return it, is ignored.
    """
    batches: list[tuple[int, BatchHeader]] = []
    pos = 0
    for header, batch in iter_stored(records, partial_tail=True):
        if not has_right_crc(batch, header):
            raise CorruptBatch(
                f"batch at offset {header.base_offset} of {partition} has a wrong checksum "
                f"(stored {header.crc})"
            )
        batches.append((pos, header))
        pos += len(batch)
    return batches


def stamp(outcome: ValidationOutcome, now_ms: int) -> None:
    """Set LogAppendTime of a batch that was checked earlier, so that time
    does not go back in a log.
    """
    if outcome.error or now_ms <= outcome.log_append_time:
        return
    assign_timestamp(outcome.batch, LOG_APPEND_TIME, now_ms)
    outcome.header = unpack_header(outcome.batch)
    outcome.log_append_time = now_ms


# -- the header ---------------------------------------------------------------------------------


def _read_one_batch(view: memoryview, rules: ValidationRules, origin: int) -> BatchHeader:
    remaining = len(view)
    if remaining < RECORD_BATCH_OVERHEAD:
        raise Refused(*_explain_framing(view, rules))
    header = unpack_header(view)
    size = LOG_OVERHEAD + header.batch_length
    if header.magic != MAGIC_V2 or not RECORD_BATCH_OVERHEAD <= size <= remaining:
        raise Refused(*_explain_framing(view, rules))
    if size < remaining:
        _check_tail(view[size:], rules)
    if origin == CLIENT and header.base_offset != 0:
        raise Refused(
            _INVALID_RECORD,
            f"The baseOffset of the record batch in the append to {rules.partition} should be 0, "
            f"but it is {header.base_offset}",
        )
    if size > rules.max_message_bytes:
        raise Refused(
            _MESSAGE_TOO_LARGE,
            f"The record batch size in the append to {rules.partition} is {size} bytes which "
            f"exceeds the maximum configured value of {rules.max_message_bytes}.",
        )
    return header


def _explain_framing(view: memoryview, rules: ValidationRules) -> tuple[int, str]:
    """Return Kafka's answer (code, reason) to bytes that do not begin with a complete batch of
    magic 2; raises Refused with it if they cannot be a batch.
    """
    if not _is_whole_batch(view, rules):
        return _INVALID_RECORD, _NOT_ONE_BATCH
    if view[MAGIC_AT] < MAGIC_V2:
        return (
            _INVALID_RECORD,
            "Produce requests are only allowed to contain record batches with magic version 2",
        )
    return _CORRUPT_MESSAGE, "Record batch is corrupt (its size is smaller than a header)"


def _check_tail(tail: memoryview, rules: ValidationRules) -> None:
    """Check the bytes after the first batch: a second batch is rejected, an
    incomplete one is dropped.
    """
    if _is_whole_batch(tail, rules):
        raise Refused(_INVALID_RECORD, _NOT_ONE_BATCH)


def _is_whole_batch(view: memoryview, rules: ValidationRules) -> bool:
    """Return False for an incomplete batch; reject what cannot be one
    (ByteBufferLogInputStream.java).
    """
    if len(view) < LOG_OVERHEAD:
        return False
    length = int.from_bytes(view[8:12], "big", signed=True)
    if length < _SMALLEST_BATCH_LENGTH:
        raise Refused(
            _CORRUPT_MESSAGE,
            f"Record size {length} is less than the minimum record overhead in {rules.partition}",
        )
    if len(view) < _HEADER_UP_TO_MAGIC:
        return False
    magic = view[MAGIC_AT]
    if magic > MAGIC_V2:
        raise Refused(_CORRUPT_MESSAGE, f"Invalid magic found in record: {magic}")
    return LOG_OVERHEAD + length <= len(view)


def _check_client_header(header: BatchHeader, rules: ValidationRules) -> None:
    partition = rules.partition
    count = header.record_count
    if header.last_offset_delta < 0:
        raise Refused(
            _INVALID_RECORD,
            f"Batch has an invalid offset range: [{header.base_offset}, {header.last_offset}] in "
            f"topic partition {partition}",
        )
    if count <= 0:
        raise Refused(
            _INVALID_RECORD,
            f"Invalid reported count for record batch: {count} in topic partition {partition}",
        )
    if count != header.last_offset_delta + 1:
        raise Refused(
            _INVALID_RECORD,
            f"Inconsistent batch offset range [{header.base_offset}, {header.last_offset}] and "
            f"count of records {count} in topic partition {partition}",
        )
    if header.attributes & CONTROL_BIT:
        raise Refused(
            _INVALID_RECORD,
            f"Clients are not allowed to write control records in topic partition {partition}",
        )
    if header.producer_id >= 0 and header.base_sequence < 0:
        raise Refused(
            _INVALID_RECORD,
            f"Invalid sequence number {header.base_sequence} in record batch with producerId "
            f"{header.producer_id} in topic partition {partition}",
        )


# -- the records --------------------------------------------------------------------------------


def _validate_records(
    view: memoryview,
    header: BatchHeader,
    rules: ValidationRules,
    now_ms: int,
    light_bytes: int | None,
) -> ValidationOutcome:
    payload = _decompress(view, header, rules, light_bytes)
    try:
        survey = survey_records(payload, header.record_count)
    except CorruptRecord as fault:
        raise Refused(
            _INVALID_RECORD, f"Invalid record in topic partition {rules.partition}: {fault}"
        ) from None
    attributes = header.attributes
    outcome = ValidationOutcome()
    if attributes & LOG_APPEND_TIME_BIT:
        max_timestamp = min_timestamp = header.max_timestamp
    else:
        max_timestamp = header.base_timestamp + survey.max_delta
        min_timestamp = header.base_timestamp + survey.min_delta
    is_out_of_range = not rules.log_append_time and (
        max_timestamp - now_ms > rules.after_max_ms or now_ms - min_timestamp > rules.before_max_ms
    )
    if (
        is_out_of_range
        or (rules.compact and survey.first_keyless >= 0)
        or (survey.largest + _LENGTH_BYTES > rules.max_record_bytes and attributes & CODEC_MASK)
        or attributes & LOG_APPEND_TIME_BIT
    ):
        _check_each_record(payload, header, rules, now_ms)
    if rules.log_append_time:
        outcome.log_append_time = max_timestamp = now_ms
    elif max_timestamp < NO_TIMESTAMP:  # also if there is no record; Kafka counts from -1
        max_timestamp = NO_TIMESTAMP if header.record_count else header.max_timestamp

    if not survey.dense or rules.recompresses(attributes):
        if min_timestamp < NO_TIMESTAMP:
            raise Refused(
                _INVALID_TIMESTAMP, f"Negative timestamp {min_timestamp} in {rules.partition}"
            )
        if attributes & TRANSACTIONAL_BIT and header.producer_id < 0:
            raise Refused(
                _INVALID_RECORD, f"Transactional batch without producer id in {rules.partition}"
            )
        _rewrite(outcome, payload, header, survey, rules, max_timestamp)
    else:
        _patch(outcome, view, header, rules, max_timestamp)
    size = len(outcome.batch)
    if outcome.rewritten and size > rules.max_message_bytes:
        raise Refused(
            _MESSAGE_TOO_LARGE,
            f"Message batch size is {size} bytes in append to partition {rules.partition} which "
            f"exceeds the maximum configured size of {rules.max_message_bytes}.",
        )
    if size > rules.segment_bytes:
        raise Refused(
            _RECORD_LIST_TOO_LARGE,
            f"Message batch size is {size} bytes in append to partition {rules.partition}, which "
            f"exceeds the maximum configured segment size of {rules.segment_bytes}.",
        )
    return outcome


def _decompress(
    view: memoryview, header: BatchHeader, rules: ValidationRules, light_bytes: int | None
) -> bytes:
    codec = header.attributes & CODEC_MASK
    if codec == compression.NONE:
        return bytes(view[RECORDS_AT:])
    limit = MAX_DECOMPRESSED_BATCH_BYTES if light_bytes is None else light_bytes
    try:
        return compression.decompress(codec, view[RECORDS_AT:], limit)
    except compression.DecompressedTooLarge:
        if light_bytes is not None:
            raise HeavyBatch from None
        raise Refused(
            _MESSAGE_TOO_LARGE,
            f"The record batch in the append to {rules.partition} holds more than "
            f"{MAX_DECOMPRESSED_BATCH_BYTES} bytes once decompressed",
        ) from None
    except compression.CorruptCompression as fault:
        raise Refused(
            _INVALID_RECORD,
            f"The records cannot be decompressed in topic partition {rules.partition}: {fault}",
        ) from None


def _patch(
    outcome: ValidationOutcome,
    view: memoryview,
    header: BatchHeader,
    rules: ValidationRules,
    max_timestamp: int,
) -> None:
    """Keep the bytes, but correct timestamp and type in place where necessary."""
    kind = LOG_APPEND_TIME if rules.log_append_time else CREATE_TIME
    batch: bytearray | memoryview = bytearray(view) if view.readonly else view
    if max_timestamp != header.max_timestamp or kind != header.timestamp_type:
        assign_timestamp(batch, kind, max_timestamp)
        header = unpack_header(batch)
    outcome.batch = batch
    outcome.header = header


def _rewrite(
    outcome: ValidationOutcome,
    payload: bytes,
    header: BatchHeader,
    survey: RecordSurvey,
    rules: ValidationRules,
    max_timestamp: int,
) -> None:
    """Build a new batch: another codec, offset deltas without gaps, or both."""
    codec = header.attributes & CODEC_MASK
    level = None
    if rules.codec is not None and rules.recompresses(header.attributes):
        codec = rules.codec
        level = rules.level
    elif rules.codec == codec:
        level = rules.level
    if not survey.dense:
        payload = _renumber(payload, header.record_count)
    attributes = header.attributes & (TRANSACTIONAL_BIT | CONTROL_BIT) | codec
    if rules.log_append_time:
        attributes |= LOG_APPEND_TIME_BIT
    header.attributes = attributes
    header.last_offset_delta = header.record_count - 1
    header.max_timestamp = max_timestamp
    outcome.batch = assemble_batch(payload, header, level)
    outcome.header = header
    outcome.rewritten = True


def _renumber(payload: bytes, count: int) -> bytes:
    return b"".join(
        encode_record(index, timestamp_delta, key, value, headers)
        for index, (timestamp_delta, _, key, value, headers, _) in enumerate(
            read_records(payload, count)
        )
    )


def _check_each_record(
    payload: bytes, header: BatchHeader, rules: ValidationRules, now_ms: int
) -> None:
    """Raise Refused if a record of the batch breaks a rule."""
    errors: list[tuple[int, str]] = []
    bad_timestamp = False
    append_time = bool(header.attributes & LOG_APPEND_TIME_BIT)
    bounded = bool(header.attributes & CODEC_MASK)  # max.message.bytes limits the others
    pos = 0
    for index, record in enumerate(read_records(payload, header.record_count)):
        start = pos
        timestamp_delta, _, key, _, _, pos = record
        if bounded and pos - start > rules.max_record_bytes:
            raise Refused(
                _INVALID_RECORD,
                f"A record of {pos - start} bytes exceeds max.decompressed.message.bytes "
                f"{rules.max_record_bytes} in topic partition {rules.partition}",
            )
        if rules.compact and key is None:
            errors.append((index, _no_key(rules)))
            continue
        timestamp = header.max_timestamp if append_time else header.base_timestamp + timestamp_delta
        if not rules.log_append_time and timestamp != NO_TIMESTAMP:
            if not -rules.after_max_ms <= now_ms - timestamp <= rules.before_max_ms:
                bad_timestamp = True
                errors.append((index, _out_of_range(timestamp, index, rules, now_ms)))
        elif append_time:
            bad_timestamp = True
            errors.append((index, _WRONG_TYPE.format(index)))
    if not errors:
        return
    if bad_timestamp:
        raise Refused(
            _INVALID_TIMESTAMP,
            "One or more records have been rejected due to invalid timestamp",
            errors,
        )
    shown = ", ".join(
        f"RecordError(batchIndex={index}, message='{text}')"
        for index, text in errors[:_MAX_REPORTED_ERRORS]
    )
    raise Refused(
        _INVALID_RECORD,
        f"One or more records have been rejected due to {len(errors)} record errors in total, and "
        f"only showing the first three errors at most: [{shown}]",
        errors,
    )


_WRONG_TYPE = (
    "Invalid timestamp type in message {}. Producer should not set timestamp type to LogAppendTime."
)


def _no_key(rules: ValidationRules) -> str:
    return f"Compacted topic cannot accept message without key in topic partition {rules.partition}"


def _out_of_range(timestamp: int, index: int, rules: ValidationRules, now_ms: int) -> str:
    return (
        f"Timestamp {timestamp} of message with offset {index} is out of range. The timestamp "
        f"should be within [{now_ms - rules.before_max_ms}, {now_ms + rules.after_max_ms}]"
    )
