"""ListPartitionReassignments at the handler."""

from __future__ import annotations

from pykbroker.broker.handlers.alter_partition_reassignments import HANDLER as ALTER
from pykbroker.broker.handlers.list_partition_reassignments import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.kraft.metadata_version import SUPPORTED_FEATURES
from pykbroker.protocol.messages import broker_registration_request as registration
from pykbroker.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from tests.broker.handlers.admin_broker import AdminBroker
from tests.broker.handlers.test_alter_partition_reassignments import alter


def asked(*numbers: int) -> ListPartitionReassignmentsRequest:
    topic = ListPartitionReassignmentsTopics(name="t", partition_indexes=list(numbers))
    return ListPartitionReassignmentsRequest(topics=[topic])


def registration_of(broker: AdminBroker, broker_id: int) -> registration.BrokerRegistrationRequest:
    return registration.BrokerRegistrationRequest(
        broker_id=broker_id,
        cluster_id=broker.cluster_id,
        incarnation_id=b"i" * 16,
        features=[
            registration.Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in SUPPORTED_FEATURES.items()
        ],
        log_dirs=[b"d" * 16],
    )


def test_a_lone_node_has_none_under_way() -> None:
    broker = AdminBroker()
    broker.create("t")
    everything = ListPartitionReassignmentsRequest(topics=None)
    nothing = ListPartitionReassignmentsRequest(topics=[])
    for request in (everything, asked(0, 9), nothing):
        reply = broker.call(HANDLER, request, 0)
        assert (reply.error_code, reply.error_message, reply.topics) == (0, None, [])


def test_to_a_broker_that_is_fenced() -> None:
    broker = AdminBroker()
    broker.create("t")
    other = registration_of(broker, 2)
    epoch = broker.world.settle(broker.world.controller.submit(other, 4)).broker_epoch
    assert broker.image.brokers[2].epoch == epoch
    assert broker.image.brokers[2].fenced
    broker.call(ALTER, alter([2]), 1)
    reply = broker.call(HANDLER, asked(0), 0)
    (topic,) = reply.topics
    (partition,) = topic.partitions
    assert (topic.name, partition.replicas) == ("t", [2, 1])
    assert (partition.adding_replicas, partition.removing_replicas) == ([2], [1])


def test_a_controller_that_does_not_lead() -> None:
    broker = AdminBroker()
    broker.world.controller.deactivate()
    reply = broker.call(HANDLER, asked(3), 0, on_controller=True)
    assert reply.error_code == ErrorCode.NOT_CONTROLLER
    assert [at.partition_index for at in reply.topics[0].partitions] == [3]
