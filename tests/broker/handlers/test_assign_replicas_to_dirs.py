"""AssignReplicasToDirs: where a broker has its replicas."""

from __future__ import annotations

from pykbroker.broker.handlers.assign_replicas_to_dirs import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.kraft.directory_assignment import assignment_request
from tests.broker.handlers.admin_broker import AdminBroker


def test_an_assignment_is_recorded() -> None:
    broker = AdminBroker()
    topic = broker.create("t")
    directory = broker.image.brokers[1].directories[0]
    request = assignment_request(1, broker.node.broker_epoch, {(topic.id, 0): directory})
    answer = broker.call(HANDLER, request, 0, on_controller=True)
    assert answer.error_code == 0
    (at,) = answer.directories
    assert at.topics[0].partitions[0].error_code == 0


def test_another_incarnation_is_refused() -> None:
    request = assignment_request(1, 0, {(b"t" * 16, 0): b"d" * 16})
    answer = AdminBroker().call(HANDLER, request, 0, on_controller=True)
    assert answer.error_code == ErrorCode.STALE_BROKER_EPOCH
