"""The configuration keys that the group coordinator obeys."""

from __future__ import annotations

from pathlib import Path

from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.coordinator.group.settings import GroupSettings


def test_every_field_comes_from_its_key(tmp_path: Path) -> None:
    overrides = {
        "group.initial.rebalance.delay.ms": "1",
        "group.min.session.timeout.ms": "2",
        "group.max.session.timeout.ms": "3",
        "group.max.size": "4",
        "offset.metadata.max.bytes": "5",
        "offsets.retention.minutes": "6",
        "offsets.retention.check.interval.ms": "7",
        "offsets.commit.timeout.ms": "8",
        "offsets.load.buffer.size": "9",
        "offsets.topic.num.partitions": "10",
        "offsets.topic.replication.factor": "11",
        "offsets.topic.segment.bytes": "12",
        "offsets.topic.compression.codec": "4",
    }
    properties = standalone_properties(str(tmp_path)) | overrides
    settings = GroupSettings.from_config(BrokerConfig.from_properties(properties))
    assert settings == GroupSettings(
        initial_rebalance_delay_ms=1,
        min_session_timeout_ms=2,
        max_session_timeout_ms=3,
        max_size=4,
        offset_metadata_max_bytes=5,
        offsets_retention_ms=360_000,
        offsets_retention_check_interval_ms=7,
        commit_timeout_ms=8,
        load_buffer_bytes=9,
        num_partitions=10,
        replication_factor=11,
        segment_bytes=12,
        compression_codec=4,
    )
    assert settings.topic_configs()["segment.bytes"] == "12"


def test_defaults_are_kafkas(tmp_path: Path) -> None:
    properties = standalone_properties(str(tmp_path))
    config = BrokerConfig.from_properties(properties | {"offsets.topic.replication.factor": "3"})
    assert GroupSettings.from_config(config) == GroupSettings()
