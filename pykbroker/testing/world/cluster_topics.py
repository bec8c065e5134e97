"""Topics of a cluster (`transactions.py` has another one), and settings that all its nodes share.

Names say what a topic is about; `min.insync.replicas` is 2 except in "one-in-sync". In "flushed",
each replica flushes its log after every append.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pykbroker.testing.world.clients.administrator import Administrator
from pykbroker.testing.world.clients.client import Client
from pykbroker.testing.world.ledger import TopicRules
from pykbroker.testing.world.transactions import STATE_PARTITIONS

TWO_IN_SYNC = {"min.insync.replicas": "2"}

CLUSTER_TOPICS: dict[str, tuple[TopicRules, dict[str, str]]] = {
    "plain": (TopicRules(), {**TWO_IN_SYNC, "segment.ms": "400"}),
    "flushed": (TopicRules(is_flushed=True), {**TWO_IN_SYNC, "flush.messages": "1"}),
    "pair": (TopicRules(), TWO_IN_SYNC),
    "one-in-sync": (TopicRules(), {"min.insync.replicas": "1", "segment.ms": "900"}),
    "retained": (
        TopicRules(retention_ms=2_000),
        {**TWO_IN_SYNC, "retention.ms": "2000", "segment.ms": "300", "file.delete.delay.ms": "200"},
    ),
    "compacted": (
        TopicRules(is_compacted=True),
        {
            **TWO_IN_SYNC,
            "cleanup.policy": "compact",
            "segment.ms": "200",
            "min.cleanable.dirty.ratio": "0.01",
            "delete.retention.ms": "1000",
        },
    ),
}

REPLICAS = {"pair": 2}
"""Topics that do not have the usual number: when one lags behind and the other one fails, it is
eligible.
"""

CLUSTER_PROPERTIES = {
    "auto.create.topics.enable": "false",
    "min.insync.replicas": "2",
    "replica.lag.time.max.ms": "1500",
    "replica.fetch.wait.max.ms": "200",
    "replica.fetch.backoff.ms": "100",
    "replica.socket.timeout.ms": "1500",
    "leader.imbalance.check.interval.seconds": "2",
    "offsets.topic.num.partitions": "2",
    "offsets.topic.replication.factor": "3",
    "offsets.load.buffer.size": "300",
    "group.min.session.timeout.ms": "500",
    "group.initial.rebalance.delay.ms": "50",
    "log.retention.check.interval.ms": "600",
    "log.initial.task.delay.ms": "100",
    "log.cleaner.backoff.ms": "400",
    "log.cleaner.threads": "1",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "max.incremental.fetch.session.cache.slots": "16",
    "transaction.state.log.num.partitions": str(STATE_PARTITIONS),
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "transaction.state.log.load.buffer.size": "300",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "300",
}


class ClusterSetUp(Client):
    """Creates some of the topics before the faults begin, through an administrator."""

    def __init__(self, administrator: Administrator, latest_wall_ms: Callable[[], int]) -> None:
        super().__init__(administrator.world, "set-up", administrator.bootstrap)
        self._administrator = administrator
        self._latest_wall_ms = latest_wall_ms

    async def script(self) -> None:
        """Create the topics, and read their ids."""
        names = [name for name in CLUSTER_TOPICS if not self.dice.one_in(3)] or ["plain"]
        for name in names:
            rules, configs = CLUSTER_TOPICS[name]
            own = replace(rules, latest_wall_ms=self._latest_wall_ms)
            await self._administrator.create(
                name, self.dice.randint(1, 2), own, dict(configs), REPLICAS.get(name, 0)
            )
        await self._administrator.learn_ids()
