"""pykbroker.log.validation.validation_rules: from a topic's config to the rules of a partition."""

from __future__ import annotations

import pytest

from pykbroker.config import TopicConfig
from pykbroker.log.validation.validation_rules import ValidationRules
from pykbroker.protocol import compression
from pykbroker.protocol.record_batch import CONTROL_BIT


def test_defaults_are_kafkas() -> None:
    rules = ValidationRules.of(TopicConfig.default(), "orders-0")
    plain = ValidationRules("orders-0")
    for name in ValidationRules.__slots__:
        assert getattr(rules, name) == getattr(plain, name), name


@pytest.mark.parametrize(
    "name, codec",
    [("producer", None), ("uncompressed", 0), ("gzip", 1), ("snappy", 2), ("lz4", 3), ("zstd", 4)],
)
def test_compression_type(name: str, codec: int | None) -> None:
    from pykbroker.config import BrokerConfig
    from pykbroker.config.load import standalone_properties

    broker = BrokerConfig.from_properties(standalone_properties("x"))
    config = TopicConfig.from_overrides(
        broker,
        {"compression.type": name, "compression.zstd.level": "7", "cleanup.policy": "compact"},
    )
    rules = ValidationRules.of(config, "orders-0")
    assert rules.codec == codec
    assert rules.compact
    assert rules.level == {None: None, 0: None, 1: -1, 2: None, 3: 9, 4: 7}[codec]
    for source in range(5):
        assert rules.recompresses(source) == (codec is not None and codec != source)
    assert not rules.recompresses(compression.NONE | CONTROL_BIT)
