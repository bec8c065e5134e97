"""The logs of a node by partition, and how many of them each log directory has.

In:    logs, added under their partitions and removed. Out: the logs; `counts` by log directory.
Invariant: a log does not leave its log directory while it is in the table.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pykbroker.log.partition.partition_log import PartitionLog
    from pykbroker.types import TopicPartition

    _Logs = dict[TopicPartition, PartitionLog]
else:
    _Logs = dict


class LogTable(_Logs):
    """Logs by partition. Logs are added by `table[partition] = log`, and removed by `pop`, `del`
    and `clear`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def __setitem__(self, topic_partition: TopicPartition, log: PartitionLog) -> None:
        self.pop(topic_partition)
        super().__setitem__(topic_partition, log)
        self.counts[log.log_directory] += 1

    def pop(  # type: ignore[override]
        self, topic_partition: TopicPartition, default: None = None
    ) -> PartitionLog | None:
        log = super().pop(topic_partition, default)
        if log is not None:
            self.counts[log.log_directory] -= 1
        return log

    def __delitem__(self, topic_partition: TopicPartition) -> None:
        self.counts[self[topic_partition].log_directory] -= 1
        super().__delitem__(topic_partition)

    def clear(self) -> None:
        super().clear()
        self.counts.clear()
