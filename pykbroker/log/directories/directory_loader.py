"""Opening the logs of one log directory when the node starts.

After a clean shutdown, a log that does not end where it was flushed to is recovered as after a
crash. After a crash, logs are checked from their recovery points on: two or more large ones in
worker processes if available (`recover_many`, see recovery_driver.py), the others here. Between two
logs the event loop may get a turn (`rest`), because other nodes of the quorum must hear from this
one, however many logs it has.

Source: LogManager.loadLogs, loadLog.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pykbroker.config import TopicConfig
from pykbroker.deferred import Deferred
from pykbroker.environment import Environment
from pykbroker.environment.files import Files, LogDirFailure
from pykbroker.log.directories.checkpoints import (
    PARTITION_METADATA,
    CorruptCheckpoint,
    PartitionMetadata,
)
from pykbroker.log.directories.chores import Chores
from pykbroker.log.directories.log_directory import DirectoryRefused, LogDirectory
from pykbroker.log.directories.partition_directories import (
    DELETE,
    FUTURE,
    STRAY,
    DirectoryName,
    aside_name,
    parse_directory_name,
)
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.recovery.damage import OffsetsOutOfPlace
from pykbroker.log.recovery.opening import RecoveryTask, open_log, unflushed_bytes
from pykbroker.log.segments.segment import LOG_SUFFIX
from pykbroker.types import TopicPartition
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.config import BrokerConfig

_log = logging.getLogger(__name__)

METADATA_TOPIC = "__cluster_metadata"
HEAVY_LOG_BYTES = 32 << 20
"""A log with so many unflushed bytes is worth a worker process, if it is not the only one."""

Recovering = Coroutine[Deferred, Any, Mapping[str, int]]
RecoverMany = Callable[[Sequence[RecoveryTask], int], Recovering]
"""Recovers the tasks' logs with up to that many workers and closes them; directory -> log end
offset. One that could not be recovered is left out."""

SLICE_NS = 5_000_000


class Loading(NamedTuple):
    """What a running node provides for the loading of its logs.

    `rest` is called between two logs and returns a Deferred to wait for, or None to continue
    immediately.
    """

    recover_many: RecoverMany
    rest: Callable[[], Deferred | None]


Logs = dict[TopicPartition, PartitionLog]


class DirectoryLoader:
    """Loads directories one after another into `current` and `future`."""

    def __init__(
        self,
        files: Files,
        config: BrokerConfig,
        chores: Chores,
        *,
        topic_config: Callable[[str], TopicConfig] | None,
        topic_id: Callable[[str], bytes | None] | None = None,
        jitter: Callable[[int], int] | None,
        loading: Loading | None,
        now_ms: int,
        unidentified: dict[TopicPartition, str] | None = None,
    ) -> None:
        """`unidentified` receives the directories of logs, but not of copies, that must stay
        closed.
        """
        self._files = files
        self._config = config
        self._unidentified = {} if unidentified is None else unidentified
        self._chores = chores
        self._topic_config = topic_config
        self._topic_id = topic_id
        self._jitter = jitter
        self._loading = loading
        self._now_ms = now_ms
        self._default_config = TopicConfig.from_overrides(config, {})

    async def load(self, directory: LogDirectory, current: Logs, future: Logs) -> None:
        """Open the logs of a directory; awaits only `recover_many` and `rest`. Raises
        LogDirFailure, DirectoryRefused.
        """
        directory.take_clean_shutdown()
        names = self._names(directory)
        entries = self._parsed(names, directory)
        entries = [entry for entry in entries if not self._is_unsynced_copy(directory, *entry)]
        if any(parsed.kind in (DELETE, STRAY) for _, parsed in entries):
            # The process may have ended before these names were synced. From now on another log
            # takes the place of each, perhaps in another directory.
            directory.sync()
        # A copy whose log is already gone, because of a crash during the swap, becomes the log.
        present = {str(e.topic_partition) for _, e in entries if e.kind in ("", FUTURE)}
        directory.checkpoints.read(present)
        found = [entry for entry in entries if self._is_log(directory, *entry)]
        if found and not directory.was_clean:
            _log.info(
                "Recovering %d logs from %s since no clean shutdown file was found",
                len(found),
                directory.path,
            )
        recovered: Mapping[str, int] = {}
        if not directory.was_clean:
            recovered = await self._recover_heavy(directory, found)
        for number, (name, parsed) in enumerate(found):
            logs = future if parsed.kind == FUTURE else current
            self._open(directory, name, parsed.topic_partition, logs, recovered)
            if not directory.was_clean:
                _log.info("Recovered %s (%d/%d)", name, number + 1, len(found))
            await self._rest()
        _log.info("Loaded %d logs from %s", len(found), directory.path)

    async def _rest(self) -> None:
        resting = None if self._loading is None else self._loading.rest()
        if resting is not None:
            await resting

    def _names(self, directory: LogDirectory) -> list[str]:
        """Return the names of its subdirectories, in order."""
        try:
            names = sorted(self._files.listdir(directory.path))
            return [name for name in names if self._files.is_dir(f"{directory.path}/{name}")]
        except OSError as error:
            raise LogDirFailure(directory.path, "listing", error) from error

    def _parsed(
        self, names: Iterable[str], directory: LogDirectory
    ) -> list[tuple[str, DirectoryName]]:
        found = []
        for name in names:
            parsed = parse_directory_name(name)
            if parsed is not None:
                found.append((name, parsed))
            else:
                _log.warning(
                    "Ignoring %s/%s: its name is not of the form topic-partition",
                    directory.path,
                    name,
                )
        return found

    def _is_unsynced_copy(self, directory: LogDirectory, name: str, parsed: DirectoryName) -> bool:
        """Return whether it is a copy whose topic is not known, which is deleted; the checkpoints'
        entries of its partition are those of another log.
        """
        if parsed.kind != FUTURE:
            return False
        path = f"{directory.path}/{name}"
        try:
            if self._read_topic_id(path) is not None:
                return False
        except OSError as error:
            raise LogDirFailure(directory.path, f"loading {name}", error) from error
        _log.warning("%s is an unsynced copy: it is deleted", path)
        self._delete_later(path)
        return True

    def _is_log(self, directory: LogDirectory, name: str, parsed: DirectoryName) -> bool:
        """Return whether it is a log to be opened; interrupted deletions are resumed."""
        path = f"{directory.path}/{name}"
        if parsed.kind == DELETE:
            self._delete_later(path)
            return False
        if parsed.kind == STRAY:
            _log.warning("Found stray log %s", path)
            return False
        return parsed.topic_partition.topic != METADATA_TOPIC

    def _delete_later(self, path: str) -> None:
        delay_ms = self._config.log_segment_delete_delay_ms
        self._chores.delete_later([path], delay_ms, is_directory=True)

    def _config_of(self, topic: str) -> TopicConfig:
        return self._default_config if self._topic_config is None else self._topic_config(topic)

    def _is_contiguous(
        self, directory: LogDirectory, topic_partition: TopicPartition, config: TopicConfig
    ) -> bool:
        """Return whether gaps are reported as losses: not if compaction may have left them, or if
        the topics' configurations are not known.
        """
        return (
            self._topic_config is not None
            and not config.compact
            and directory.was_never_cleaned(topic_partition)
        )

    def _open(
        self,
        directory: LogDirectory,
        name: str,
        topic_partition: TopicPartition,
        logs: Logs,
        recovered: Mapping[str, int],
    ) -> None:
        path = f"{directory.path}/{name}"
        config = self._config_of(topic_partition.topic)
        recovery_point = _recovery_point(directory, name, topic_partition)
        try:
            topic_id = self._read_topic_id(path)
            if topic_id is None:
                self._leave_out(directory, path, topic_partition, recovery_point)
                return
            if self._is_of_another_topic(topic_partition.topic, topic_id):
                self._set_aside(directory, path, topic_partition, "belongs to a deleted topic")
                return
            other = logs.get(topic_partition)
            if other is not None:
                if self._topic_id is not None and other.topic_id != topic_id:
                    self._set_aside(directory, path, topic_partition, "belongs to a deleted topic")
                    return
                raise DirectoryRefused(
                    f"Duplicate log directories for {topic_partition} are found in both {path} and "
                    f"{other.directory}: delete the one that failed recently."
                )
            open_it = partial(
                open_log,
                self._files,
                path,
                topic_partition,
                config,
                is_contiguous=self._is_contiguous(directory, topic_partition, config),
                now_ms=self._now_ms,
                log_start_offset=directory.log_start_offsets.get(topic_partition, 0),
                topic_id=topic_id,
                chores=self._chores,
                jitter=self._jitter,
                producer_id_expiration_ms=self._config.producer_id_expiration_ms,
            )
            if path in recovered:
                log = open_it(is_clean=True, recovery_point=recovered[path])
                log.local.unsynced_from = recovery_point
            else:
                log = open_it(is_clean=directory.was_clean, recovery_point=recovery_point)
            if directory.was_clean and self._was_not_closed(directory, log):
                log.release()
                log = open_it(is_clean=False, recovery_point=recovery_point)
            logs[topic_partition] = log
        except OffsetsOutOfPlace as fault:
            _log.error(
                "%s; nothing was changed, and the partition is offline: truncate the file there or "
                "move %s away, then restart the node",
                fault,
                path,
            )
            self._leave_closed(directory, path, topic_partition)
        except OSError as error:
            raise LogDirFailure(directory.path, f"loading {name}", error) from error

    def _leave_out(
        self,
        directory: LogDirectory,
        path: str,
        topic_partition: TopicPartition,
        recovery_point: int,
    ) -> None:
        """Take care of a log whose topic is not known, without opening it: leave it where it is if
        it is damaged, else set it aside.
        """
        if self._is_worth_keeping(path, directory, recovery_point):
            self._leave_closed(directory, path, topic_partition)
        else:
            self._set_aside(directory, path, topic_partition, "does not tell its topic")

    def _leave_closed(
        self, directory: LogDirectory, path: str, topic_partition: TopicPartition
    ) -> None:
        """Leave a log closed, with its files and its checkpoint entries; unless it is a copy, the
        partition is offline.
        """
        if path == f"{directory.path}/{topic_partition}":  # not a copy of it
            self._unidentified[topic_partition] = path
        directory.checkpoints.keep(topic_partition)

    def _was_not_closed(self, directory: LogDirectory, log: PartitionLog) -> bool:
        """Return whether the log does not end where it was flushed to, although the shutdown was
        clean: then it was not open, it was copied from elsewhere, or it may have a hole (holes.py).
        False if there is no recovery point.
        """
        flushed = directory.recovery_points.get(log.topic_partition)
        return flushed is not None and log.log_end_offset != flushed

    def _is_of_another_topic(self, topic: str, topic_id: bytes) -> bool:
        """Return whether the topic of this name is known to have another id."""
        known = None if self._topic_id is None else self._topic_id(topic)
        return known is not None and topic_id != known

    def _set_aside(
        self, directory: LogDirectory, path: str, topic_partition: TopicPartition, reason: str
    ) -> None:
        """Set a log aside as stray; durably, because a log of its name may be created elsewhere."""
        aside = aside_name(topic_partition, self._files.unique_id(), STRAY)
        self._files.rename(path, f"{directory.path}/{aside}")
        directory.sync()
        if not self._files.is_dir(f"{directory.path}/{topic_partition}"):  # else they are its own
            directory.checkpoints.forget(topic_partition)
        _log.warning("%s %s and was moved to %s", path, reason, aside)

    def _read_topic_id(self, path: str) -> bytes | None:
        """Return the topic id; None if the file is missing or invalid."""
        name = f"{path}/{PARTITION_METADATA}"
        try:
            return PartitionMetadata.from_bytes(self._files.read_file(name), name).topic_id
        except FileNotFoundError:
            _log.error("%s is missing", name)
            return None
        except CorruptCheckpoint as fault:
            _log.error("%s", fault)
            return None

    def _is_worth_keeping(self, path: str, directory: LogDirectory, recovery_point: int) -> bool:
        """Return whether a log without a topic id is damaged rather than stray.

        The id is synced with the first records, so a crash can lose it only together with them.
        """
        if not directory.was_clean and recovery_point == 0:
            return False
        sizes = self._files.list_sizes(path)
        if not any(size for name, size in sizes.items() if name.endswith(LOG_SUFFIX)):
            return False
        _log.error(
            "%s holds records, but its %s does not identify the topic: the partition is "
            "offline until that file "
            "is repaired, or the directory is moved away, and the node is restarted",
            path,
            PARTITION_METADATA,
        )
        return True

    async def _recover_heavy(
        self, directory: LogDirectory, found: Sequence[tuple[str, DirectoryName]]
    ) -> Mapping[str, int]:
        """Recover logs with much unflushed data, if there are two or more, in worker processes;
        return the log end offsets of those that were recovered, by directory.
        """
        if self._loading is None:
            return {}
        tasks = []
        for name, parsed in found:
            await self._rest()
            path = f"{directory.path}/{name}"
            recovery_point = _recovery_point(directory, name, parsed.topic_partition)
            try:
                size = unflushed_bytes(self._files, path, recovery_point)
            except OSError as error:
                raise LogDirFailure(directory.path, f"listing {name}", error) from error
            if size >= HEAVY_LOG_BYTES:
                config = self._config_of(parsed.topic_partition.topic)
                task = RecoveryTask(
                    path,
                    *parsed.topic_partition,
                    recovery_point,
                    directory.log_start_offsets.get(parsed.topic_partition, 0),
                    self._is_contiguous(directory, parsed.topic_partition, config),
                    self._now_ms,
                    config.segment_bytes,
                    config.segment_index_bytes,
                    config.index_interval_bytes,
                    self._config.producer_id_expiration_ms,
                    size,
                )
                tasks.append(task)
        if len(tasks) < 2:
            return {}
        return await self._loading.recover_many(
            tasks, self._config.num_recovery_threads_per_data_dir
        )


def _recovery_point(directory: LogDirectory, name: str, topic_partition: TopicPartition) -> int:
    """Return the recovery point of a log, 0 if unknown; 0 for a copy, because an entry is that of
    another log of the partition.
    """
    if name != str(topic_partition):
        return 0
    return directory.recovery_points.get(topic_partition, 0)


def loading_in(environment: Environment) -> Loading:
    """Return what a node provides: worker processes, and an event loop with other work."""
    return Loading(recover_in_workers(environment), rest_in_turns(environment))


def recover_in_workers(environment: Environment) -> RecoverMany:
    """Return a function that recovers logs in worker processes; it imports the driver, which is
    needed only after a crash with much unflushed data.
    """

    async def recover(tasks: Sequence[RecoveryTask], workers: int) -> Mapping[str, int]:
        from pykbroker.log.recovery.recovery_driver import recover_many

        return await recover_many(environment, tasks, workers)

    return recover


def rest_in_turns(environment: Environment) -> Callable[[], Deferred | None]:
    """Return a function that, when SLICE_NS have passed since the event loop had a turn, returns a
    Deferred of its next turn, else None.
    """
    monotonic_ns = environment.clock.monotonic_ns
    slice_end_ns = monotonic_ns() + SLICE_NS

    def rest() -> Deferred | None:
        nonlocal slice_end_ns
        now_ns = monotonic_ns()
        if now_ns < slice_end_ns:
            return None
        slice_end_ns = now_ns + SLICE_NS
        return environment.scheduler.sleep(0)

    return rest
