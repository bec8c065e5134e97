"""The broker configuration keys of the transaction coordinator, read once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.values import value

if TYPE_CHECKING:
    from pykbroker.config import BrokerConfig

COMMIT_TIMEOUT_MS = 30_000
"""How long a reply waits for its record's replicas (Kafka waits for the transaction's timeout)."""


@value
class TransactionSettings:
    """Defaults are Kafka's. Times in milliseconds, sizes in bytes."""

    max_timeout_ms: int = 900_000
    expiration_ms: int = 7 * 24 * 60 * 60 * 1000
    abort_interval_ms: int = 10_000
    expire_interval_ms: int = 3_600_000
    load_buffer_bytes: int = 5 * 1024 * 1024
    num_partitions: int = 50
    replication_factor: int = 3
    min_isr: int = 2
    segment_bytes: int = 100 * 1024 * 1024

    @classmethod
    def from_config(cls, config: BrokerConfig) -> TransactionSettings:
        """Create from the keys transaction.* and transactional.* of the broker's configuration."""
        return cls(
            max_timeout_ms=config.transaction_max_timeout_ms,
            expiration_ms=config.transactional_id_expiration_ms,
            abort_interval_ms=config.transaction_abort_timed_out_transaction_cleanup_interval_ms,
            expire_interval_ms=config.transaction_remove_expired_transaction_cleanup_interval_ms,
            load_buffer_bytes=config.transaction_state_log_load_buffer_size,
            num_partitions=config.transaction_state_log_num_partitions,
            replication_factor=config.transaction_state_log_replication_factor,
            min_isr=config.transaction_state_log_min_isr,
            segment_bytes=config.transaction_state_log_segment_bytes,
        )

    def topic_configs(self) -> dict[str, str]:
        """Return the configuration with which `__transaction_state` is created."""
        return {
            "unclean.leader.election.enable": "false",
            "compression.type": "uncompressed",
            "cleanup.policy": "compact",
            "min.insync.replicas": str(self.min_isr),
            "segment.bytes": str(self.segment_bytes),
        }
