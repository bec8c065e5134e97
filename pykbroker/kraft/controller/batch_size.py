"""How many records a request of a client may write, how many partitions it may create, and how long
the value of a setting may be.

Source: Kafka's `QuorumController.java` (`MAX_RECORDS_PER_USER_OP`),
`ReplicationControlManager.java` (`MAX_PARTITIONS_PER_BATCH`).
"""

from __future__ import annotations

from pykbroker.errors import ErrorCode, KafkaError

MAX_RECORDS_PER_REQUEST = 10_000
MAX_PARTITIONS_PER_REQUEST = 10_000
MAX_CONFIG_VALUE_LENGTH = 0x7FFF


def check_batch_size(count: int) -> None:
    """Raise KafkaError if a request must not write as many as `count` records."""
    if count > MAX_RECORDS_PER_REQUEST:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation."
        )
