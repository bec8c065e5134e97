"""A quick check whether a produced batch is plain, so that it can be appended unchanged.

    plain     one complete batch of magic 2 and nothing after it, not too large; uncompressed,
              CreateTime, not part of a transaction; a valid checksum; valid records with offset
              deltas 0, 1, 2 … and the max timestamp in the header, within bounds, and with keys if
              the topic is compacted; for a topic that neither compresses nor has LogAppendTime

Everything else is left to `batch_validation`, which reports what is wrong with a batch or adapts
it. A batch that is plain but for its transaction, and a transaction's marker, get the same look;
the rest of their way is the general one.

In      the record bytes of one partition, its ValidationRules, the time.
Out     the header's fields, or the outcome of `validate`; None if the batch is not plain.
Invariant
    A plain batch passes `validate`, which would change none of its bytes.
"""

from __future__ import annotations

from typing import TypeAlias

from pykbroker.log.validation.record_walk import is_plain_record, survey_records
from pykbroker.log.validation.validation_rules import CLIENT, ValidationOutcome, ValidationRules
from pykbroker.protocol.crc32c import crc32c
from pykbroker.protocol.record import CorruptRecord
from pykbroker.protocol.record_batch import (
    ATTRIBUTES_AT,
    CONTROL_BIT,
    HEADER,
    LOG_OVERHEAD,
    MAGIC_V2,
    NO_TIMESTAMP,
    RECORD_BATCH_OVERHEAD,
    RECORDS_AT,
    TRANSACTIONAL_BIT,
    unpack_header,
)

_unpack = HEADER.unpack_from

PlainHeader: TypeAlias = tuple[int, int, int, int, int]
"""Last offset delta, max timestamp, producer id, producer epoch, base sequence."""


def plain_header(
    view: memoryview,
    rules: ValidationRules,
    now_ms: int,
    expected_attributes: int = 0,
) -> PlainHeader | None:
    """Return what an append needs of the header; None if the batch is not plain, apart from the
    expected attributes, or has others.
    """
    size = len(view)
    if not RECORD_BATCH_OVERHEAD <= size <= rules.plain_bytes:
        return None
    (
        base_offset, length, _, magic, crc, attributes, delta, base_timestamp, max_timestamp,
        producer_id, producer_epoch, base_sequence, count,
    ) = _unpack(view)  # fmt: skip
    if (
        magic != MAGIC_V2
        or attributes != expected_attributes
        or base_offset
        or length + LOG_OVERHEAD != size
        or delta < 0
        or count != delta + 1
        or (producer_id >= 0 and base_sequence < 0 and not attributes & CONTROL_BIT)
        or max_timestamp < NO_TIMESTAMP
        or max_timestamp - now_ms > rules.after_max_ms
        or crc != crc32c(view[ATTRIBUTES_AT:])
    ):
        return None
    records = bytes(view[RECORDS_AT:])
    if count == 1 and is_plain_record(records, rules.compact):
        min_timestamp = base_timestamp
        if base_timestamp != max_timestamp:
            return None
    else:
        try:
            survey = survey_records(records, count)
        except CorruptRecord:
            return None
        if not survey.dense or max_timestamp != base_timestamp + survey.max_delta:
            return None
        if rules.compact and survey.first_keyless >= 0:
            return None
        min_timestamp = base_timestamp + survey.min_delta
    if now_ms - min_timestamp > rules.before_max_ms:
        return None
    return delta, max_timestamp, producer_id, producer_epoch, base_sequence


def transactional_outcome(
    view: memoryview, rules: ValidationRules, now_ms: int, origin: int
) -> ValidationOutcome | None:
    """Return what `validate` returns for a plain batch of a transaction, and for a marker that no
    client wrote; None if `validate` has to check the batch.
    """
    if len(view) < RECORDS_AT:
        return None
    attributes = view[ATTRIBUTES_AT + 1]
    if not attributes & TRANSACTIONAL_BIT or (attributes & CONTROL_BIT and origin == CLIENT):
        return None
    header = plain_header(view, rules, now_ms, attributes & (TRANSACTIONAL_BIT | CONTROL_BIT))
    if header is None:
        return None
    outcome = ValidationOutcome()
    outcome.header = unpack_header(view)
    outcome.batch = bytearray(view) if view.readonly else view
    return outcome
