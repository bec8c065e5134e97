"""What the controller's subjects share: the latest image, the configuration, the injected sources.

State: `image` is the state after every record that was decided, committed or not; `next_offset` is
where the next record goes; sessions of brokers are soft state of this controller alone.
In:  replay by `Controller` only; the subjects read.
Out: small questions that several subjects ask (is this broker active, what holds for this topic).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pykbroker.config import BrokerConfig, ConfigError, TopicConfig
from pykbroker.config.dynamic import with_usable_overrides
from pykbroker.environment.randomness import RandomSource
from pykbroker.kraft.controller.sessions import BrokerSessions
from pykbroker.kraft.image import MetadataImage, TopicImage
from pykbroker.kraft.partition_image import UNASSIGNED_DIRECTORY, PartitionImage
from pykbroker.kraft.registration import BrokerRegistration


class ControllerState:
    """See the module's text."""

    def __init__(
        self,
        *,
        node_id: int,
        cluster_id: str,
        config: BrokerConfig,
        new_uuid: Callable[[], bytes],
        random: RandomSource,
        breathe: Callable[[], None],
    ) -> None:
        """breathe: called between the parts of a long request (`environment/slices.py`)."""
        self.node_id = node_id
        self.cluster_id = cluster_id
        self.static_config = config
        self.new_uuid = new_uuid
        self.random = random
        self.breathe = breathe
        self.image = MetadataImage()
        self.next_offset = 0
        self.kraft_version = 0
        # Offset of the last RegisterBrokerRecord of each broker: it is caught up behind that.
        self.registration_offsets: dict[int, int] = {}
        self.sessions = BrokerSessions(config.broker_session_timeout_ms)
        self._effective: tuple[object, BrokerConfig] | None = None
        # The last topic's configuration as an answer shows it (topics.py): soft, never changed.
        self.described_topic: tuple[BrokerConfig, dict[str, str], Any] | None = None

    @property
    def metadata_version(self) -> int:
        """The finalised level of metadata.version."""
        return self.image.metadata_version

    def config(self) -> BrokerConfig:
        """This node's configuration, dynamic overrides on top; made again when they change."""
        configs = self.image.configs
        cached = self._effective
        if cached is not None and cached[0] is configs:
            return cached[1]
        # The broker tells what it cannot use, written by a node that knows more keys.
        effective, _ = with_usable_overrides(
            self.static_config, self.image.cluster_config(), self.image.broker_config(self.node_id)
        )
        self._effective = (configs, effective)
        return effective

    def topic_config(self, overrides: Mapping[str, str]) -> TopicConfig:
        """The configuration that a topic with these overrides has."""
        return TopicConfig.from_overrides(self.config(), overrides)

    def broker(self, broker_id: int) -> BrokerRegistration | None:
        """The registration of a broker."""
        return self.image.brokers.get(broker_id)

    def is_active(self, broker_id: int) -> bool:
        """May it lead: registered, not fenced, not shutting down?"""
        broker = self.image.brokers.get(broker_id)
        return broker is not None and not broker.fenced and not broker.in_controlled_shutdown

    def default_directory(self, broker_id: int) -> bytes:
        """The log directory of a new replica on `broker_id`."""
        broker = self.image.brokers.get(broker_id)
        return UNASSIGNED_DIRECTORY if broker is None else broker.default_directory

    def partitions(self) -> Iterator[tuple[TopicImage, int, PartitionImage]]:
        """Every partition there is: for rare events (a broker comes or goes), not for requests."""
        for topic in self.image.topics_by_id.values():
            for number, partition in topic.partitions.items():
                yield topic, number, partition

    def leads_anything(self, broker_id: int) -> bool:
        """Is `broker_id` the leader of any partition?"""
        return any(partition.leader == broker_id for _, _, partition in self.partitions())

    def elects_unclean(self, topic: str) -> bool:
        """Does `unclean.leader.election.enable` hold for this topic?"""
        try:
            overrides = self.image.topic_config(topic)
            return bool(self.topic_config(overrides).unclean_leader_election_enable)
        except ConfigError:
            return False
