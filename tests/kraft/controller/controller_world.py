"""A controller with brokers, and the log that its decisions make."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.decision import Decision, MetadataRecord
from pykbroker.kraft.controller.controller import Controller
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_replay import MetadataReplay
from pykbroker.kraft.metadata_version import SUPPORTED_FEATURES
from pykbroker.kraft.storage_format import bootstrap_records
from pykbroker.protocol.messages import broker_registration_request as registration
from pykbroker.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest
from pykbroker.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from pykbroker.testing.world.randomness import SeededSource

CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAQA"
FEATURES = {"metadata.version": 33}


def directory_of(broker_id: int) -> bytes:
    return bytes(14) + b"\x01" + bytes([broker_id])


class ControllerWorld:
    def __init__(self, *, features: dict[str, int] | None = None, **overrides: str) -> None:
        properties = standalone_properties("/nowhere")
        properties |= {key.replace("_", "."): value for key, value in overrides.items()}
        self.config = BrokerConfig.from_properties(properties)
        self.now_ms = 1_000_000
        self.epoch = 1
        self.log: list[MetadataRecord] = []
        self.uuids = 0
        self.controller = self.fresh()
        bootstrap = bootstrap_records(FEATURES if features is None else features)
        self.commit(self.controller.activate(bootstrap, self.now_ms))

    def new_uuid(self) -> bytes:
        self.uuids += 1
        return self.uuids.to_bytes(16, "big")

    def fresh(self, image: MetadataImage | None = None) -> Controller:
        """Another machine, on this image; without one it knows nothing yet."""
        return Controller(
            node_id=1,
            cluster_id=CLUSTER_ID,
            config=self.config,
            new_uuid=self.new_uuid,
            random=SeededSource(random.Random(7)),
            committed=MetadataReplay(MetadataImage() if image is None else image),
            next_offset=len(self.log),
        )

    def fail_over(self) -> None:
        """Go on with what is in the log, on another node or after a restart of this one."""
        self.controller = self.fresh(self.image)
        self.commit(self.controller.activate([], self.now_ms))

    @property
    def image(self) -> Any:
        return self.controller.image

    def commit(self, decision: Decision[MetadataRecord]) -> Any:
        """Append and replay, as the driver does; answers the reply."""
        if decision.records:
            base_offset = len(self.log)
            assert self.controller.state.next_offset == base_offset
            self.log += decision.records
            self.controller.replay(decision.records, base_offset, self.epoch, self.now_ms)
        return decision.reply

    def decide(self, method: Callable[..., Decision[MetadataRecord]], *arguments: Any) -> Any:
        return self.commit(method(*arguments))

    # Brokers.

    def registration(self, broker_id: int, **fields: Any) -> Any:
        request = registration.BrokerRegistrationRequest(
            broker_id=broker_id,
            cluster_id=CLUSTER_ID,
            incarnation_id=bytes(15) + bytes([broker_id]),
            listeners=[registration.Listener(name="PLAINTEXT", host="h", port=9000 + broker_id)],
            features=[
                registration.Feature(
                    name=name, min_supported_version=low, max_supported_version=high
                )
                for name, (low, high) in SUPPORTED_FEATURES.items()
            ],
            rack=None,
            log_dirs=[directory_of(broker_id)],
        )
        for name, value in fields.items():
            setattr(request, name, value)
        return request

    def register(self, broker_id: int, **fields: Any) -> int:
        request = self.registration(broker_id, **fields)
        version = request.MAX_VERSION
        reply = self.decide(self.controller.register_broker, request, version, self.now_ms)
        epoch: int = reply.broker_epoch
        return epoch

    def heartbeat(self, broker_id: int, **fields: Any) -> Any:
        request = BrokerHeartbeatRequest(
            broker_id=broker_id,
            broker_epoch=self.image.brokers[broker_id].epoch,
            current_metadata_offset=len(self.log) - 1,
        )
        for name, value in fields.items():
            setattr(request, name, value)
        return self.decide(self.controller.heartbeat, request, self.now_ms)

    def brokers(self, *ids: int) -> ControllerWorld:
        """Register and unfence these."""
        for broker_id in ids:
            self.register(broker_id)
            assert not self.heartbeat(broker_id).is_fenced
        return self

    # Topics.

    def create(self, *topics: CreatableTopic, validate_only: bool = False) -> Any:
        request = CreateTopicsRequest(topics=list(topics), validate_only=validate_only)
        return self.decide(self.controller.create_topics, request)

    def partition(self, name: str, number: int = 0) -> Any:
        return self.image.topics_by_name[name].partitions[number]


def topic(
    name: str,
    partitions: int = 1,
    factor: int = 1,
    configs: Mapping[str, str | None] | None = None,
    assignments: dict[int, list[int]] | None = None,
) -> CreatableTopic:
    manual = assignments is not None
    return CreatableTopic(
        name=name,
        num_partitions=-1 if manual else partitions,
        replication_factor=-1 if manual else factor,
        configs=[
            CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()
        ],
        assignments=[
            CreatableReplicaAssignment(partition_index=number, broker_ids=replicas)
            for number, replicas in (assignments or {}).items()
        ],
    )


def names_of(records: list[MetadataRecord]) -> list[str]:
    return [type(record.message).__name__ for record in records]
