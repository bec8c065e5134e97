"""An administrator: creates, grows, configures and deletes topics, trims and inspects them.

After a change that was not answered, the `Catalog` allows what was before and what was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from pykbroker.protocol.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from pykbroker.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from pykbroker.protocol.messages.delete_topics_request import (
    DeleteTopicsRequest,
    DeleteTopicState,
)
from pykbroker.protocol.messages.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from pykbroker.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from pykbroker.testing.world.catalog import Catalog, TopicPromise, TopicState
from pykbroker.testing.world.clients.client import Client
from pykbroker.testing.world.ledger import TopicRules
from pykbroker.testing.world.randomness import pick
from pykbroker.testing.world.world import World
from pykbroker.types import Peer

TOPIC_RESOURCE = 2
SET = 0
FIRST_DELETE_WITH_IDS = 6
FIRST_METADATA_THAT_CREATES_NOTHING = 4
MAX_PARTITIONS = 6
TIMEOUT_MS = 2_000

# A node that forwards a request sends it again when it got no answer: the second one may find that
# the first one was heard.
MAY_HAVE_HAPPENED = frozenset(
    (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_CONTROLLER, ErrorCode.INVALID_PARTITIONS)
)

ACTIONS = {"create": 2, "grow": 2, "alter": 4, "delete": 1, "look": 4, "configs": 3, "trim": 2}


class Administrator(Client):
    """A scripted administrator of topics and configurations.

    `kept` are topics that it never deletes or grows, because others use them.
    """

    def __init__(
        self,
        world: World,
        name: str,
        bootstrap: Sequence[Peer],
        catalog: Catalog,
        replication_factor: int = 1,
    ) -> None:
        super().__init__(world, name, bootstrap)
        self.catalog = catalog
        self._replication_factor = replication_factor
        self._created = 0
        self.kept: set[str] = set()
        self.is_one_of_several = False
        """Nodes may lag behind and others change topics, too: this one changes its own only, and
        the topics and configurations that it is shown are not compared."""
        self.changes = 0

    async def script(self) -> None:
        """Do one thing after the other until it is stopped."""
        while not self.is_stopping:
            action = getattr(self, f"_{pick(self.dice, ACTIONS)}")
            try:
                await action()
            except KafkaError as failure:
                self.note(f"has trouble: {failure.code}")
            await self.pause(20, 400)

    def _pick_topic(self, *, only_own: bool) -> TopicPromise | None:
        found = [
            topic
            for name, topic in self.catalog.topics.items()
            if topic.state is TopicState.THERE
            and not (only_own and name in self.kept)
            and (not self.is_one_of_several or name.startswith(f"{self.name}-"))
        ]
        return self.dice.choice(found) if found else None

    # ---------------------------------------------------------------- topics

    async def create(
        self,
        name: str,
        partitions: int,
        rules: TopicRules,
        configs: dict[str, str],
        replicas: int = 0,
    ) -> TopicPromise:
        """Create a topic and return its promise, which stays in the catalog if there is an error.
        `replicas`: of each partition (0: as many as this administrator's topics have). Raises
        KafkaError.
        """
        topic = TopicPromise(name, partitions, rules)
        topic.replicas = replicas or self._replication_factor
        topic.configs = {key: {value} for key, value in configs.items()}
        self.catalog.topics[name] = topic
        await self.create_again(topic)
        return topic

    async def create_again(self, topic: TopicPromise) -> None:
        """Ask for the creation of a topic (again, if there was no answer). Raises KafkaError, but
        not if the topic exists already.
        """
        version = self.version_of("CreateTopics")
        topic.unanswered_creations += 1
        configs = [
            CreatableTopicConfig(name=key, value=next(iter(values)))
            for key, values in topic.configs.items()
        ]
        response = await self.ask(
            CreateTopicsRequest(
                topics=[
                    CreatableTopic(
                        name=topic.name,
                        num_partitions=topic.partitions,
                        replication_factor=topic.replicas,
                        configs=configs,
                    )
                ],
                timeout_ms=TIMEOUT_MS,
            ),
            version,
            timeout_ms=2 * TIMEOUT_MS,
        )
        topic.unanswered_creations -= 1
        answer = response.topics[0]
        if answer.error_code == ErrorCode.TOPIC_ALREADY_EXISTS:
            topic.state = TopicState.THERE  # an earlier request of ours was heard
        elif answer.error_code:
            raise KafkaError(answer.error_code)
        else:
            topic.state = TopicState.THERE
            self.changes += 1
        self.note(f"created {topic.name} with {topic.partitions} partitions")

    async def _create(self) -> None:
        unanswered = [
            topic
            for name, topic in self.catalog.topics.items()
            if topic.state is TopicState.CREATING and name.startswith(f"{self.name}-")
        ]
        if unanswered:
            await self.create_again(unanswered[0])
            return
        self._created += 1
        name = f"{self.name}-{self._created}"
        await self.create(name, self.dice.randint(1, 3), TopicRules(), {})

    async def _grow(self) -> None:
        topic = self._pick_topic(only_own=True)
        if topic is None or topic.partitions >= MAX_PARTITIONS or topic.most_partitions:
            return
        count = topic.partitions + 1
        topic.most_partitions = count
        response = await self.ask(
            CreatePartitionsRequest(
                topics=[CreatePartitionsTopic(name=topic.name, count=count, assignments=None)],
                timeout_ms=TIMEOUT_MS,
            ),
            self.version_of("CreatePartitions"),
            timeout_ms=2 * TIMEOUT_MS,
        )
        code = response.results[0].error_code
        if code:
            if code not in MAY_HAVE_HAPPENED:
                topic.most_partitions = 0
            raise KafkaError(code)
        topic.grow(count)
        topic.most_partitions = 0
        self.changes += 1
        self.note(f"grew {topic.name} to {count} partitions")

    async def _delete(self) -> None:
        topic = self._pick_topic(only_own=True)
        if topic is None:
            return
        topic.state = TopicState.DELETING
        version = self.version_of("DeleteTopics")
        message = DeleteTopicsRequest(timeout_ms=TIMEOUT_MS)
        if version >= FIRST_DELETE_WITH_IDS:
            message.topics = [DeleteTopicState(name=topic.name)]
        else:
            message.topic_names = [topic.name]
        response = await self.ask(message, version, timeout_ms=2 * TIMEOUT_MS)
        code = response.responses[0].error_code
        if code:
            raise KafkaError(code)
        topic.state = TopicState.GONE
        self.changes += 1
        self.note(f"deleted {topic.name}")

    async def _look(self) -> None:
        """Read a node's metadata. If no other client changes topics, compare it with what was
        promised, unless that has changed meanwhile, and learn ids.
        """
        before = {name: topic.state for name, topic in self.catalog.topics.items()}
        counts = {name: topic.partitions for name, topic in self.catalog.topics.items()}
        version = self.version_of("Metadata", 1)
        creates = (
            version < FIRST_METADATA_THAT_CREATES_NOTHING
        )  # the node's configuration forbids it
        response = await self.ask(
            MetadataRequest(topics=None, allow_auto_topic_creation=creates), version
        )
        found = {
            topic.name: len(topic.partitions) for topic in response.topics if not topic.error_code
        }
        if self.is_one_of_several:
            return
        now = {name: topic.state for name, topic in self.catalog.topics.items()}
        if before == now and counts == {
            name: topic.partitions for name, topic in self.catalog.topics.items()
        }:
            self.catalog.check_topics(found)
        for topic in response.topics:
            promise = self.catalog.topics.get(topic.name)
            if promise is not None and any(topic.topic_id):
                self._learn_id(promise, topic.topic_id)

    def _learn_id(self, promise: TopicPromise, topic_id: bytes) -> None:
        if any(promise.topic_id) and promise.topic_id != topic_id:
            raise self.violated(f"topic {promise.name} has a new id")
        promise.topic_id = topic_id

    async def learn_ids(self) -> None:
        """Ask for the ids of all topics of the catalog; see `ask_again`."""

        async def attempt() -> Any:
            wanted = [MetadataRequestTopic(name=name) for name in self.catalog.topics]
            response = await self.ask(
                MetadataRequest(topics=wanted, allow_auto_topic_creation=False),
                self.version_of("Metadata", 10),
            )
            for topic in response.topics:
                if topic.error_code:
                    raise KafkaError(topic.error_code)
                self._learn_id(self.catalog.topics[topic.name], topic.topic_id)
            return response

        await self.ask_again(attempt)

    # ---------------------------------------------------------------- configurations

    async def _alter(self) -> None:
        topic = self._pick_topic(only_own=False)
        if topic is None:
            return
        key, values = self.dice.choice(
            (
                ("segment.ms", ("200", "900", "5000")),
                ("max.message.bytes", ("100000", "500000")),
                ("index.interval.bytes", ("64", "4096")),
            )
        )
        value = self.dice.choice(values)
        topic.config_sent(key, value)
        await self.set_configs(topic.name, {key: value})
        topic.config_answered(key, value)
        self.changes += 1
        self.note(f"set {key}={value} of {topic.name}")

    async def set_configs(self, name: str, configs: Mapping[str, str]) -> None:
        """Set configurations of a topic. Raises KafkaError."""
        response = await self.ask(
            IncrementalAlterConfigsRequest(
                resources=[
                    AlterConfigsResource(
                        resource_type=TOPIC_RESOURCE,
                        resource_name=name,
                        configs=[
                            AlterableConfig(name=key, config_operation=SET, value=value)
                            for key, value in configs.items()
                        ],
                    )
                ]
            ),
            self.version_of("IncrementalAlterConfigs"),
        )
        code = response.responses[0].error_code
        if code:
            raise KafkaError(code)

    async def _configs(self) -> None:
        topic = self._pick_topic(only_own=False)
        if topic is None:
            return
        resource = DescribeConfigsResource(
            resource_type=TOPIC_RESOURCE, resource_name=topic.name, configuration_keys=None
        )
        response = await self.ask(
            DescribeConfigsRequest(resources=[resource]), self.version_of("DescribeConfigs")
        )
        answer = response.results[0]
        if answer.error_code:
            raise KafkaError(answer.error_code)
        if self.is_one_of_several:
            return
        self.catalog.check_configs(
            topic.name, {config.name: config.value for config in answer.configs}
        )

    # ---------------------------------------------------------------- records

    async def _trim(self) -> None:
        """Delete the records of a partition before some offset that is known to be there."""
        topic = self._pick_topic(only_own=False)
        if topic is None or topic.rules.is_compacted:
            return
        index = self.dice.randrange(topic.partitions)
        ledger = topic.ledgers[index]
        if not ledger.at:
            return
        offset = self.dice.choice(sorted(ledger.at))
        ledger.deleted_before = max(ledger.deleted_before, offset)
        partition = DeleteRecordsPartition(partition_index=index, offset=offset)
        response = await self.ask(
            DeleteRecordsRequest(
                topics=[DeleteRecordsTopic(name=topic.name, partitions=[partition])],
                timeout_ms=TIMEOUT_MS,
            ),
            self.version_of("DeleteRecords"),
        )
        answer = response.topics[0].partitions[0]
        if not answer.error_code and answer.low_watermark < offset:
            raise self.violated(
                f"{ledger.name}: deleted before {offset}, the log starts at {answer.low_watermark}"
            )
        self.note(f"trimmed {ledger.name} before {offset}: {answer.error_code}")
