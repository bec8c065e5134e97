"""The keys that the coordinator obeys."""

from __future__ import annotations

from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.coordinator.transaction.settings import TransactionSettings


def test_defaults_are_kafkas() -> None:
    properties = standalone_properties("/d", port=0)
    kept = {key: value for key, value in properties.items() if not key.startswith("transaction")}
    assert TransactionSettings.from_config(BrokerConfig.from_properties(kept)) == (
        TransactionSettings()
    )


def test_every_key_is_read() -> None:
    keys = {
        "transaction.max.timeout.ms": 1,
        "transactional.id.expiration.ms": 2,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": 3,
        "transaction.remove.expired.transaction.cleanup.interval.ms": 4,
        "transaction.state.log.load.buffer.size": 5,
        "transaction.state.log.num.partitions": 6,
        "transaction.state.log.replication.factor": 7,
        "transaction.state.log.min.isr": 8,
        "transaction.state.log.segment.bytes": 9,
    }
    properties = standalone_properties("/d", port=0)
    properties |= {key: str(value) for key, value in keys.items()}
    settings = TransactionSettings.from_config(BrokerConfig.from_properties(properties))
    assert settings == TransactionSettings(1, 2, 3, 4, 5, 6, 7, 8, 9)
    assert settings.topic_configs() == {
        "unclean.leader.election.enable": "false",
        "compression.type": "uncompressed",
        "cleanup.policy": "compact",
        "min.insync.replicas": "8",
        "segment.bytes": "9",
    }
