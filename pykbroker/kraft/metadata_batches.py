"""Encodes the controller's records and cuts them into batches, before they are appended.

Source: Kafka's `QuorumController.java`, `BatchAccumulator.java`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pykbroker.decision import MetadataRecord
from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.metadata_record_codec import encode_metadata_record
from pykbroker.values import NamedTuple

# QuorumController.java: a decision that is not atomic is cut into batches of this many records.
MAX_RECORDS_PER_BATCH: Final = 10_000
MAX_BATCH_BYTES: Final = 8 << 20


class PreparedAppend(NamedTuple):
    """Records and their bytes, in batches; the first batch begins at `base_offset`, unless control
    records are appended before it.
    """

    base_offset: int
    chunks: list[list[tuple[MetadataRecord, bytes]]]


def cut_into_batches(
    records: Sequence[MetadataRecord], *, atomic: bool, breathe: Breathe = go_on
) -> list[list[tuple[MetadataRecord, bytes]]]:
    """Return the records with their bytes, in batches; one batch if they must take effect together.

    `breathe` is called between records (`environment/slices.py`). Raises
    KafkaError(POLICY_VIOLATION) if atomic records have more than MAX_BATCH_BYTES.
    """
    encoded = [(record, encode_metadata_record(record)) for record in paced(records, breathe)]
    if atomic:
        if sum(len(value) for _, value in encoded) > MAX_BATCH_BYTES:
            raise KafkaError(ErrorCode.POLICY_VIOLATION, "The request changes too much at once.")
        return [encoded]
    chunks: list[list[tuple[MetadataRecord, bytes]]] = [[]]
    size = 0
    for entry in encoded:
        if chunks[-1] and (
            len(chunks[-1]) >= MAX_RECORDS_PER_BATCH or size + len(entry[1]) > MAX_BATCH_BYTES // 2
        ):
            chunks.append([])
            size = 0
        chunks[-1].append(entry)
        size += len(entry[1])
    return chunks
