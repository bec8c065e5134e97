"""The names of partition directories, and their meaning.

    orders-3                                  the partition
    orders-3.<32 hex digits>-future           a copy on its way here from another directory
    orders-3.<32 hex digits>-delete           deleted or replaced; removed after
                                              log.segment.delete.delay.ms
    orders-3.<32 hex digits>-stray            set aside for an operator: not of a replica here

Source: LocalLog.parseTopicPartitionName, logDeleteDirName.
"""

from __future__ import annotations

import re

from pykbroker.types import TopicPartition
from pykbroker.values import NamedTuple

DELETE = "delete"
FUTURE = "future"
STRAY = "stray"

MAX_NAME = 255
_NAME = re.compile(
    r"^(?P<topic>\S+)-(?P<partition>[0-9]+)(?:\.(?P<id>[^\s.]+)-(?P<kind>delete|future|stray))?$"
)


class DirectoryName(NamedTuple):
    """A parsed name; `kind` is "" for a partition in use. The topic's name may be truncated if the
    directory is deleted or stray.
    """

    topic_partition: TopicPartition
    kind: str


def parse_directory_name(name: str) -> DirectoryName | None:
    """Parse a name; None if it is not that of a partition directory."""
    match = _NAME.match(name)
    if match is None:
        return None
    partition = int(match["partition"])
    if partition > 0x7FFFFFFF:
        return None
    return DirectoryName(TopicPartition(match["topic"], partition), match["kind"] or "")


def aside_name(topic_partition: TopicPartition, unique_id: str, kind: str) -> str:
    """Return the name for setting a directory aside; a long topic name is truncated."""
    suffix = f"-{topic_partition.partition}.{unique_id}-{kind}"
    return topic_partition.topic[: MAX_NAME - len(suffix)] + suffix
