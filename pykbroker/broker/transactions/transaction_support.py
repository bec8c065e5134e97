"""The capabilities of the sender of transactional batches or offsets, by its request version.

    OLD         knows no TRANSACTION_ABORTABLE, and adds partitions to its transaction itself
    ABORTABLE   knows it
    JOINING     its partitions join the transaction with the batch itself (transaction.version 2)

Source: Kafka's `AddPartitionsToTxnManager.TransactionSupportedOperation`.
"""

from __future__ import annotations

from enum import Enum


class TransactionSupport(Enum):
    """The capabilities of a sender."""

    OLD = "old"
    ABORTABLE = "abortable"
    JOINING = "joining"

    @classmethod
    def of_produce(cls, version: int) -> TransactionSupport:
        """Return the capabilities of the sender of a Produce request."""
        return cls._by_version(version, abortable_from=11)

    @classmethod
    def of_offset_commit(cls, version: int) -> TransactionSupport:
        """Return the capabilities of the sender of a TxnOffsetCommit request."""
        return cls._by_version(version, abortable_from=4)

    @classmethod
    def _by_version(cls, version: int, abortable_from: int) -> TransactionSupport:
        if version > abortable_from:
            return cls.JOINING
        return cls.ABORTABLE if version == abortable_from else cls.OLD
