"""How many records one request may write: Kafka's `MAX_RECORDS_PER_USER_OP`."""

from __future__ import annotations

from pykbroker.errors import ErrorCode, KafkaError

MAX_RECORDS_PER_REQUEST = 10_000


def check_batch_size(count: int) -> None:
    """Raise KafkaError if a request must not write as many as `count` records."""
    if count > MAX_RECORDS_PER_REQUEST:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation."
        )
