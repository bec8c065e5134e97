"""The bytes of metadata records."""

from __future__ import annotations

import pytest

from pykbroker.decision import MetadataRecord
from pykbroker.kraft.metadata_record_codec import (
    decode_metadata_record,
    encode_metadata_record,
    record_class,
)
from pykbroker.protocol.messages.feature_level_record import FeatureLevelRecord
from pykbroker.protocol.messages.register_broker_record import RegisterBrokerRecord
from pykbroker.protocol.primitives import DecodeError

# From a checkpoint that Apache Kafka 4.4 wrote.
FEATURE_LEVEL = bytes.fromhex("010c00116d657461646174612e76657273696f6e002100")


def test_apaches_bytes() -> None:
    record = MetadataRecord(FeatureLevelRecord(name="metadata.version", feature_level=33))
    assert encode_metadata_record(record) == FEATURE_LEVEL
    assert decode_metadata_record(FEATURE_LEVEL) == record


def test_the_version_travels_along() -> None:
    for version in range(5):
        record = MetadataRecord(RegisterBrokerRecord(broker_id=3, rack=None), version)
        assert decode_metadata_record(encode_metadata_record(record)).version == version


def test_every_kind_of_record_is_there() -> None:
    kinds = set(range(30)) - {6, 13, 16}
    for kind in kinds:
        assert kind == record_class(kind).API_KEY


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\x01",
        b"\x01\x0c",
        b"\x00\x0c\x00",
        b"\x02\x0c\x00",
        b"\x01\x06\x00",
        b"\x01\x63\x00",
        FEATURE_LEVEL + b"\x00",
        FEATURE_LEVEL[:-3],
    ],
)
def test_nonsense(value: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_metadata_record(value)
