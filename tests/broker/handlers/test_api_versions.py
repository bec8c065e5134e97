"""ApiVersions: what is listed, and its own rules for bad requests."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.handlers import Route
from pykbroker.broker.handlers.api_versions import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.api_versions_request import ApiVersionsRequest
from pykbroker.protocol.messages.api_versions_response import (
    ApiVersion,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)


def _broker() -> Any:
    features = SimpleNamespace(
        supported={"kraft.version": (0, 1), "metadata.version": (7, 33)},
        finalized={"metadata.version": 33},
        finalized_epoch=12,
    )
    return SimpleNamespace(
        node_id=1,
        cluster_id="a-cluster",
        features=lambda: features,
        routes=[
            Route("Produce", "unused", False, 0),
            Route("ApiVersions", "unused", True, None),
            Route("DescribeQuorum", "unused", True, None),
        ],
    )


def _request(version: int, on_controller: bool = False, **fields: Any) -> Any:
    message = ApiVersionsRequest(
        **{"client_software_name": "test", "client_software_version": "1.0"} | fields
    )
    listener = SimpleNamespace(is_controller=on_controller)
    connection = SimpleNamespace(listener=listener)
    return SimpleNamespace(api_version=version, message=message, connection=connection)


def test_a_broker_listener_lists_what_it_serves() -> None:
    request = _request(4)
    reply: Any = HANDLER.handle(_broker(), request)
    assert reply.error_code == 0
    assert reply.api_keys == [
        ApiVersion(api_key=0, min_version=0, max_version=13),  # KAFKA-18659
        ApiVersion(api_key=18, min_version=0, max_version=5),
        ApiVersion(api_key=55, min_version=0, max_version=2),
    ]
    assert reply.supported_features == [
        SupportedFeatureKey(name="kraft.version", min_version=0, max_version=1),
        SupportedFeatureKey(name="metadata.version", min_version=7, max_version=33),
    ]
    assert reply.finalized_features == [
        FinalizedFeatureKey(name="metadata.version", min_version_level=33, max_version_level=33)
    ]
    assert reply.finalized_features_epoch == 12


def test_a_controller_listener_lists_its_own() -> None:
    reply: Any = HANDLER.handle(_broker(), _request(4, on_controller=True))
    assert [api.api_key for api in reply.api_keys] == [18, 55]


def test_up_to_version_3_features_from_level_0_on_are_left_out() -> None:
    reply: Any = HANDLER.handle(_broker(), _request(3))
    assert [feature.name for feature in reply.supported_features] == ["metadata.version"]


@pytest.mark.parametrize("name", ["", "-a", "a-", "a b", "a\n", "ä"])
def test_software_names_have_a_pattern(name: str) -> None:
    reply: Any = HANDLER.handle(_broker(), _request(3, client_software_name=name))
    assert (reply.error_code, reply.api_keys) == (ErrorCode.INVALID_REQUEST, [])
    version: Any = HANDLER.handle(_broker(), _request(3, client_software_version=name))
    assert version.error_code == ErrorCode.INVALID_REQUEST
    old: Any = HANDLER.handle(_broker(), _request(2, client_software_name=name))
    assert old.error_code == 0


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"cluster_id": "a-cluster", "node_id": 1}, 0),
        ({"cluster_id": None, "node_id": -1}, 0),
        ({"cluster_id": "a-cluster", "node_id": -1}, ErrorCode.INVALID_REQUEST),
        ({"cluster_id": None, "node_id": 1}, ErrorCode.INVALID_REQUEST),
        ({"cluster_id": "another", "node_id": 1}, ErrorCode.REBOOTSTRAP_REQUIRED),
        ({"cluster_id": "a-cluster", "node_id": 2}, ErrorCode.REBOOTSTRAP_REQUIRED),
    ],
)
def test_version_5_checks_cluster_and_node(fields: dict[str, Any], error: int) -> None:
    reply: Any = HANDLER.handle(_broker(), _request(5, **fields))
    assert reply.error_code == error


def test_an_unsupported_version_learns_the_range() -> None:
    reply: Any = HANDLER.error_reply(_request(0), ErrorCode.UNSUPPORTED_VERSION, None)
    assert reply.error_code == 35
    assert reply.api_keys == [ApiVersion(api_key=18, min_version=0, max_version=5)]
