"""The batches of a coordinator's log: the records of a decision, and the end of a transaction.

In:  decisions and markers. Out: a batch as a bytearray; EncodeError for a record that cannot be
encoded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.environment.slices import Breathe, go_on, paced_if
from pykbroker.protocol.control_records import ABORT, COMMIT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import (
    NO_PRODUCER_ID,
    TRANSACTIONAL_BIT,
    enclose,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pykbroker.coordinator.decisions import ShardDecision
    from pykbroker.coordinator.record_codecs import RecordCodec
    from pykbroker.decision import CoordinatorRecord
    from pykbroker.protocol.messages.write_txn_markers_request import WritableTxnMarker


def decision_batch(
    codec: RecordCodec,
    decision: ShardDecision,
    records: Iterable[CoordinatorRecord],
    now_ms: int,
    compression: int,
    breathe: Breathe | None = None,
) -> bytearray:
    """Return the batch of some of a decision's records, of its transaction if it has one.

    `breathe` is called between many records and inside large ones (`environment/slices.py`).
    """
    encode = codec.encode_record
    inside = breathe or go_on
    encoded = [encode(record, at, inside) for at, record in enumerate(paced_if(records, breathe))]
    is_transactional = decision.producer_id != NO_PRODUCER_ID
    fields = (
        compression | TRANSACTIONAL_BIT if is_transactional else compression,
        len(encoded) - 1,
        now_ms,
        now_ms,
        decision.producer_id,
        decision.producer_epoch,
        codec.BASE_SEQUENCE,
        len(encoded),
    )
    return enclose(b"".join(encoded), fields)


def marker_batch(marker: WritableTxnMarker, now_ms: int) -> bytearray:
    """Return the control batch that ends a producer's transaction."""
    control_type = COMMIT if marker.transaction_result else ABORT
    return build_marker_batch(
        EndTxnMarker(control_type, marker.coordinator_epoch),
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        timestamp_ms=now_ms,
    )
