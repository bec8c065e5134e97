"""The broker configuration keys of the group coordinator, read once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.values import value

if TYPE_CHECKING:
    from pykbroker.config import BrokerConfig

# Kafka has no key for it: CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS, GroupCoordinatorConfig.java
NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000


@value
class GroupSettings:
    """Defaults are Kafka's. Times in milliseconds, sizes in bytes."""

    initial_rebalance_delay_ms: int = 3000
    min_session_timeout_ms: int = 6000
    max_session_timeout_ms: int = 1_800_000
    max_size: int = 2**31 - 1
    new_member_join_timeout_ms: int = NEW_MEMBER_JOIN_TIMEOUT_MS
    offset_metadata_max_bytes: int = 4096
    offsets_retention_ms: int = 7 * 24 * 60 * 60 * 1000
    offsets_retention_check_interval_ms: int = 600_000
    commit_timeout_ms: int = 5000
    load_buffer_bytes: int = 5 * 1024 * 1024
    num_partitions: int = 50
    replication_factor: int = 3
    segment_bytes: int = 100 * 1024 * 1024
    compression_codec: int = 0

    @classmethod
    def from_config(cls, config: BrokerConfig) -> GroupSettings:
        """Create from the keys group.*, offset.* and offsets.* of the broker's configuration."""
        return cls(
            initial_rebalance_delay_ms=config.group_initial_rebalance_delay_ms,
            min_session_timeout_ms=config.group_min_session_timeout_ms,
            max_session_timeout_ms=config.group_max_session_timeout_ms,
            max_size=config.group_max_size,
            offset_metadata_max_bytes=config.offset_metadata_max_bytes,
            offsets_retention_ms=config.offsets_retention_minutes * 60_000,
            offsets_retention_check_interval_ms=config.offsets_retention_check_interval_ms,
            commit_timeout_ms=config.offsets_commit_timeout_ms,
            load_buffer_bytes=config.offsets_load_buffer_size,
            num_partitions=config.offsets_topic_num_partitions,
            replication_factor=config.offsets_topic_replication_factor,
            segment_bytes=config.offsets_topic_segment_bytes,
            compression_codec=config.offsets_topic_compression_codec,
        )

    def topic_configs(self) -> dict[str, str]:
        """Return the configuration with which `__consumer_offsets` is created."""
        return {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(self.segment_bytes),
        }
