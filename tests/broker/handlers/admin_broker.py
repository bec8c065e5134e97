"""A broker for tests of the metadata and admin handlers: a real quorum of one, no sockets.

A request is encoded and decoded in its version on the way in, and so is the answer on the way out.
A KafkaError becomes the API's error answer, as the worker does it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.broker.handlers import Handler, InSlices, make_routes
from pykbroker.broker.metadata.dynamic_config import DynamicConfig
from pykbroker.broker.metadata.metadata_view import MetadataView
from pykbroker.broker.metadata.topic_creation import TopicCreation
from pykbroker.config import BrokerConfig
from pykbroker.deferred import Deferred
from pykbroker.errors import KafkaError
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import Provenance
from pykbroker.protocol.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from pykbroker.protocol.messages.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from tests.broker.handlers.data_plane import through_the_wire
from tests.kraft.node_world import NodeWorld

LISTENER = "PLAINTEXT"


class AdminBroker:
    """What the admin handlers use of a BrokerServer."""

    def __init__(self, **overrides: Any) -> None:
        self.breaths = 0
        self.world = NodeWorld(**overrides)
        self.world.slices.breathe = lambda: self.breathe()  # type: ignore[method-assign]
        self.world.open()
        self.node = self.kraft = self.world.node
        self.dynamic_config = DynamicConfig(self.world.config)
        self.node_id = self.config.node_id
        self.cluster_id = self.node.storage.cluster_id
        self.controller = self.node.channel
        self.raft = self.node.raft.raft
        self.quorum = self.node.service
        self.metadata = MetadataView(self.cluster_id, self.node_id)
        self.routes = make_routes()
        self.topic_creation = TopicCreation(
            self._create_topics, config=lambda: self.config, now_ms=self.now_ms
        )
        self.node.publish_to([self.dynamic_config, self.metadata])

    @property
    def config(self) -> BrokerConfig:
        return self.dynamic_config.current

    @property
    def image(self) -> Any:
        return self.node.image

    def now_ms(self) -> int:
        return self.world.scheduler.now_ms

    def breathe(self) -> None:
        self.breaths += 1

    def _create_topics(self, request: Any, deadline_ms: int) -> Deferred:
        return self.world.controller.submit(request, 7)

    def create(self, name: str, partitions: int = 1, **configs: str) -> Any:
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            configs=[
                CreatableTopicConfig(name=key.replace("_", "."), value=value)
                for key, value in configs.items()
            ],
        )
        request = CreateTopicsRequest(topics=[topic])
        (result,) = self.world.settle(self._create_topics(request, 0)).topics
        assert result.error_code == 0, result.error_message
        return self.image.topics_by_name[name]

    def call(
        self,
        handler: Handler,
        message: Any,
        version: int,
        *,
        on_controller: bool = False,
        patience_ms: int = 5_000,
    ) -> Any:
        """Handle a request; the answer as the client reads it."""
        request: Any = SimpleNamespace(
            message=through_the_wire(message, version),
            api_version=version,
            client_id="test",
            principal="User:ANONYMOUS",
            client_address="127.0.0.1",
            received_ms=self.now_ms(),
            listener_name="CONTROLLER" if on_controller else LISTENER,
            connection=SimpleNamespace(listener=SimpleNamespace(is_controller=on_controller)),
        )
        try:
            outcome: Any = handler.handle(self, request)
            while isinstance(outcome, InSlices):
                outcome = outcome.job()
        except KafkaError as refused:
            outcome = refused
        if isinstance(outcome, Deferred):
            outcome = self.world.settle(outcome, patience_ms)
            while isinstance(outcome, InSlices):
                outcome = outcome.job()
        if isinstance(outcome, KafkaError):
            outcome = handler.error_reply(request, outcome.code, outcome.message)
        return through_the_wire(outcome, version)

    def publish(self, *records: Any) -> None:
        """Have the view see records that no controller of one node would write."""
        delta = MetadataDelta(self.metadata.image)
        for record in records:
            delta.replay(record)
        offset = self.metadata.image.offset + len(records)
        self.metadata.apply(delta, delta.apply(Provenance(offset, 1, 0)))

    def another_broker(
        self, broker_id: int, *, fenced: bool = False, listener: str = LISTENER
    ) -> RegisterBrokerRecord:
        return RegisterBrokerRecord(
            broker_id=broker_id,
            broker_epoch=1,
            incarnation_id=bytes(16),
            end_points=[
                BrokerEndpoint(name=listener, host="h", port=9000 + broker_id, security_protocol=0)
            ],
            rack="r",
            fenced=fenced,
        )
