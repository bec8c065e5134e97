"""Envelope: a client's request that another node forwards."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.envelope import HANDLER, open_request
from pykbroker.broker.metadata.config_admin import FEW
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller_channel_driver import Caller, make_envelope, open_envelope
from pykbroker.protocol.api import API_BY_NAME
from pykbroker.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from pykbroker.protocol.messages.envelope_request import EnvelopeRequest
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.broker.handlers.admin_broker import AdminBroker

CLIENT = Caller("User:alice", "10.1.2.3", "client-7")


def create(name: str, replicas: int = 1) -> CreateTopicsRequest:
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=replicas)
    return CreateTopicsRequest(topics=[topic], timeout_ms=1000)


def send(broker: AdminBroker, envelope: Any) -> Any:
    return broker.call(HANDLER, envelope, 0, on_controller=True)


@pytest.mark.parametrize("version", range(2, 8))
def test_the_request_inside_is_decided_and_its_response_comes_back(version: int) -> None:
    broker = AdminBroker()
    answer = send(broker, make_envelope(create("t"), version, CLIENT))
    assert answer.error_code == 0
    response: Any = open_envelope(API_BY_NAME["CreateTopics"], version, answer.response_data)
    assert [(at.name, at.error_code) for at in response.topics] == [("t", 0)]
    assert "t" in broker.image.topics_by_name


def test_what_brokers_ask_for_themselves_may_be_forwarded() -> None:
    """As in ApiKeys.java, although no broker does it."""
    request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=99)
    answer = send(AdminBroker(), make_envelope(request, 0, CLIENT))
    assert answer.error_code == 0
    response: Any = open_envelope(API_BY_NAME["AllocateProducerIds"], 0, answer.response_data)
    assert response.error_code == ErrorCode.STALE_BROKER_EPOCH


def test_a_refusal_of_the_request_inside_is_its_own_response() -> None:
    answer = send(AdminBroker(), make_envelope(create("t", replicas=3), 5, CLIENT))
    assert answer.error_code == 0
    response: Any = open_envelope(API_BY_NAME["CreateTopics"], 5, answer.response_data)
    assert response.topics[0].error_code == ErrorCode.INVALID_REPLICATION_FACTOR


def test_many_resources_are_altered_by_one_envelope() -> None:
    broker = AdminBroker()
    message = IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=2,
                resource_name=f"t{number}",
                configs=[AlterableConfig(name="retention.ms", config_operation=0, value="1000")],
            )
            for number in range(FEW + 1)
        ]
    )
    answer = send(broker, make_envelope(message, 1, CLIENT))
    assert answer.error_code == 0
    api = API_BY_NAME["IncrementalAlterConfigs"]
    response: Any = open_envelope(api, 1, answer.response_data)
    codes = {at.error_code for at in response.responses}
    assert (len(response.responses), codes) == (FEW + 1, {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})


def test_a_controller_that_is_not_active_says_so_in_the_envelope() -> None:
    broker = AdminBroker()
    broker.world.controller.deactivate()
    answer = send(broker, make_envelope(create("t"), 5, CLIENT))
    assert (answer.error_code, answer.response_data) == (ErrorCode.NOT_CONTROLLER, None)


def test_the_handler_inside_sees_the_client() -> None:
    class Envelope:
        message = make_envelope(create("t"), 5, CLIENT)
        connection = None
        received_ms = 17

    inner = open_request(Envelope())  # type: ignore[arg-type]
    assert (inner.principal, inner.client_address) == ("User:alice", "10.1.2.3")
    assert (inner.client_id, inner.api_version, inner.received_ms) == ("client-7", 5, 17)


def changed(**fields: Any) -> EnvelopeRequest:
    envelope = make_envelope(create("t"), 5, CLIENT)
    for name, value in fields.items():
        setattr(envelope, name, value)
    return envelope


@pytest.mark.parametrize(
    ("envelope", "code"),
    [
        (changed(client_host_address=b"abc"), ErrorCode.INVALID_REQUEST),
        (make_envelope(HeartbeatRequest(), 4, CLIENT), ErrorCode.INVALID_REQUEST),
        (changed(request_principal=b""), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        (changed(request_principal=None), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        (changed(request_principal=b"\0\1xyz"), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        (changed(request_principal=b"\0\0\7"), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        (changed(request_data=b"\0\x13"), ErrorCode.UNSUPPORTED_VERSION),
        (changed(request_data=b"\x7f\xff\0\0\0\0\0\0\0\0"), ErrorCode.UNSUPPORTED_VERSION),
        (changed(request_data=b"\0\x13\0\x63\0\0\0\0\0\0\0"), ErrorCode.UNSUPPORTED_VERSION),
        (changed(request_data=b"\0\x13\0\7\0\0\0\0\0\0\0\x7f"), ErrorCode.UNSUPPORTED_VERSION),
    ],
)
def test_what_cannot_be_opened_is_refused(envelope: EnvelopeRequest, code: ErrorCode) -> None:
    broker = AdminBroker()
    answer = send(broker, envelope)
    assert (ErrorCode(answer.error_code), answer.response_data) == (code, None)
    assert broker.image.topics_by_name == {}


def test_open_request_raises_kafka_errors_only() -> None:
    class Envelope:
        message = changed(request_data=b"")
        connection = None
        received_ms = 0

    with pytest.raises(KafkaError):
        open_request(Envelope())  # type: ignore[arg-type]
