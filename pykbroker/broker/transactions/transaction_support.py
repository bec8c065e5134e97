"""What the sender of transactional batches or offsets understands, by the version of its request.

    OLD         knows no TRANSACTION_ABORTABLE, and adds partitions to its transaction itself
    ABORTABLE   knows it
    JOINING     its partitions join the transaction with the batch itself (transaction.version 2)

Source: Kafka's `AddPartitionsToTxnManager.TransactionSupportedOperation`.
"""

from __future__ import annotations

from enum import Enum


class TransactionSupport(Enum):
    """See the module's text."""

    OLD = "old"
    ABORTABLE = "abortable"
    JOINING = "joining"

    @classmethod
    def of_produce(cls, version: int) -> TransactionSupport:
        """Of a Produce request."""
        return cls._by_version(version, abortable_from=11)

    @classmethod
    def of_offset_commit(cls, version: int) -> TransactionSupport:
        """Of a TxnOffsetCommit request."""
        return cls._by_version(version, abortable_from=4)

    @classmethod
    def _by_version(cls, version: int, abortable_from: int) -> TransactionSupport:
        if version > abortable_from:
            return cls.JOINING
        return cls.ABORTABLE if version == abortable_from else cls.OLD
