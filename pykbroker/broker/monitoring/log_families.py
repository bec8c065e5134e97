"""Partitions that this node hosts: `kafka_log_log_*`, `kafka_cluster_partition_*`,
`kafka_server_replicamanager_*`, and kafka_exporter's `kafka_topic_partition_*` where it leads."""

from __future__ import annotations

from collections.abc import Iterable

from pykbroker.broker.monitoring.families import Families
from pykbroker.replication.isr import effective_min_isr
from pykbroker.replication.partition import Partition

_PARTITION = ("topic", "partition")


class PartitionFamilies:
    """Adds partitions, a slice of them at a time; `finish` adds the totals."""

    def __init__(self, families: Families, now_ms: int, max_transaction_ms: int) -> None:
        """now_ms: wall-clock time. max_transaction_ms: `transaction.max.timeout.ms`."""
        self._families = families
        self._now_ms = now_ms
        self._max_transaction_ms = max_transaction_ms
        log = "kafka_log_log"
        self._size = families.gauge(f"{log}_size", "Bytes of the log.", *_PARTITION)
        self._segments = families.gauge(f"{log}_numlogsegments", "Segments.", *_PARTITION)
        self._start = families.gauge(f"{log}_logstartoffset", "Log start offset.", *_PARTITION)
        self._end = families.gauge(f"{log}_logendoffset", "Log end offset.", *_PARTITION)
        cluster = "kafka_cluster_partition"
        self._replicas = families.gauge(f"{cluster}_replicascount", "Replicas.", *_PARTITION)
        self._in_sync = families.gauge(
            f"{cluster}_insyncreplicascount", "In-sync replicas, 0 on followers.", *_PARTITION
        )
        self._under = families.gauge(
            f"{cluster}_underreplicated", "1: this node leads, and not all follow.", *_PARTITION
        )
        self._under_min = families.gauge(
            f"{cluster}_underminisr", "1: fewer in sync than min.insync.replicas.", *_PARTITION
        )
        self._at_min = families.gauge(
            f"{cluster}_atminisr", "1: just min.insync.replicas are in sync.", *_PARTITION
        )
        self._exporter = ExporterFamilies(families)
        self._hosted = self._led = self._late = self._producers = 0
        self._under_count = self._under_min_count = self._at_min_count = 0

    def add(self, partitions: Iterable[Partition]) -> None:
        """Read these partitions."""
        for partition in partitions:
            if partition.hosted:  # it was when the list was made
                self._add(partition)

    def _add(self, partition: Partition) -> None:
        labels = (partition.topic, str(partition.index))
        log = partition.log
        self._size.add(log.size_bytes, *labels)
        self._segments.add(len(log.segments), *labels)
        self._start.add(log.log_start_offset, *labels)
        self._end.add(log.log_end_offset, *labels)
        replicas, in_sync = len(partition.replicas), len(partition.isr.members)
        self._hosted += 1
        self._producers += len(log.producers.producers)
        under = under_min = at_min = False
        if partition.is_leader:
            self._led += 1
            least = effective_min_isr(log.config.min_insync_replicas, max(1, replicas))
            under, under_min, at_min = in_sync < replicas, in_sync < least, in_sync == least
            self._late += log.producers.has_late_transaction(self._now_ms, self._max_transaction_ms)
            self._exporter.add(partition, labels)
        self._replicas.add(replicas if partition.is_leader else 0, *labels)
        self._in_sync.add(in_sync if partition.is_leader else 0, *labels)
        self._under.add(under, *labels)
        self._under_min.add(under_min, *labels)
        self._at_min.add(at_min, *labels)
        self._under_count += under
        self._under_min_count += under_min
        self._at_min_count += at_min

    def finish(self) -> None:
        """Add the totals of the node."""
        for name, value, help_ in (
            ("partitioncount", self._hosted, "Partitions that this node hosts."),
            ("leadercount", self._led, "Partitions that this node leads."),
            ("underreplicatedpartitions", self._under_count, "Led, and not all replicas follow."),
            ("underminisrpartitioncount", self._under_min_count, "Led, too few in sync."),
            ("atminisrpartitioncount", self._at_min_count, "Led, just enough in sync."),
            (
                "partitionswithlatetransactionscount",
                self._late,
                "Led, with a transaction open 5 minutes longer than transaction.max.timeout.ms.",
            ),
            ("produceridcount", self._producers, "Producer ids that the partitions know."),
        ):
            self._families.gauge(f"kafka_server_replicamanager_{name}", help_).add(value)


class ExporterFamilies:
    """What kafka_exporter says of a partition; each one is exported by its leader."""

    def __init__(self, families: Families) -> None:
        prefix = "kafka_topic_partition"
        self._current = families.gauge(
            f"{prefix}_current_offset", "The offset up to which consumers read.", *_PARTITION
        )
        self._oldest = families.gauge(
            f"{prefix}_oldest_offset", "The first offset that is kept.", *_PARTITION
        )
        self._leader = families.gauge(f"{prefix}_leader", "The node that leads.", *_PARTITION)
        self._replicas = families.gauge(f"{prefix}_replicas", "Replicas.", *_PARTITION)
        self._in_sync = families.gauge(
            f"{prefix}_in_sync_replica", "In-sync replicas.", *_PARTITION
        )
        self._preferred = families.gauge(
            f"{prefix}_leader_is_preferred", "1: the first replica leads.", *_PARTITION
        )
        self._under = families.gauge(
            f"{prefix}_under_replicated_partition", "1: not all replicas are in sync.", *_PARTITION
        )

    def add(self, partition: Partition, labels: tuple[str, str]) -> None:
        """Read a partition that this node leads."""
        replicas, in_sync = len(partition.replicas), len(partition.isr.members)
        self._current.add(partition.high_watermark, *labels)
        self._oldest.add(partition.log.log_start_offset, *labels)
        self._leader.add(partition.leader, *labels)
        self._replicas.add(replicas, *labels)
        self._in_sync.add(in_sync, *labels)
        self._preferred.add(partition.replicas[:1] == (partition.leader,), *labels)
        self._under.add(in_sync < replicas, *labels)
