"""Brokers register, report, are fenced and shut down."""

from __future__ import annotations

import pytest

from pykbroker.decision import Decision
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.brokers import check_broker_epoch
from pykbroker.protocol.messages import broker_registration_request as registration
from pykbroker.protocol.messages import controller_registration_request as controllers
from pykbroker.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest
from tests.kraft.controller.controller_world import (
    CLUSTER_ID,
    ControllerWorld,
    directory_of,
    names_of,
    topic,
)


def test_a_broker_is_fenced_until_it_has_read_its_own_registration() -> None:
    world = ControllerWorld()
    epoch = world.register(1)
    assert epoch == len(world.log) - 1
    assert world.image.brokers[1].fenced
    behind = world.heartbeat(1, current_metadata_offset=epoch - 1)
    assert (behind.is_caught_up, behind.is_fenced) == (False, True)
    ahead = world.heartbeat(1)
    assert (ahead.is_caught_up, ahead.is_fenced) == (True, False)
    assert not world.image.brokers[1].fenced


def test_a_heartbeat_that_changes_nothing_writes_nothing() -> None:
    world = ControllerWorld().brokers(1)
    before = len(world.log)
    world.heartbeat(1)
    assert len(world.log) == before


def test_a_broker_that_wants_to_stay_fenced_stays() -> None:
    world = ControllerWorld()
    world.register(1)
    assert world.heartbeat(1, want_fence=True).is_fenced


def test_another_cluster_is_refused() -> None:
    world = ControllerWorld()
    with pytest.raises(KafkaError) as refused:
        world.register(1, cluster_id="other")
    assert refused.value.code == ErrorCode.INCONSISTENT_CLUSTER_ID


def test_a_second_broker_with_the_id_is_refused_while_the_first_lives() -> None:
    world = ControllerWorld().brokers(2)
    with pytest.raises(KafkaError) as refused:
        world.register(2, incarnation_id=b"other incarnation"[:16])
    assert refused.value.code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    world.now_ms += 60_000
    world.register(2, incarnation_id=b"other incarnation"[:16])


def test_the_node_of_the_controller_itself_may_restart_at_once() -> None:
    world = ControllerWorld().brokers(1)
    world.fail_over()
    assert world.register(1, incarnation_id=b"other incarnation"[:16]) == len(world.log) - 1


def test_another_node_cannot_take_the_id_of_the_controllers_broker() -> None:
    world = ControllerWorld().brokers(1)
    with pytest.raises(KafkaError) as refused:
        world.register(1, incarnation_id=b"other incarnation"[:16])
    assert refused.value.code == ErrorCode.DUPLICATE_BROKER_REGISTRATION


def test_the_same_incarnation_keeps_its_epoch_and_state() -> None:
    world = ControllerWorld().brokers(1)
    epoch = world.image.brokers[1].epoch
    assert world.register(1) == epoch
    assert not world.image.brokers[1].fenced


@pytest.mark.parametrize(
    ("directories", "message"),
    [
        ([], "No directories"),
        ([bytes(16)], "Reserved"),
        ([b"d" * 16, b"d" * 16], "Duplicate"),
        ([directory_of(2)], "Broker 2 is already registered"),
    ],
)
def test_directories_are_checked(directories: list[bytes], message: str) -> None:
    world = ControllerWorld().brokers(2)
    with pytest.raises(KafkaError) as refused:
        world.register(1, log_dirs=directories)
    assert refused.value.code == ErrorCode.INVALID_REGISTRATION
    assert message in str(refused.value)


def test_features_must_cover_what_is_finalised() -> None:
    world = ControllerWorld()
    old = registration.Feature(
        name="metadata.version", min_supported_version=7, max_supported_version=30
    )
    with pytest.raises(KafkaError) as refused:
        world.register(1, features=[old])
    assert refused.value.code == ErrorCode.UNSUPPORTED_VERSION
    with pytest.raises(KafkaError) as refused:
        world.register(1, features=[])
    assert refused.value.code == ErrorCode.INVALID_REGISTRATION


def test_features_that_are_not_finalised_count_as_zero() -> None:
    world = ControllerWorld()
    supported = world.registration(1).features
    demanding = registration.Feature(
        name="new.version", min_supported_version=1, max_supported_version=2
    )
    with pytest.raises(KafkaError) as refused:
        world.register(1, features=[*supported, demanding])
    assert refused.value.code == ErrorCode.UNSUPPORTED_VERSION


