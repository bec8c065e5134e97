"""The state shared by the controller's modules: latest image, configuration, injected sources.

State: `image` is the state after every decided record, committed or not; `next_offset` is the
offset of the next record; `index` finds the partitions of a broker in the image; the broker
sessions are soft state of this controller alone.
In:  replay, by `Controller` only; the other modules read the image, and write sessions and caches.
Out: queries that several modules share (is this broker active, which settings has this topic).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from pykbroker.config import BrokerConfig, ConfigError, TopicConfig
from pykbroker.config.dynamic import with_usable_overrides
from pykbroker.environment.randomness import RandomSource
from pykbroker.kraft.controller.colliding_names import CollidingNames
from pykbroker.kraft.controller.partition_change import Rules
from pykbroker.kraft.controller.partition_index import PartitionIndex, Place
from pykbroker.kraft.controller.sessions import BrokerSessions
from pykbroker.kraft.image import MetadataImage, TopicImage
from pykbroker.kraft.partition_image import UNASSIGNED_DIRECTORY, PartitionImage
from pykbroker.kraft.registration import BrokerRegistration
from pykbroker.values import NamedTuple


class ElectionConfig(NamedTuple):
    """The election settings of a topic's configuration."""

    elects_unclean: bool
    min_insync_replicas: int


def effective_min_isr(min_insync_replicas: int, topic: TopicImage) -> int:
    """Return `min.insync.replicas`, capped at the number of replicas of the
    topic's first partition.
    """
    first = topic.partitions.get(0)
    return min_insync_replicas if first is None else min(min_insync_replicas, len(first.replicas))


class ControllerState:
    """The state shared by the controller's modules."""

    def __init__(
        self,
        *,
        node_id: int,
        cluster_id: str,
        config: BrokerConfig,
        new_uuid: Callable[[], bytes],
        random: RandomSource,
        voter_ids: Callable[[], Collection[int]],
        breathe: Callable[[], None],
    ) -> None:
        """voter_ids: the current voters of the quorum.

        breathe: called between the parts of a long request (`environment/slices.py`).
        """
        self.node_id = node_id
        self.cluster_id = cluster_id
        self.static_config = config
        self.new_uuid = new_uuid
        self.random = random
        self.voter_ids = voter_ids
        self.breathe = breathe
        self.image = MetadataImage()
        self.index = PartitionIndex(self.image)
        self.colliding_names = CollidingNames(self.image)
        self.next_offset = 0
        self.kraft_version = 0
        # Offset of each broker's last RegisterBrokerRecord: the broker is caught up past it.
        self.registration_offsets: dict[int, int] = {}
        self.sessions = BrokerSessions(config.broker_session_timeout_ms)
        self._effective: tuple[object, object, BrokerConfig] | None = None
        self._election_configs: dict[str, tuple[Mapping[str, str], ElectionConfig]] = {}
        self._election_configs_of: BrokerConfig | None = None
        # The last topic's configuration for responses (topics.py): soft, never changed.
        self.described_topic: tuple[BrokerConfig, dict[str, str], Any] | None = None

    @property
    def metadata_version(self) -> int:
        """The finalised level of metadata.version."""
        return self.image.metadata_version

    def config(self) -> BrokerConfig:
        """This node's configuration with dynamic overrides; rebuilt when they change."""
        cluster, node = self.image.cluster_config(), self.image.broker_config(self.node_id)
        cached = self._effective
        # The settings of a resource are never changed in place, only replaced.
        if cached is not None and cached[0] is cluster and cached[1] is node:
            return cached[2]
        # The broker reports settings that it cannot use, written by a node that knows more keys.
        effective, _ = with_usable_overrides(self.static_config, cluster, node)
        self._effective = (cluster, node, effective)
        return effective

    def topic_config(self, overrides: Mapping[str, str]) -> TopicConfig:
        """Return the configuration of a topic with these overrides. Raises ConfigError."""
        return TopicConfig.from_overrides(self.config(), overrides)

    def broker(self, broker_id: int) -> BrokerRegistration | None:
        """Return the registration of a broker; None if it is not registered."""
        return self.image.brokers.get(broker_id)

    def is_active(self, broker_id: int) -> bool:
        """Return whether the broker may lead: registered, not fenced, not shutting down."""
        broker = self.image.brokers.get(broker_id)
        return broker is not None and not broker.fenced and not broker.in_controlled_shutdown

    def default_directory(self, broker_id: int) -> bytes:
        """Return the log directory of a new replica on `broker_id`."""
        broker = self.image.brokers.get(broker_id)
        return UNASSIGNED_DIRECTORY if broker is None else broker.default_directory

    def at(self, places: Iterable[Place]) -> Iterator[tuple[TopicImage, int, PartitionImage]]:
        """Return the partitions at these places of the index."""
        topics = self.image.topics_by_id
        for topic_id, number in places:
            topic = topics[topic_id]
            yield topic, number, topic.partitions[number]

    def elects_unclean(self, topic: str) -> bool:
        """Return whether `unclean.leader.election.enable` is set for this topic."""
        return self._election_config(topic).elects_unclean

    @property
    def has_eligible_leaders(self) -> bool:
        """Whether `eligible.leader.replicas.version` is finalised at 1 (KIP-966)."""
        return self.image.has_eligible_leaders

    def rules(self, topic: TopicImage) -> Rules:
        """Return the settings of cluster and topic for a change of one of its partitions."""
        return Rules(
            self.metadata_version,
            effective_min_isr(self._election_config(topic.name).min_insync_replicas, topic),
            self.has_eligible_leaders,
        )

    def _election_config(self, topic: str) -> ElectionConfig:
        """Return the election settings, cached per topic: thousands of
        partitions may change with one broker.
        """
        config = self.config()
        if self._election_configs_of is not config:
            self._election_configs_of = config
            self._election_configs.clear()
        overrides = self.image.topic_config(topic)
        kept = self._election_configs.get(topic)
        if kept is None or kept[0] is not overrides:
            kept = overrides, self._read_election_config(overrides)
            self._election_configs[topic] = kept
        return kept[1]

    def _read_election_config(self, overrides: Mapping[str, str]) -> ElectionConfig:
        try:
            config = self.topic_config(overrides)
        except ConfigError:  # written by a node that knows more keys
            return ElectionConfig(False, self.config().min_insync_replicas)
        return ElectionConfig(
            bool(config.unclean_leader_election_enable), config.min_insync_replicas
        )
