"""DescribeCluster on broker and controller listeners."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.describe_cluster import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_version import METADATA_VERSION
from pykbroker.protocol.messages.describe_cluster_request import DescribeClusterRequest
from tests.broker.handlers.admin_broker import AdminBroker


@pytest.mark.parametrize("version", range(3))
def test_every_version(version: int) -> None:
    broker = AdminBroker()
    answer = broker.call(HANDLER, DescribeClusterRequest(), version)
    assert (answer.error_code, answer.error_message) == (0, None)
    assert (answer.cluster_id, answer.controller_id) == (broker.cluster_id, 1)
    (node,) = answer.brokers
    assert (node.broker_id, node.host, node.port, node.rack) == (1, "127.0.0.1", 9092, None)
    assert answer.cluster_authorized_operations == -(2**31)
    asked = DescribeClusterRequest(include_cluster_authorized_operations=True)
    assert broker.call(HANDLER, asked, version).cluster_authorized_operations == 8096


def test_fenced_brokers_only_when_asked() -> None:
    broker = AdminBroker()
    broker.world.settle(broker.node.controlled_shutdown())
    assert broker.call(HANDLER, DescribeClusterRequest(), 2).brokers == []
    asked = DescribeClusterRequest(include_fenced_brokers=True)
    (node,) = broker.call(HANDLER, asked, 2).brokers
    assert node.is_fenced


def test_controllers() -> None:
    broker = AdminBroker()
    request = DescribeClusterRequest(endpoint_type=2)
    answer = broker.call(HANDLER, request, 1, on_controller=True)
    assert [(node.broker_id, node.port) for node in answer.brokers] == [(1, 9093)]
    assert (answer.controller_id, answer.endpoint_type) == (1, 2)


def test_controllers_that_do_not_register_are_not_described() -> None:
    broker = AdminBroker()
    old = MetadataImage(features={METADATA_VERSION: 14})
    broker.metadata.apply(MetadataDelta(old), old)
    request = DescribeClusterRequest(endpoint_type=2)
    answer = broker.call(HANDLER, request, 1, on_controller=True)
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert broker.call(HANDLER, DescribeClusterRequest(), 1).error_code == 0


@pytest.mark.parametrize(
    ("version", "endpoint_type", "on_controller", "code"),
    [
        (1, 2, False, "MISMATCHED_ENDPOINT_TYPE"),
        (1, 1, True, "MISMATCHED_ENDPOINT_TYPE"),
        (0, 1, True, "INVALID_REQUEST"),
        (1, 9, False, "UNSUPPORTED_ENDPOINT_TYPE"),
    ],
)
def test_endpoint_types(version: int, endpoint_type: int, on_controller: bool, code: str) -> None:
    broker = AdminBroker()
    request = DescribeClusterRequest(endpoint_type=endpoint_type)
    answer = broker.call(HANDLER, request, version, on_controller=on_controller)
    assert ErrorCode(answer.error_code).name == code
    assert answer.error_message
