"""A cluster of two brokers that answer what a test says, behind the real AdminClient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pykbroker.cli import admin
from pykbroker.protocol.messages.describe_cluster_response import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)
from pykbroker.protocol.messages.find_coordinator_response import (
    Coordinator,
    FindCoordinatorResponse,
)
from pykbroker.protocol.messages.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from pykbroker.protocol.primitives import Message

NODES = (1, 2)
COORDINATOR = 2

Answer = Callable[[int, Any], Message]


class ScriptedCluster:
    """`answers` by the name of the API: what a node answers to a request; `asked`: what came.

    `leaders` is led as it says (-1: by nobody), with replicas on the leader alone; node 2
    coordinates everything.
    """

    def __init__(self, leaders: Mapping[tuple[str, int], int] | None = None) -> None:
        self.leaders = leaders or {}
        self.answers: dict[str, Answer] = {
            "DescribeCluster": lambda node, request: _described(),
            "FindCoordinator": lambda node, request: _found(request),
            "Metadata": lambda node, request: self._metadata(request),
        }
        self.asked: list[tuple[int, Any]] = []

    def requests(self, name: str) -> list[tuple[int, Any]]:
        """(node, request) of an API."""
        return [each for each in self.asked if type(each[1]).__name__ == f"{name}Request"]

    def client(self) -> admin.AdminClient:
        """A client of the cluster; from within `use`."""
        return admin.AdminClient("127.0.0.1:1")

    def use(self, monkeypatch: pytest.MonkeyPatch) -> ScriptedCluster:
        """Have every AdminClient connect to this cluster."""

        def connect(host: str, port: int, client_id: str, timeout_s: float) -> ScriptedConnection:
            return ScriptedConnection(self, port)

        monkeypatch.setattr(admin, "BrokerConnection", connect)
        monkeypatch.setattr(admin, "_RETRY_S", 0)
        return self

    def _metadata(self, request: Any) -> MetadataResponse:
        numbers = {
            topic: [number for name, number in self.leaders if name == topic]
            for topic, _ in self.leaders
        }
        asked = list(numbers) if request.topics is None else [each.name for each in request.topics]
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=n, host="h", port=n) for n in NODES],
            topics=[
                MetadataResponseTopic(
                    name=topic,
                    error_code=0 if topic in numbers else 3,
                    partitions=[
                        MetadataResponsePartition(
                            partition_index=number,
                            leader_id=self.leaders[topic, number],
                            replica_nodes=[self.leaders[topic, number]],
                        )
                        for number in numbers.get(topic, ())
                    ],
                )
                for topic in asked
            ],
        )


class ScriptedConnection:
    """A connection to the node whose id is its port."""

    def __init__(self, cluster: ScriptedCluster, node: int) -> None:
        self._cluster = cluster
        self._node = node

    def send(self, request: Message, version: int | None = None) -> Message:
        self._cluster.asked.append((self._node, request))
        name = type(request).__name__.removesuffix("Request")
        return self._cluster.answers[name](self._node, request)

    def close(self) -> None:
        pass


def _described() -> DescribeClusterResponse:
    brokers = [DescribeClusterBroker(broker_id=n, host="h", port=n) for n in NODES]
    return DescribeClusterResponse(cluster_id="c", brokers=brokers)


def _found(request: Any) -> FindCoordinatorResponse:
    found = [
        Coordinator(key=key, node_id=COORDINATOR, host="h", port=COORDINATOR)
        for key in request.coordinator_keys
    ]
    return FindCoordinatorResponse(coordinators=found)
