"""The image of a snapshot is built once."""

from __future__ import annotations

import pytest

from pykbroker.decision import MetadataRecord
from pykbroker.kraft.delta import InconsistentMetadata
from pykbroker.kraft.metadata_image_loading import image_of, with_image
from pykbroker.kraft.metadata_snapshot import Snapshot, SnapshotId
from pykbroker.protocol.messages.topic_record import TopicRecord
from tests.harness.records import partition_record

TOPIC_ID = b"t" * 16


def snapshot(*messages: object) -> Snapshot:
    records = [MetadataRecord(message) for message in messages]
    return Snapshot(SnapshotId(40, 3), 77, 1, None, records)


def test_the_image_takes_the_place_of_the_records() -> None:
    read = snapshot(TopicRecord(name="t", topic_id=TOPIC_ID), partition_record(TOPIC_ID, 0))
    built = with_image(read)
    assert (built.records, built.id) == ([], read.id)
    assert image_of(built) == image_of(read)
    assert image_of(built) is built.image
    assert image_of(read).provenance == (39, 3, 77)
    assert set(image_of(read).topics_by_id[TOPIC_ID].partitions) == {0}


def test_records_that_cannot_follow_each_other() -> None:
    with pytest.raises(InconsistentMetadata):
        image_of(snapshot(partition_record(TOPIC_ID, 0)))
