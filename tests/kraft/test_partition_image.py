"""A partition, its records, and its directories."""

from __future__ import annotations

import pytest

from pykbroker.kraft.partition_image import (
    MIGRATING_DIRECTORY,
    PartitionImage,
    is_reserved_directory,
)
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord

IMAGE = PartitionImage(
    replicas=(1, 2),
    directories=(b"d" * 16, b"e" * 16),
    isr=(1, 2),
    leader=1,
    leader_epoch=5,
    partition_epoch=6,
    elr=(2,),
    last_known_elr=(1,),
)


@pytest.mark.parametrize("level", [33, 17, 7])
def test_a_record_makes_the_same_partition(level: int) -> None:
    record, version = IMAGE.to_record(b"t" * 16, 3, level, has_eligible_leaders=True)
    again = PartitionImage.from_record(record)
    assert (record.topic_id, record.partition_id) == (b"t" * 16, 3)
    if version == 0:
        assert again.directories == (MIGRATING_DIRECTORY,) * 2
        again = again._replace(directories=IMAGE.directories)
    assert again == IMAGE


def test_without_the_feature_what_is_left_of_eligible_leaders_is_not_written() -> None:
    record, _ = IMAGE.to_record(b"t" * 16, 3, 33)
    assert PartitionImage.from_record(record) == IMAGE._replace(elr=(), last_known_elr=())


def test_clearing_eligible_leaders_is_a_change_of_the_partition() -> None:
    cleared = IMAGE.without_eligible_leaders()
    assert cleared == IMAGE._replace(elr=(), last_known_elr=(), partition_epoch=7)


def test_an_empty_change_raises_the_partition_epoch_only() -> None:
    assert IMAGE.merge(PartitionChangeRecord()) == IMAGE._replace(partition_epoch=7)


def test_a_leader_named_again_raises_its_epoch() -> None:
    changed = IMAGE.merge(PartitionChangeRecord(leader=1))
    assert (changed.leader, changed.leader_epoch) == (1, 6)


def test_every_field_can_change() -> None:
    change = PartitionChangeRecord(
        isr=[2],
        leader=2,
        replicas=[2, 3],
        removing_replicas=[1],
        adding_replicas=[3],
        leader_recovery_state=1,
        directories=[b"f" * 16, b"g" * 16],
        eligible_leader_replicas=[],
        last_known_elr=[],
    )
    assert IMAGE.merge(change) == PartitionImage(
        replicas=(2, 3),
        directories=(b"f" * 16, b"g" * 16),
        isr=(2,),
        leader=2,
        leader_epoch=6,
        partition_epoch=7,
        removing_replicas=(1,),
        adding_replicas=(3,),
        leader_recovery_state=1,
    )


def test_without_directories_a_change_of_replicas_leaves_all_migrating() -> None:
    """Before metadata.version 17 no record names directories."""
    old = IMAGE._replace(directories=(MIGRATING_DIRECTORY,) * 2)
    changed = old.merge(PartitionChangeRecord(replicas=[1, 2, 3]))
    assert changed.directories == (MIGRATING_DIRECTORY,) * 3
    assert changed.directory_of(3) == MIGRATING_DIRECTORY


def test_directories() -> None:
    assert IMAGE.directory_of(2) == b"e" * 16
    with pytest.raises(KeyError):
        IMAGE.directory_of(3)
    assert is_reserved_directory(bytes(15) + b"\x63")
    assert not is_reserved_directory(bytes(15) + b"\x64")
    assert IMAGE.preferred_leader == 1
