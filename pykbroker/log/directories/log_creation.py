"""Creates the directory and the files of a new log in a log directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pykbroker.environment.files import Files, LogDirFailure
from pykbroker.log.directories.checkpoints import PARTITION_METADATA, PartitionMetadata
from pykbroker.log.recovery.opening import open_log

if TYPE_CHECKING:
    from pykbroker.config import TopicConfig
    from pykbroker.log.partition.partition_log import PartitionLog
    from pykbroker.types import TopicPartition


class NothingCreated(LogDirFailure):
    """A log directory failed before anything of a new log was in it."""


def create_log(
    files: Files,
    log_directory: str,
    name: str,
    topic_partition: TopicPartition,
    config: TopicConfig,
    *,
    topic_id: bytes | None,
    **opening: Any,
) -> PartitionLog:
    """Create an empty log; `opening` is what `open_log` takes. Raises NothingCreated, or another
    LogDirFailure, after which a part of the log may be there.
    """
    path = f"{log_directory}/{name}"
    action = f"creating the log {name}"
    try:
        files.mkdir(path)
    except OSError as error:
        raise NothingCreated(log_directory, action, error) from error
    try:
        if topic_id is not None:
            # Before any record, so that the records can always be attributed. It is synced with
            # the first flush: a thousand partitions are created without a single fsync.
            content = PartitionMetadata(topic_id).to_bytes()
            files.write_file(f"{path}/{PARTITION_METADATA}", content)
        return open_log(files, path, topic_partition, config, topic_id=topic_id, **opening)
    except OSError as error:
        raise LogDirFailure(log_directory, action, error) from error
