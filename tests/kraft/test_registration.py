"""Brokers and controllers as records and back."""

from __future__ import annotations

import pytest

from pykbroker.kraft.metadata_version import VersionRange
from pykbroker.kraft.partition_image import (
    LOST_DIRECTORY,
    MIGRATING_DIRECTORY,
    UNASSIGNED_DIRECTORY,
)
from pykbroker.kraft.registration import BrokerRegistration, ControllerRegistration, Listener
from pykbroker.protocol.messages.broker_registration_change_record import (
    BrokerRegistrationChangeRecord,
)

D, E = b"d" * 16, b"e" * 16
BROKER = BrokerRegistration(
    id=1,
    epoch=9,
    incarnation_id=b"i" * 16,
    listeners={"PLAINTEXT": Listener("PLAINTEXT", "h", 9092, 0)},
    features={"metadata.version": VersionRange(7, 33)},
    rack="r",
    fenced=False,
    directories=(D, E),
)


@pytest.mark.parametrize(("level", "version"), [(33, 4), (17, 3), (8, 2), (7, 1)])
def test_a_record_makes_the_same_broker(level: int, version: int) -> None:
    record, written = BROKER.to_record(level)
    assert written == version
    again = BrokerRegistration.from_record(record)
    assert again == (BROKER if level >= 17 else BROKER._replace(directories=()))


def test_cordoned_directories_are_written_where_they_can_be() -> None:
    cordoned = BROKER._replace(cordoned_directories=(D,))
    assert BrokerRegistration.from_record(cordoned.to_record(33)[0]) == cordoned
    assert cordoned.to_record(29)[0].cordoned_log_dirs is None
    assert cordoned.has_uncordoned_directories
    assert not cordoned._replace(cordoned_directories=(D, E)).has_uncordoned_directories


def test_changes() -> None:
    unchanged = BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=9)
    assert BROKER.merge(unchanged) == BROKER
    fenced = BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=9, fenced=1)
    assert BROKER.merge(fenced).fenced
    unfenced = BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=9, fenced=-1)
    assert not BROKER._replace(fenced=True).merge(unfenced).fenced


def test_where_replicas_can_be_online() -> None:
    assert BROKER.has_online(D)
    assert not BROKER.has_online(b"x" * 16)
    assert BROKER.has_online(UNASSIGNED_DIRECTORY)
    assert BROKER.has_online(MIGRATING_DIRECTORY)
    assert not BROKER.has_online(LOST_DIRECTORY)
    assert BROKER._replace(directories=()).has_online(b"x" * 16)


def test_where_new_replicas_go() -> None:
    assert BROKER.default_directory == UNASSIGNED_DIRECTORY
    assert BROKER._replace(directories=(D,)).default_directory == D
    assert BROKER._replace(directories=()).default_directory == MIGRATING_DIRECTORY


def test_a_record_makes_the_same_controller() -> None:
    controller = ControllerRegistration(
        3, b"i" * 16, {"C": Listener("C", "h", 1, 2)}, {"kraft.version": VersionRange(0, 1)}
    )
    record, version = controller.to_record()
    assert (ControllerRegistration.from_record(record), version) == (controller, 0)
