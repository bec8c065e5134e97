"""The topics, partitions and configurations promised to administrators; and producer ids.

State: one `TopicPromise` per topic that was ever requested; the producer ids that were assigned.
Invariants that it checks: a topic whose creation was acknowledged exists, with its partitions and
configuration, until its deletion is requested; a topic whose deletion was acknowledged reappears
only through another creation that had no response; a change without a response happened as a whole
or not at all; no producer id is assigned twice with the same epoch (to producers that are not
transactional; the ids of others are in `transaction_ledger.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from pykbroker.testing.world.ledger import PartitionLedger, TopicRules
from pykbroker.testing.world.world import Violation


class TopicState(Enum):
    """The state of a topic, as far as its clients can know."""

    CREATING = auto()  # requested, no response: it may exist
    THERE = auto()  # answered
    DELETING = auto()  # requested, no response: it may be deleted
    GONE = auto()  # answered


@dataclass(slots=True)
class TopicPromise:
    """A topic as its clients know it."""

    name: str
    partitions: int
    rules: TopicRules
    state: TopicState = TopicState.CREATING
    topic_id: bytes = bytes(16)
    replicas: int = 1
    most_partitions: int = 0
    """A larger number that was asked for, and perhaps granted without an answer; 0: none."""
    configs: dict[str, set[str]] = field(default_factory=dict)
    """Key -> the values that it may have now."""
    """A key that is not here was never changed, as far as is known."""
    unanswered_configs: dict[str, set[str]] = field(default_factory=dict)
    """Values that were sent and not acknowledged: they may be set at any time from then on."""
    unanswered_creations: int = 0
    first_partitions: int = field(init=False)
    ledgers: list[PartitionLedger] = field(default_factory=list)
    may_lose: bool = False
    """A power failure may have taken what its producers were promised."""

    def __post_init__(self) -> None:
        self.first_partitions = self.partitions
        self.grow(self.partitions)

    @property
    def may_be_created_anew(self) -> bool:
        """Whether a creation that was sent before the deletion may arrive after it: the topic then
        is as it was at first.
        """
        is_deleted = self.state in (TopicState.DELETING, TopicState.GONE)
        return is_deleted and self.unanswered_creations > 0

    def config_sent(self, key: str, value: str) -> None:
        """Record that a change is about to be sent."""
        self.unanswered_configs.setdefault(key, set()).add(value)
        if key in self.configs:
            self.configs[key].add(value)

    def config_answered(self, key: str, value: str) -> None:
        """Record that the change was acknowledged; earlier ones without a response may still be
        applied.
        """
        self.unanswered_configs[key].discard(value)
        self.configs[key] = {value} | self.unanswered_configs[key]

    def grow(self, partitions: int) -> None:
        """Record its new number of partitions."""
        self.partitions = partitions
        while len(self.ledgers) < partitions:
            name = f"{self.name}-{len(self.ledgers)}"
            self.ledgers.append(PartitionLedger(name, self.rules))


class Catalog:
    """The topics and configurations that administrators were promised, and producer ids."""

    def __init__(self) -> None:
        self.topics: dict[str, TopicPromise] = {}
        self.power_failures = 0
        """Grows when a power failure may have lost records: a response to a request from before
        that promises nothing.
        """
        self._producer_ids: set[tuple[int, int]] = set()

    def producer_id_given(self, producer_id: int, epoch: int) -> None:
        """Record the producer id in a response to InitProducerId. Raises Violation if it was
        given with this epoch before.
        """
        if (producer_id, epoch) in self._producer_ids:
            raise Violation(f"producer id {producer_id} with epoch {epoch} was given twice")
        self._producer_ids.add((producer_id, epoch))

    def check_topics(self, found: Mapping[str, int]) -> None:
        """Compare with the topics of a node: name -> number of partitions."""
        for name, topic in self.topics.items():
            partitions = found.get(name)
            if partitions is None:
                if topic.state is TopicState.THERE:
                    raise Violation(f"topic {name} was created and is not there")
                continue
            if topic.state is TopicState.GONE and not topic.may_be_created_anew:
                raise Violation(f"topic {name} was deleted and is there")
            expected = {topic.partitions, topic.most_partitions}
            if topic.may_be_created_anew:
                expected.add(topic.first_partitions)
            if partitions not in expected:
                raise Violation(
                    f"topic {name} has {partitions} partitions, expected {topic.partitions}"
                )
        for name in found:
            if name not in self.topics and not name.startswith("__"):
                raise Violation(f"no client created topic {name}")

    def check_configs(self, name: str, found: Mapping[str, str | None]) -> None:
        """Compare with the configurations of a topic; None: the default."""
        topic = self.topics[name]
        for key, values in topic.configs.items():
            if found.get(key) is None and topic.may_be_created_anew:
                continue
            if found.get(key) not in values:
                raise Violation(
                    f"topic {name}: {key} is {found.get(key)}, expected one of {values}"
                )
