"""Loads the machines of coordinators from their logs, one after another, in slices.

State: the partitions to load, in order.
In:  `start`; the scheduler's next turn.
Out: `on_loaded(hosted)`: its machine has replayed all records. A partition whose log cannot be read
or replayed is FAILED, and an empty one is active at once, both without a call. A partition that
this node resigns in the meantime is skipped.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from pykbroker.coordinator.coordinator_log import CoordinatorLog
from pykbroker.coordinator.hosted_shard import HostedShard, HostState, Shard
from pykbroker.coordinator.record_codecs import RecordCodec
from pykbroker.coordinator.shard_loader import load
from pykbroker.environment.clock import Clock
from pykbroker.environment.scheduler import Scheduler
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.record import CorruptBatch

SLICE_MS = 5

_log = logging.getLogger("pykbroker.coordinator")


class LoadingDriver:
    """Loads the machines of coordinators. `is_hosted(hosted)`: this node has not resigned it."""

    def __init__(
        self,
        *,
        log: CoordinatorLog,
        codec: RecordCodec,
        make_shard: Callable[[], Shard],
        scheduler: Scheduler,
        clock: Clock,
        chunk_bytes: int,
        is_hosted: Callable[[HostedShard], bool],
        on_loaded: Callable[[HostedShard], None],
    ) -> None:
        self._log = log
        self._codec = codec
        self._make_shard = make_shard
        self._scheduler = scheduler
        self._clock = clock
        self._chunk_bytes = chunk_bytes
        self._is_hosted = is_hosted
        self._on_loaded = on_loaded
        self._queue: deque[HostedShard] = deque()
        self._is_scheduled = False

    def start(self, hosted: HostedShard) -> None:
        """Load a partition. One that is queued already keeps its place (its loader was cleared, so
        it starts again from the beginning of its log). Otherwise an empty one is active at once,
        and one whose log this node does not host has failed.
        """
        hosted.state = HostState.LOADING
        if hosted in self._queue:
            return
        try:
            bounds = self._log.bounds(hosted.partition)
        except KafkaError as error:
            self._failed(hosted, error)
            return
        if bounds.start >= bounds.end:
            hosted.next_offset = hosted.committed = bounds.end
            hosted.state = HostState.ACTIVE
            hosted.later.clear()  # nothing to clean up in an empty machine
            return
        self._queue.append(hosted)
        self._schedule()

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            self._scheduler.call_soon(self._load_slice)

    def _load_slice(self) -> None:
        """Load for a few milliseconds, then give the event loop a turn."""
        self._is_scheduled = False
        deadline_ns = self._clock.monotonic_ns() + SLICE_MS * 1_000_000
        while self._queue:
            hosted = self._queue[0]
            if not self._is_hosted(hosted):
                self._queue.popleft()
                continue
            if hosted.loader is None:
                hosted.shard = self._make_shard()
                hosted.loader = load(
                    self._log, hosted.partition, hosted.shard, self._codec, self._chunk_bytes
                )
            try:
                for must_wait in hosted.loader:
                    if must_wait or self._clock.monotonic_ns() >= deadline_ns:
                        self._schedule()
                        return
            except Exception as error:  # a broken log, or a bug: that partition stops, not the node
                self._queue.popleft()
                self._failed(hosted, error)
                continue
            self._queue.popleft()
            self._loaded(hosted)
        self._log.wake()

    def _loaded(self, hosted: HostedShard) -> None:
        bounds = self._log.bounds(hosted.partition)
        hosted.loader = None
        hosted.next_offset = bounds.end
        hosted.committed = bounds.high_watermark
        hosted.state = HostState.ACTIVE
        self._on_loaded(hosted)

    def _failed(self, hosted: HostedShard, error: Any) -> None:
        partition = f"{self._log.topic}-{hosted.partition}"
        if isinstance(error, KafkaError) and error.code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
            _log.info("%s is not loaded: another broker leads it by now", partition)
        else:
            is_bug = not isinstance(error, (KafkaError, CorruptBatch))
            what = f"{partition} cannot be loaded: {error}"
            _log.error("%s", what, exc_info=error if is_bug else None)
        hosted.clear()
        hosted.state = HostState.FAILED