def test_a_broker_must_support_the_version_of_the_quorum() -> None:
    world = ControllerWorld()
    world.controller.state.kraft_version = 1
    supported = [at for at in world.registration(1).features if at.name != "kraft.version"]
    with pytest.raises(KafkaError) as refused:
        world.register(1, features=supported)
    assert refused.value.code == ErrorCode.UNSUPPORTED_VERSION
    world.register(1)


def test_a_restarted_broker_loses_its_leaderships_first() -> None:
    world = ControllerWorld().brokers(1)
    world.create(topic("t", 2))
    start = len(world.log)
    world.fail_over()
    world.register(1, incarnation_id=b"x" * 16)
    assert names_of(world.log[start:]) == [
        "PartitionChangeRecord",
        "PartitionChangeRecord",
        "RegisterBrokerRecord",
    ]
    assert (world.partition("t").leader, world.partition("t").leader_epoch) == (-1, 1)
    start = len(world.log)
    world.heartbeat(1)
    assert names_of(world.log[start:])[0] == "BrokerRegistrationChangeRecord"
    assert (world.partition("t").leader, world.partition("t").leader_epoch) == (1, 2)


def test_controlled_shutdown_moves_leaders_then_lets_the_broker_go() -> None:
    world = ControllerWorld().brokers(1, 2)
    world.create(topic("t", assignments={0: [1, 2]}))
    reply = world.heartbeat(1, want_shut_down=True)
    assert not reply.should_shut_down
    assert world.image.brokers[1].in_controlled_shutdown
    assert (world.partition("t").leader, world.partition("t").isr) == (2, (2,))
    # Broker 2 has not read that it leads now.
    assert not world.heartbeat(1, want_shut_down=True).should_shut_down
    world.heartbeat(2)
    assert world.heartbeat(1, want_shut_down=True).should_shut_down
    assert world.image.brokers[1].fenced


def test_a_broker_that_stays_after_its_shutdown_was_granted_is_unfenced_again() -> None:
    world = ControllerWorld().brokers(1, 2)
    world.create(topic("t", assignments={0: [1, 2]}))
    world.heartbeat(1, want_shut_down=True)
    world.heartbeat(2)
    assert world.heartbeat(1, want_shut_down=True).should_shut_down
    for _ in range(3):
        world.heartbeat(2)
        reply = world.heartbeat(1)
        assert (reply.is_fenced, reply.should_shut_down) == (False, False)


def test_a_new_controller_moves_the_leaders_that_the_former_did_not() -> None:
    world = ControllerWorld().brokers(1, 2)
    world.create(topic("t", 2, assignments={0: [1, 2], 1: [1, 2]}))
    request = BrokerHeartbeatRequest(
        broker_id=1, broker_epoch=world.image.brokers[1].epoch, want_shut_down=True
    )
    begun = world.controller.heartbeat(request, world.now_ms)
    assert len(begun.records) == 3
    world.commit(Decision(records=begun.records[:2]))  # the controller failed before the last
    world.fail_over()
    assert [world.partition("t", number).leader for number in (0, 1)] == [2, 1]
    start = len(world.log)
    assert not world.heartbeat(1, want_shut_down=True).should_shut_down
    assert names_of(world.log[start:]) == ["PartitionChangeRecord"]
    assert world.partition("t", 1).leader == 2
    assert not world.heartbeat(1, want_shut_down=True).should_shut_down
    world.heartbeat(2)
    assert world.heartbeat(1, want_shut_down=True).should_shut_down


def test_a_broker_that_leads_nothing_may_go_at_once() -> None:
    world = ControllerWorld().brokers(1)
    reply = world.heartbeat(1, want_shut_down=True)
    assert (reply.should_shut_down, reply.is_fenced) == (True, True)


def test_a_fenced_broker_may_go_at_once() -> None:
    world = ControllerWorld()
    world.register(1)
    assert world.heartbeat(1, want_shut_down=True).should_shut_down


