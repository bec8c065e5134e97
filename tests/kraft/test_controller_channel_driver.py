"""Requests reach the active controller, wherever it is, or the deadline ends the search."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any
from weakref import ref

import pytest

from pykbroker.deferred import Deferred, resolved, spawn
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller_channel_driver import (
    RETRY_MS,
    Caller,
    ControllerChannel,
    make_envelope,
    refusal_as_value,
    value_of,
)
from pykbroker.protocol.api import API_BY_NAME
from pykbroker.protocol.headers import decode_request_header, encode_response
from pykbroker.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest
from pykbroker.protocol.messages.broker_heartbeat_response import BrokerHeartbeatResponse
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from pykbroker.protocol.messages.create_topics_response import (
    CreatableTopicResult,
    CreateTopicsResponse,
)
from pykbroker.protocol.messages.default_principal_data import DefaultPrincipalData
from pykbroker.protocol.messages.envelope_response import EnvelopeResponse
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.types import Peer
from tests.kraft.node_world import ManualScheduler

HEARTBEAT = BrokerHeartbeatRequest(broker_id=1, broker_epoch=5)
CREATE = CreateTopicsRequest(topics=[CreatableTopic(name="t", num_partitions=1)])
CLIENT = Caller("User:alice", "10.1.2.3", "client-7")
OTHER = Peer(2, "127.0.0.1", 9093)
NETWORK = KafkaError(ErrorCode.NETWORK_EXCEPTION)
NOT_CONTROLLER = KafkaError(ErrorCode.NOT_CONTROLLER)


class Local:
    def __init__(self) -> None:
        self.is_active = False
        self.asked: list[tuple[Any, int]] = []
        self.answer: Deferred = resolved("decided here")

    def submit(self, message: Any, version: int) -> Deferred:
        self.asked.append((message, version))
        return self.answer if self.is_active else resolved(NOT_CONTROLLER)


class Play:
    def __init__(self, answers: list[Any] | None = None) -> None:
        self.scheduler = ManualScheduler(0, MemoryFiles())
        self.local = Local()
        self.leader: Peer | None = OTHER
        self.answers = answers or []
        self.sent: list[tuple[Peer, Any, int]] = []
        self.channel = ControllerChannel(
            local=self.local,
            leader=lambda: self.leader,
            send=self.send,
            scheduler=self.scheduler,
            now_ms=lambda: self.scheduler.now_ms,
        )

    def send(self, peer: Peer, message: Any, deadline_ms: int) -> Deferred:
        self.sent.append((peer, message, deadline_ms))
        answer = self.answers.pop(0)
        return resolved(answer(message) if isinstance(answer, Callable) else answer)  # type: ignore[arg-type]


def test_the_controller_of_this_process_is_asked_by_a_call() -> None:
    play = Play()
    play.local.is_active = True
    assert play.channel.send(HEARTBEAT, 1000).value == "decided here"
    assert play.channel.forward(CREATE, 5, CLIENT, 1000).value == "decided here"
    assert play.local.asked == [(HEARTBEAT, 2), (CREATE, 5)]
    assert play.sent == []


def test_a_request_of_this_node_goes_to_the_leader_as_it_is() -> None:
    reply = BrokerHeartbeatResponse(is_fenced=False)
    play = Play([reply])
    assert play.channel.send(HEARTBEAT, 1000).value is reply
    assert play.sent == [(OTHER, HEARTBEAT, 1000)]


def test_a_refusal_of_the_whole_request_is_a_kafka_error() -> None:
    play = Play([BrokerHeartbeatResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)])
    assert play.channel.send(HEARTBEAT, 1000).value.code == ErrorCode.STALE_BROKER_EPOCH


@pytest.mark.parametrize(
    "failure",
    [NETWORK, NOT_CONTROLLER, BrokerHeartbeatResponse(error_code=ErrorCode.NOT_CONTROLLER)],
)
def test_it_is_asked_again_until_the_controller_is_found(failure: Any) -> None:
    reply = BrokerHeartbeatResponse()
    play = Play([failure, failure, reply])
    outcome = play.channel.send(HEARTBEAT, 1000)
    play.scheduler.advance(2 * RETRY_MS - 1)
    assert not outcome.done
    play.leader = Peer(3, "127.0.0.1", 9094)
    play.scheduler.advance(1)
    assert outcome.value is reply
    assert [peer.node_id for peer, _, _ in play.sent] == [2, 2, 3]


@pytest.mark.parametrize("active_from_the_start", [True, False])
def test_the_node_of_the_controller_answers_what_its_controller_does_not(
    active_from_the_start: bool,
) -> None:
    play = Play([NOT_CONTROLLER])
    play.local.is_active = active_from_the_start
    outcome = play.channel.forward(CREATE, 5, CLIENT, 1000, here=lambda: resolved("described"))
    play.local.is_active = True
    play.scheduler.advance(RETRY_MS)
    assert outcome.value == "described"
    assert play.local.asked == []


def test_a_node_that_becomes_the_controller_meanwhile_decides_itself() -> None:
    play = Play()
    play.leader = None
    outcome = play.channel.forward(CREATE, 7, CLIENT, 1000)
    play.local.is_active = True
    play.scheduler.advance(RETRY_MS)
    assert outcome.value == "decided here"
    assert play.local.asked == [(CREATE, 7)]


def test_the_deadline_ends_the_search() -> None:
    play = Play()
    play.leader = None
    outcome = play.channel.send(HEARTBEAT, 250)
    play.scheduler.advance(249)
    assert not outcome.done
    play.scheduler.advance(1)
    assert outcome.value.code == ErrorCode.REQUEST_TIMED_OUT


def test_the_deadline_ends_the_wait_for_a_commit_and_a_late_answer_is_dropped() -> None:
    play = Play()
    play.local.is_active = True
    play.local.answer = Deferred()
    outcome = play.channel.local(CREATE, 7, 100)
    play.scheduler.advance(100)
    assert outcome.value.code == ErrorCode.REQUEST_TIMED_OUT
    play.local.answer.resolve("late")
    assert outcome.value.code == ErrorCode.REQUEST_TIMED_OUT


def test_a_node_without_a_controller_says_so() -> None:
    play = Play()
    play.channel._local = None
    assert play.channel.local(CREATE, 7, 100).value.code == ErrorCode.NOT_CONTROLLER


def test_a_clients_request_travels_in_an_envelope() -> None:
    answer = CreateTopicsResponse(topics=[CreatableTopicResult(name="t", error_code=36)])

    def controller(envelope: Any) -> Any:
        header = decode_request_header(envelope.request_data)
        assert (header.api.name, header.api_version) == ("CreateTopics", 5)
        assert header.client_id == "client-7"
        inside, _ = CreateTopicsRequest.decode(envelope.request_data, header.body_pos, 5)
        assert inside.topics[0].name == "t"
        assert envelope.request_principal[:2] == b"\0\0"
        principal, _ = DefaultPrincipalData.decode(envelope.request_principal, 2, 0)
        assert (principal.type, principal.name) == ("User", "alice")
        assert envelope.client_host_address == bytes([10, 1, 2, 3])
        out: Any = []
        encode_response(API_BY_NAME["CreateTopics"], 5, header.correlation_id, answer, out)
        return EnvelopeResponse(response_data=b"".join(out)[4:])

    play = Play([controller])
    reply = play.channel.forward(CREATE, 5, CLIENT, 1000).value
    assert (reply.topics[0].name, reply.topics[0].error_code) == ("t", 36)


def test_errors_of_the_envelope_itself() -> None:
    def ask(code: ErrorCode, *more: Any) -> Any:
        play = Play([EnvelopeResponse(error_code=code), *more])
        outcome = play.channel.forward(CREATE, 5, CLIENT, 1000)
        play.scheduler.advance(RETRY_MS)
        return outcome.value

    assert ask(ErrorCode.UNSUPPORTED_VERSION).code == ErrorCode.UNSUPPORTED_VERSION
    assert ask(ErrorCode.INVALID_REQUEST).code == ErrorCode.UNKNOWN_SERVER_ERROR
    again = EnvelopeResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    assert ask(ErrorCode.NOT_CONTROLLER, again).code == ErrorCode.UNKNOWN_SERVER_ERROR


def test_a_malformed_answer_is_no_answer() -> None:
    play = Play([EnvelopeResponse(response_data=b"\0")])
    outcome = play.channel.forward(CREATE, 5, CLIENT, 1000)
    assert outcome.value.code == ErrorCode.UNKNOWN_SERVER_ERROR


def test_addresses_of_both_families() -> None:
    envelope = make_envelope(CREATE, 5, CLIENT._replace(address="::1"))
    assert envelope.client_host_address == bytes(15) + b"\x01"


class Refusal(KafkaError):
    """An error that weak references may follow."""


def test_a_refusal_that_was_returned_is_in_no_cycle() -> None:
    async def raising(deferred: Deferred) -> None:
        outcome = await value_of(deferred)
        raise outcome

    was_enabled = gc.isenabled()
    gc.disable()
    try:
        refusal = Refusal(ErrorCode.NETWORK_EXCEPTION)
        freed = ref(refusal)
        task = spawn(refusal_as_value(raising(resolved(refusal))))
        assert task.value is refusal
        del refusal, task
        assert freed() is None
    finally:
        if was_enabled:
            gc.enable()
