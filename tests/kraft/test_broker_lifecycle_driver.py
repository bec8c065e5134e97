"""A broker's registration and heartbeats, against a controller that the test plays."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.broker_lifecycle_driver import BrokerLifecycleDriver
from pykbroker.kraft.image import MetadataImage, Provenance
from pykbroker.kraft.metadata_version import METADATA_VERSION, SUPPORTED_FEATURES
from pykbroker.kraft.registration import Listener
from pykbroker.protocol.messages.broker_heartbeat_response import BrokerHeartbeatResponse
from pykbroker.protocol.messages.broker_registration_response import BrokerRegistrationResponse
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.kraft.node_world import ManualScheduler


class Play:
    def __init__(self) -> None:
        self.scheduler = ManualScheduler(0, MemoryFiles())
        self.sent: list[tuple[Any, Deferred]] = []
        self.image = MetadataImage(provenance=Provenance(5, 1, 0), features={METADATA_VERSION: 33})
        self.broker = BrokerLifecycleDriver(
            config=BrokerConfig.from_properties(standalone_properties("/nowhere")),
            cluster_id="c",
            incarnation_id=b"i" * 16,
            directory_ids=[b"d" * 16],
            previous_broker_epoch=3,
            send=self.send,
            image=lambda: self.image,
            scheduler=self.scheduler,
            now_ms=lambda: self.scheduler.now_ms,
        )

    def send(self, request: Any) -> Deferred:
        deferred = Deferred()
        self.sent.append((request, deferred))
        return deferred

    def answer(self, reply: Any) -> Any:
        """Answer the oldest request; returns it."""
        request, deferred = self.sent.pop(0)
        deferred.resolve(reply)
        return request

    def registered(self) -> Play:
        self.broker.register([Listener("PLAINTEXT", "h", 9092)])
        self.answer(BrokerRegistrationResponse(broker_epoch=7))
        return self


def test_heartbeats_begin_with_the_registration_and_ask_to_stay_fenced() -> None:
    play = Play().registered()
    assert play.sent == []
    play.scheduler.advance(2_000)
    request = play.answer(BrokerHeartbeatResponse(is_fenced=True))
    assert (request.want_fence, request.broker_epoch) == (True, 7)
    play.broker.unfence()
    request = play.answer(BrokerHeartbeatResponse(is_fenced=False))
    assert not request.want_fence


def test_registration() -> None:
    play = Play()
    registered = play.broker.register([Listener("PLAINTEXT", "h", 9092)])
    request = play.answer(BrokerRegistrationResponse(broker_epoch=7))
    assert registered.value == 7
    assert (request.broker_id, request.previous_broker_epoch) == (1, 3)
    assert [(at.name, at.host, at.port) for at in request.listeners] == [("PLAINTEXT", "h", 9092)]
    assert {feature.name for feature in request.features} == set(SUPPORTED_FEATURES)


def test_a_directory_that_failed_before_is_not_registered() -> None:
    play = Play()
    play.broker.directory_failed(b"d" * 16)
    assert play.sent == []
    play.broker.register([])
    assert play.answer(BrokerRegistrationResponse(broker_epoch=7)).log_dirs == []
    play.broker.unfence()
    assert play.answer(BrokerHeartbeatResponse(is_fenced=False)).offline_log_dirs == [b"d" * 16]


def test_a_registration_is_refreshed_once_at_a_time() -> None:
    play = Play()
    play.broker.refresh_registration()
    play.scheduler.advance(100)
    assert play.sent == []  # there is none yet
    play.registered()
    play.broker.refresh_registration()
    play.broker.refresh_registration()
    assert play.sent == []
    play.scheduler.advance(100)
    assert len(play.sent) == 1
    request = play.answer(BrokerRegistrationResponse(broker_epoch=7))
    assert (request.incarnation_id, request.log_dirs) == (b"i" * 16, [b"d" * 16])
    assert [at.port for at in request.listeners] == [9092]
    play.broker.refresh_registration()
    play.scheduler.advance(100)
    play.answer(KafkaError(ErrorCode.NOT_CONTROLLER))
    play.broker.refresh_registration()
    play.scheduler.advance(100)
    assert len(play.sent) == 1
    assert play.broker.broker_epoch == 7


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.DUPLICATE_BROKER_REGISTRATION,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    ],
)
def test_a_registration_that_may_succeed_later_is_tried_again(code: ErrorCode) -> None:
    play = Play()
    registered = play.broker.register([])
    for _ in range(3):
        play.answer(KafkaError(code))
        assert play.sent == []
        play.scheduler.advance(2_000)
    play.answer(BrokerRegistrationResponse(broker_epoch=7))
    assert registered.value == 7


def test_a_node_that_stops_does_not_register_again() -> None:
    play = Play()
    registered = play.broker.register([])
    play.answer(KafkaError(ErrorCode.NOT_CONTROLLER))
    play.broker.stop()
    play.scheduler.advance(5_000)
    assert play.sent == []
    assert registered.value.code == ErrorCode.NOT_CONTROLLER


def test_the_registration_is_given_up_in_time() -> None:
    play = Play()
    registered = play.broker.register([])
    tries = 0
    while not registered.done:
        play.answer(KafkaError(ErrorCode.REQUEST_TIMED_OUT))
        play.scheduler.advance(2_000)
        tries += 1
    assert registered.value.code == ErrorCode.REQUEST_TIMED_OUT
    assert tries == 31  # initial.broker.registration.timeout.ms: a minute


def test_the_time_of_unanswered_registrations_counts() -> None:
    play = Play()
    registered = play.broker.register([])
    for _ in range(6):
        assert not registered.done
        play.scheduler.advance(9_000)
        play.answer(KafkaError(ErrorCode.REQUEST_TIMED_OUT))
        play.scheduler.advance(2_000)
    assert registered.value.code == ErrorCode.REQUEST_TIMED_OUT


def test_what_comes_up_while_a_heartbeat_is_in_flight_goes_with_the_next_at_once() -> None:
    play = Play().registered()
    play.broker.unfence()
    play.broker.directory_failed(b"d" * 16)
    assert len(play.sent) == 1
    assert play.answer(BrokerHeartbeatResponse(is_fenced=False)).offline_log_dirs == []
    assert play.answer(BrokerHeartbeatResponse(is_fenced=False)).offline_log_dirs == [b"d" * 16]
    assert play.sent == []


@pytest.mark.parametrize("code", [ErrorCode.INCONSISTENT_CLUSTER_ID, ErrorCode.UNSUPPORTED_VERSION])
def test_a_refused_registration(code: ErrorCode) -> None:
    play = Play()
    registered = play.broker.register([])
    play.answer(KafkaError(code))
    assert isinstance(registered.value, KafkaError)
    play.broker.unfence()
    assert play.sent == []  # without an epoch there is nothing to say


def test_unfencing_asks_again_until_it_is_granted() -> None:
    play = Play().registered()
    unfenced = play.broker.unfence()
    request = play.answer(BrokerHeartbeatResponse(is_fenced=True))
    assert (request.broker_epoch, request.current_metadata_offset) == (7, 5)
    done = [unfenced.done]
    play.scheduler.advance(50)
    play.answer(BrokerHeartbeatResponse(is_fenced=False))
    assert [*done, unfenced.done] == [False, True]


def test_heartbeats_go_on() -> None:
    play = Play().registered()
    play.broker.unfence()
    play.answer(BrokerHeartbeatResponse(is_fenced=False))
    for _ in range(3):
        play.scheduler.advance(2000)
        play.answer(BrokerHeartbeatResponse(is_fenced=False))
    play.broker.stop()
    play.scheduler.advance(10_000)
    assert play.sent == []


@pytest.mark.parametrize("code", [ErrorCode.NOT_CONTROLLER, ErrorCode.STALE_BROKER_EPOCH])
def test_a_refused_heartbeat_is_tried_again(code: int) -> None:
    play = Play().registered()
    play.broker.unfence()
    play.answer(KafkaError(code))
    play.scheduler.advance(2000)
    assert len(play.sent) == 1


def test_controlled_shutdown() -> None:
    play = Play().registered()
    play.broker.unfence()
    play.answer(BrokerHeartbeatResponse(is_fenced=False))
    may_stop = play.broker.controlled_shutdown()
    assert play.answer(BrokerHeartbeatResponse(is_fenced=False)).want_shut_down
    done = [may_stop.done]
    play.scheduler.advance(50)
    play.answer(BrokerHeartbeatResponse(is_fenced=True, should_shut_down=True))
    assert [*done, may_stop.done] == [False, True]
    play.scheduler.advance(10_000)
    assert play.sent == []


def test_a_failed_directory_is_reported_at_once_and_ever_after() -> None:
    play = Play().registered()
    play.broker.directory_failed(b"d" * 16)
    play.broker.directory_failed(b"d" * 16)
    assert len(play.sent) == 1
    request = play.answer(BrokerHeartbeatResponse(is_fenced=False))
    assert request.offline_log_dirs == [b"d" * 16]


def test_producer_ids() -> None:
    play = Play().registered()
    play.broker.allocate_producer_ids()
    request, _ = play.sent[0]
    assert (request.broker_id, request.broker_epoch) == (1, 7)


def test_directories_of_replicas_are_told_once_it_is_registered() -> None:
    from pykbroker.protocol.messages.assign_replicas_to_dirs_response import (
        AssignReplicasToDirsResponse,
    )

    play = Play()
    topic = b"t" * 16
    play.broker.assign_directories({(topic, 0): b"d" * 16})
    assert play.sent == []
    play.registered()
    play.broker.unfence()
    play.answer(BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False))
    play.broker.assign_directories({(topic, 1): b"e" * 16})  # waits for the one on its way
    play.scheduler.advance(10)
    request = play.answer(AssignReplicasToDirsResponse())
    assert [directory.id for directory in request.directories] == [b"d" * 16]
    request = play.answer(KafkaError(ErrorCode.NOT_CONTROLLER))
    assert [directory.id for directory in request.directories] == [b"e" * 16]
    assert play.sent == []
    play.broker.assign_directories({})  # as the next heartbeat does
    play.scheduler.advance(10)
    request = play.answer(AssignReplicasToDirsResponse())
    assert [directory.id for directory in request.directories] == [b"e" * 16]
    play.broker.assign_directories({})
    play.scheduler.advance(10)
    assert play.sent == []


def test_directories_of_replicas_are_not_told_before_an_upgrade_that_records_them() -> None:
    play = Play().registered()
    play.image = MetadataImage(features={METADATA_VERSION: 16})
    play.broker.assign_directories({(b"t" * 16, 0): b"d" * 16})
    play.scheduler.advance(10)
    assert play.sent == []
    play.image = MetadataImage(features={METADATA_VERSION: 17})
    play.scheduler.advance(2_000)
    play.answer(BrokerHeartbeatResponse(is_fenced=True))
    (request, _) = play.sent[0]
    assert [directory.id for directory in request.directories] == [b"d" * 16]
