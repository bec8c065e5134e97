"""The image shares what did not change, and writes itself down."""

from __future__ import annotations

from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage, Provenance
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.feature_level_record import FeatureLevelRecord
from pykbroker.protocol.messages.producer_ids_record import ProducerIdsRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from tests.harness.records import partition_record

RECORDS = [
    FeatureLevelRecord(name="another.feature", feature_level=2),
    FeatureLevelRecord(name="metadata.version", feature_level=33),
    TopicRecord(name="t", topic_id=b"t" * 16),
    partition_record(b"t" * 16, leader_epoch=3, partition_epoch=4, directories=[b"d" * 16]),
    ConfigRecord(resource_type=2, resource_name="t", name="retention.ms", value="5"),
    ConfigRecord(resource_type=4, resource_name="", name="log.retention.ms", value="6"),
    ProducerIdsRecord(broker_id=1, broker_epoch=2, next_producer_id=3000),
]


def image_of(*records: object, base: MetadataImage | None = None) -> MetadataImage:
    delta = MetadataDelta(base or MetadataImage())
    for record in records:
        delta.replay(record)
    return delta.apply(Provenance(7, 1, 100))


def test_questions() -> None:
    image = image_of(*RECORDS)
    assert image.offset == 7
    assert image.metadata_version == 33
    topic = image.topic("t")
    assert topic is not None
    assert image.topic_by_id(b"t" * 16) is topic
    partition = image.partition("t", 0)
    assert partition is not None
    assert (partition.leader_epoch, partition.directory_of(1)) == (3, b"d" * 16)
    assert image.partition("t", 1) is None
    assert image.partition("x", 0) is None
    assert image.topic_config("t") == {"retention.ms": "5"}
    assert image.cluster_config() == {"log.retention.ms": "6"}
    assert image.broker_config(1) == {}
    assert image.group_config("g") == {}
    assert image.next_producer_id == 3000


def test_metadata_version_comes_first_in_a_snapshot() -> None:
    names = [record.message for record in image_of(*RECORDS).records()]
    assert names[0] == FeatureLevelRecord(name="metadata.version", feature_level=33)
    assert names[1].name == "another.feature"


def test_a_snapshot_makes_the_same_image() -> None:
    image = image_of(*RECORDS)
    again = image_of(*(record.message for record in image.records()))
    assert again == image


def test_what_does_not_change_is_shared() -> None:
    before = image_of(*RECORDS)
    more = ConfigRecord(resource_type=2, resource_name="t", name="segment.bytes", value="1")
    after = image_of(more, base=before)
    assert after.topics_by_name is before.topics_by_name
    assert after.brokers is before.brokers
    assert before.topic_config("t") == {"retention.ms": "5"}
    assert after.topic_config("t") == {"retention.ms": "5", "segment.bytes": "1"}


def test_an_empty_image_has_the_lowest_level() -> None:
    assert MetadataImage().metadata_version == 7
    assert MetadataImage() == MetadataImage()
    assert MetadataImage().alive_brokers() == []