def test_a_silent_broker_is_fenced() -> None:
    world = ControllerWorld().brokers(1, 2)
    world.create(topic("t", assignments={0: [2, 1]}))
    world.now_ms += 8_000
    world.heartbeat(1)
    assert world.decide(world.controller.fence_stale_broker, world.now_ms) is False
    world.now_ms += 2_000
    assert world.decide(world.controller.fence_stale_broker, world.now_ms) is True
    assert [broker.id for broker in world.image.alive_brokers()] == [1]
    assert world.partition("t").leader == 1
    assert world.decide(world.controller.fence_stale_broker, world.now_ms) is False


def test_an_offline_directory_loses_its_partitions() -> None:
    world = ControllerWorld().brokers(2)
    two = [b"d" * 16, b"e" * 16]
    world.register(1, log_dirs=two)
    world.heartbeat(1)
    world.create(topic("t", assignments={0: [1, 2]}))
    world.heartbeat(1, offline_log_dirs=[b"d" * 16])
    assert world.image.brokers[1].directories == (b"e" * 16,)
    # The replica was not in that directory as far as the controller knows.
    assert world.partition("t").leader == 1


def test_cordoned_directories_are_recorded_once() -> None:
    world = ControllerWorld().brokers(1)
    world.heartbeat(1, cordoned_log_dirs=[directory_of(1)])
    before = len(world.log)
    world.heartbeat(1, cordoned_log_dirs=[directory_of(1)])
    assert len(world.log) == before
    assert not world.image.brokers[1].has_uncordoned_directories
    (result,) = world.create(topic("t")).topics
    assert result.error_code == ErrorCode.INVALID_REPLICATION_FACTOR


def test_stale_epochs_are_refused() -> None:
    world = ControllerWorld().brokers(1)
    for broker_id, epoch in ((1, 999), (7, 0)):
        with pytest.raises(KafkaError) as refused:
            check_broker_epoch(world.controller.state, broker_id, epoch)
        assert refused.value.code == ErrorCode.STALE_BROKER_EPOCH


def test_unregistering() -> None:
    world = ControllerWorld().brokers(1, 2)
    world.create(topic("t", assignments={0: [2, 1]}))
    reply = world.decide(world.controller.unregister_broker, 2)
    assert reply.error_code == 0
    assert 2 not in world.image.brokers
    assert world.partition("t").leader == 1
    with pytest.raises(KafkaError) as refused:
        world.controller.unregister_broker(2)
    assert refused.value.code == ErrorCode.BROKER_ID_NOT_REGISTERED


def test_controllers_register() -> None:
    world = ControllerWorld()
    at = controllers.Listener(name="CONTROLLER", host="h", port=9093, security_protocol=0)
    request = controllers.ControllerRegistrationRequest(
        controller_id=1, incarnation_id=b"i" * 16, listeners=[at]
    )
    world.decide(world.controller.register_controller, request)
    assert world.image.controllers[1].listeners["CONTROLLER"].port == 9093
    old = ControllerWorld(features={"metadata.version": 7})
    with pytest.raises(KafkaError) as refused:
        old.controller.register_controller(request)
    assert refused.value.code == ErrorCode.UNSUPPORTED_VERSION


def test_a_controller_that_is_no_voter_can_be_unregistered() -> None:
    world = ControllerWorld()
    request = controllers.ControllerRegistrationRequest(controller_id=4, incarnation_id=b"c" * 16)
    world.decide(world.controller.register_controller, request)
    world.controller.state.voter_ids = lambda: (1, 4)
    with pytest.raises(KafkaError, match="part of the voter set") as refused:
        world.controller.unregister_controller(4)
    assert refused.value.code == ErrorCode.INVALID_REQUEST
    world.controller.state.voter_ids = lambda: (1,)
    assert world.decide(world.controller.unregister_controller, 4).error_code == 0
    assert world.image.controllers == {}
    with pytest.raises(KafkaError, match="Controller ID 4 is not currently registered") as unknown:
        world.controller.unregister_controller(4)
    assert unknown.value.code == ErrorCode.CONTROLLER_ID_NOT_REGISTERED
    old = ControllerWorld(features={"metadata.version": 32})
    with pytest.raises(KafkaError, match="too old") as early:
        old.controller.unregister_controller(4)
    assert early.value.code == ErrorCode.UNSUPPORTED_VERSION


def test_the_cluster_id_of_the_tests_is_one() -> None:
    assert len(CLUSTER_ID) == 22
