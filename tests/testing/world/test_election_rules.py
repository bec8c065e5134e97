"""The rules about elections notice what breaks them: metadata as a controller could write it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.kraft.image import TOPIC_RESOURCE
from pykbroker.protocol.messages.broker_registration_change_record import (
    BrokerRegistrationChangeRecord,
)
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.feature_level_record import FeatureLevelRecord
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from pykbroker.protocol.messages.register_broker_record import RegisterBrokerRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.testing.world.election_rules import ELIGIBLE_LEADERS, ElectionRules
from pykbroker.testing.world.world import Violation
from tests.harness.records import partition_record

TOPIC_ID = b"t" * 16
NOBODY = -1


def change(**fields: Any) -> PartitionChangeRecord:
    return PartitionChangeRecord(topic_id=TOPIC_ID, partition_id=0, **fields)


def config(name: str, value: str) -> ConfigRecord:
    return ConfigRecord(resource_type=TOPIC_RESOURCE, resource_name="t", name=name, value=value)


def fenced(broker_id: int, *, now: bool) -> BrokerRegistrationChangeRecord:
    return BrokerRegistrationChangeRecord(broker_id=broker_id, fenced=1 if now else -1)


def registration(broker_id: int, epoch: int, *, is_fenced: bool = True) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(broker_id=broker_id, broker_epoch=epoch, fenced=is_fenced)


class Stage:
    """Brokers 1 to 3 are in service; `t-0` has replicas on all, two of which must be in sync."""

    def __init__(self) -> None:
        self.rules = ElectionRules()
        self.take(FeatureLevelRecord(name=ELIGIBLE_LEADERS, feature_level=1))
        self.take(*(registration(each, 10, is_fenced=False) for each in (1, 2, 3)))
        self.take(
            TopicRecord(name="t", topic_id=TOPIC_ID),
            config("min.insync.replicas", "2"),
            partition_record(TOPIC_ID, 0, replicas=[1, 2, 3], isr=[1, 2, 3], leader=1),
        )

    def take(self, *records: Any) -> None:
        batch: Any = SimpleNamespace(records=[SimpleNamespace(message=each) for each in records])
        self.rules.take(batch)

    def last_one_standing(self) -> Stage:
        """1 leads alone, 2 is eligible, 3 was out of sync before."""
        self.take(change(isr=[1, 2], leader=1))
        self.take(change(isr=[1], leader=1, eligible_leader_replicas=[2]))
        return self

    def refused(self, why: str, *records: Any) -> None:
        with pytest.raises(Violation, match=why):
            self.take(*records)


def test_an_eligible_replica_leads_when_nobody_is_in_sync() -> None:
    stage = Stage().last_one_standing()
    stage.take(
        change(isr=[2], leader=2, eligible_leader_replicas=[1]),
        fenced(1, now=True),
    )
    assert stage.rules.eligible_elected == 1
    stage.take(fenced(1, now=False))
    stage.take(change(isr=[1, 2], eligible_leader_replicas=[]))


def test_the_last_known_leader_leads_when_nobody_is_eligible() -> None:
    stage = Stage().last_one_standing()
    gone = change(isr=[], leader=NOBODY, eligible_leader_replicas=[1, 2], last_known_elr=[1])
    stage.take(fenced(2, now=True))
    stage.take(gone, fenced(1, now=True))
    stage.rules.crashed(1, 10)
    stage.rules.crashed(2, 10)
    stage.take(change(eligible_leader_replicas=[1]), registration(2, 20))
    stage.take(change(eligible_leader_replicas=[]), registration(1, 21))
    stage.take(fenced(2, now=False))
    elected = change(isr=[1], leader=1, leader_recovery_state=1, last_known_elr=[])
    stage.take(fenced(1, now=False), elected)
    assert stage.rules.last_known_elected == 1


def test_who_was_neither_in_sync_nor_eligible_does_not_lead() -> None:
    stage = Stage().last_one_standing()
    stage.refused(
        "not its last known leader",
        change(isr=[3], leader=3, leader_recovery_state=1, eligible_leader_replicas=[]),
        fenced(1, now=True),
        fenced(2, now=True),
    )


def test_a_topic_may_allow_it() -> None:
    stage = Stage().last_one_standing()
    stage.take(config("unclean.leader.election.enable", "true"))
    stage.take(
        change(isr=[3], leader=3, leader_recovery_state=1, eligible_leader_replicas=[]),
        fenced(1, now=True),
        fenced(2, now=True),
    )


def test_who_leaves_too_few_stays_eligible() -> None:
    stage = Stage()
    stage.take(change(isr=[1, 2], leader=1))
    stage.refused(r"\[2\] should have remained", change(isr=[1], leader=1))


def test_who_comes_back_from_a_crash_is_not_eligible() -> None:
    stage = Stage().last_one_standing()
    stage.rules.crashed(2, 10)
    stage.refused(r"\[2\] restarted after a crash", registration(2, 20))


def test_nobody_is_eligible_when_enough_are_in_sync() -> None:
    stage = Stage()
    stage.refused("some are eligible", change(isr=[1, 2], leader=1, eligible_leader_replicas=[3]))


def test_who_was_not_in_sync_does_not_become_eligible() -> None:
    stage = Stage()
    stage.take(change(isr=[1, 2], leader=1))
    stage.refused("was not in sync", change(isr=[1], leader=1, eligible_leader_replicas=[2, 3]))


def test_a_broker_out_of_service_is_not_in_sync() -> None:
    stage = Stage()
    stage.refused(r"\[3\] are in sync but out of service", fenced(3, now=True))
    stage = Stage().last_one_standing()
    stage.take(fenced(3, now=True))
    stage.refused(r"\[3\] joined the ISR", change(isr=[1, 3], eligible_leader_replicas=[]))


def test_a_replica_may_join_whose_directory_has_just_gone_offline() -> None:
    stage = Stage()
    placed, online = [b"1" * 16, b"2" * 16, b"3" * 16], b"o" * 16
    for broker_id, directory in enumerate(placed, 1):
        stage.take(
            BrokerRegistrationChangeRecord(broker_id=broker_id, log_dirs=[directory, online])
        )
    stage.take(change(directories=placed))
    stage.take(change(isr=[1, 2], leader=1))
    stage.take(BrokerRegistrationChangeRecord(broker_id=3, log_dirs=[online]))
    stage.take(change(isr=[1, 2, 3]))
    stage.take(change(isr=[1, 2]))
    stage.take(change(isr=[1, 2, 3]))
    stage.refused(
        r"\[2\] are in sync but out of service",
        BrokerRegistrationChangeRecord(broker_id=2, log_dirs=[online]),
    )


def test_a_partition_that_could_have_a_leader() -> None:
    stage = Stage().last_one_standing()
    stage.refused(
        r"has no leader although \[2\] could lead",
        change(isr=[], leader=NOBODY, eligible_leader_replicas=[1, 2], last_known_elr=[1]),
        fenced(1, now=True),
    )


def test_who_led_last_is_noted() -> None:
    stage = Stage().last_one_standing()
    stage.refused(
        "its last known leader is not recorded",
        change(isr=[], leader=NOBODY, eligible_leader_replicas=[1, 2]),
    )


def test_a_leader_that_is_not_in_sync() -> None:
    stage = Stage()
    stage.refused("its leader is not in sync", change(isr=[2, 3]))
