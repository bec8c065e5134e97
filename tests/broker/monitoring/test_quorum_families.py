from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.monitoring.families import Families
from pykbroker.broker.monitoring.quorum_families import ControllerFamilies, add_quorum
from pykbroker.kraft.image import TopicImage
from pykbroker.kraft.partition_image import PartitionImage
from pykbroker.kraft.raft.raft_events import LogEnd
from tests.broker.monitoring.test_node_families import values


class Leader:
    """Has the name of the real role."""


class Follower:
    """Has the name of the real role."""


@pytest.mark.parametrize(
    ("role", "is_voter", "state"),
    [(Leader(), True, "leader"), (Follower(), True, "follower"), (Follower(), False, "observer")],
)
def test_the_quorum_as_a_node_sees_it(role: object, is_voter: bool, state: str) -> None:
    raft: Any = SimpleNamespace(
        role=role,
        is_voter=is_voter,
        leader_id=3,
        epoch=7,
        high_watermark=40,
        log_end=LogEnd(7, 42),
    )
    image: Any = SimpleNamespace(offset=39, alive_brokers=lambda: [1, 2])
    families = Families()
    add_quorum(families, raft, image)
    prefix = "kafka_server_raft_metrics"
    assert values(families, f"{prefix}_current_state_info") == {(state,): 1}
    assert values(families, f"{prefix}_current_leader") == {(): 3}
    assert values(families, f"{prefix}_current_epoch") == {(): 7}
    assert values(families, f"{prefix}_high_watermark") == {(): 40}
    assert values(families, f"{prefix}_log_end_offset") == {(): 42}
    assert values(families, f"{prefix}_log_end_epoch") == {(): 7}
    applied = "kafka_server_broker_metadata_metrics_last_applied_record_offset"
    assert values(families, applied) == {(): 39}
    assert values(families, "kafka_brokers") == {(): 2}


def topic(name: str, *leaders: int) -> TopicImage:
    partitions = {
        number: PartitionImage(replicas=(1, 2), directories=(), isr=(1,), leader=leader)
        for number, leader in enumerate(leaders)
    }
    return TopicImage(name, bytes(16), partitions)


def test_what_controllers_watch_over() -> None:
    image: Any = SimpleNamespace(
        brokers={1: SimpleNamespace(fenced=False), 2: SimpleNamespace(fenced=True)}
    )
    families = Families()
    reader = ControllerFamilies(families, image, is_active=True)
    reader.add([topic("a", 1, 2, -1)])
    reader.add([topic("b", 1)])
    reader.finish()
    prefix = "kafka_controller_kafkacontroller_"
    found = {
        family.name.removeprefix(prefix): values(families, family.name)[()] for family in families
    }
    assert found == {
        "activecontrollercount": 1,
        "globaltopiccount": 2,
        "globalpartitioncount": 4,
        "offlinepartitionscount": 1,
        "preferredreplicaimbalancecount": 2,
        "activebrokercount": 1,
        "fencedbrokercount": 1,
    }
