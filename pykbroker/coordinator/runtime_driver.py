"""The runtime of every coordinator: it runs one machine per partition of an internal topic.

    write:  decide -> append (offsets known at once) -> replay -> park the reply -> committed
    read:   query -> park the reply behind uncommitted records -> reply
    timer:  like a write, without a caller
    marker: append the end of a transaction -> replay it -> committed
    long:   an operation in a job may breathe; see `long_turns_driver.py`

The machine is never ahead of its log: records are queued on the log before they are replayed, and
clients see nothing of them before they are committed. If the queued bytes do not reach the disk, or
leadership is lost, the machine is discarded and all waiting callers receive an error; the next
leader loads a new one. If the log rejects a batch (too large, too few replicas), none of its
records is replayed (earlier batches of a decision that is not atomic are): the callers receive an
error, the machine undoes its volatile part (`ShardDecision.undo`) and continues. A caller whose
reply is not committed in time is refused with REQUEST_TIMED_OUT; its records stay.

State: a `HostedShard` per partition this node leads; all their timers.
Source: Kafka's `CoordinatorRuntime.java`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pykbroker.coordinator.batches import decision_batch, marker_batch
from pykbroker.coordinator.coordinator_log import CoordinatorLog
from pykbroker.coordinator.decisions import ShardDecision
from pykbroker.coordinator.hosted_shard import HostedShard, HostState, Shard, Waiting
from pykbroker.coordinator.loading_driver import LoadingDriver
from pykbroker.coordinator.long_turns_driver import LOADED, LongTurns, ThrownAway, check
from pykbroker.coordinator.record_codecs import RecordCodec
from pykbroker.coordinator.timer_driver import TimerDriver
from pykbroker.decision import CancelTimer, CoordinatorRecord, StartTimer
from pykbroker.deferred import Deferred
from pykbroker.environment.clock import Clock
from pykbroker.environment.scheduler import Scheduler
from pykbroker.environment.slices import InOneGo, Slices, paced_if
from pykbroker.errors import ErrorCode
from pykbroker.protocol.primitives import EncodeError
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.protocol.messages.write_txn_markers_request import WritableTxnMarker

SPLIT_RECORDS = 500  # a decision that need not be atomic is written in batches of this size

Operation = Callable[..., ShardDecision]
TimerItem = tuple[HostedShard, Hashable]
RequestT = TypeVar("RequestT")
ContextT = TypeVar("ContextT")
ReplyT = TypeVar("ReplyT")

_COMMIT_TIMEOUT = ("commit timeout",)
_log = logging.getLogger("pykbroker.coordinator")


class CoordinatorRuntime:
    """Runs the machines of one coordinator topic on this node."""

    def __init__(
        self,
        *,
        log: CoordinatorLog,
        codec: RecordCodec,
        make_shard: Callable[[], Shard],
        scheduler: Scheduler,
        clock: Clock,
        commit_timeout_ms: int,
        load_chunk_bytes: int,
        compression_codec: int = 0,
        on_loaded: Callable[[int], None] | None = None,
        slices: Slices | None = None,
        long_timers: Collection[Hashable] = (),
    ) -> None:
        """on_loaded(partition): called when a machine has replayed its log, not for an empty one.
        long_timers: the keys of timers whose steps may breathe (LOADED: the first step of a loaded
        machine); slices: where they run.
        """
        self._log = log
        self._codec = codec
        self._make_shard = make_shard
        self._now_ms = clock.now_ms
        self._long_timers = long_timers
        self._commit_timeout_ms = commit_timeout_ms
        self._compression_codec = compression_codec
        self._on_loaded = on_loaded
        self._hosted: dict[int, HostedShard] = {}
        slices = slices or InOneGo()
        self._turns = LongTurns(slices, scheduler, clock, log.wake)
        self._loading = LoadingDriver(
            log=log,
            codec=codec,
            make_shard=make_shard,
            scheduler=scheduler,
            clock=clock,
            chunk_bytes=load_chunk_bytes,
            is_hosted=lambda hosted: self._hosted.get(hosted.partition) is hosted,
            on_loaded=self._loaded,
        )
        self._timers: TimerDriver[TimerItem] = TimerDriver(
            scheduler, clock.now_ms, self._timers_due
        )
        self._last_caller = 0

    # ---- leadership

    def on_elected(self, partition: int, leader_epoch: int) -> None:
        """Load a partition that this node leads in `leader_epoch`. An empty one is active
        immediately, and its machine is created with the first request.

        If this node also led it in the epoch before, the machine is up to date with its log and is
        kept.
        """
        hosted = self._hosted.get(partition)
        if hosted is not None:
            if hosted.state is not HostState.FAILED and leader_epoch <= hosted.leader_epoch + 1:
                hosted.leader_epoch = max(hosted.leader_epoch, leader_epoch)
                return
            self.on_resigned(partition)
        hosted = self._hosted[partition] = HostedShard(partition, leader_epoch)
        self._log.watch(partition, self)
        self._loading.start(hosted)

    def on_resigned(self, partition: int) -> None:
        """Discard the machine of a partition that this node no longer leads."""
        hosted = self._hosted.pop(partition, None)
        if hosted is None:
            return
        self._log.unwatch(partition, self)
        self._throw_away(hosted, ErrorCode.NOT_COORDINATOR)

    def stop(self) -> None:
        """Stop: all waiting callers receive an error, and no timer fires any more."""
        for partition in list(self._hosted):
            self.on_resigned(partition)
        self._timers.stop()

    def on_high_watermark(self, topic_partition: TopicPartition, high_watermark: int) -> None:
        """Release the replies that `high_watermark` commits."""
        hosted = self._hosted.get(topic_partition.partition)
        if hosted is None or high_watermark <= hosted.committed:
            return
        hosted.committed = high_watermark
        parked = hosted.parked
        while (done := parked.release_next(high_watermark)) is not None:
            waiting, reply = done
            waiting.deferred.resolve(reply)

    def on_failed(self, topic_partition: TopicPartition, code: int) -> None:
        """Discard the machine: replayed records may be lost, because this node does not host the
        partition any more or its log directory failed. (The reload then fails, too.)
        """
        hosted = self._hosted.get(topic_partition.partition)
        if hosted is not None:
            self._restart(hosted)

    def led(self, partition: int) -> tuple[int, Any] | None:
        """The epoch in which this node leads it, and its machine to read (None if none is made
        yet); None if it is not led, is loading, or has failed.
        """
        hosted = self._hosted.get(partition)
        return (hosted.leader_epoch, hosted.shard) if hosted and hosted.is_ready else None

    def active_partitions(self) -> list[int]:
        """The partitions whose machines are loaded."""
        hosted = self._hosted.values()
        return [at.partition for at in hosted if at.is_ready and at.shard is not None]

    # ---- requests

    def write(
        self,
        partition: int,
        operation: Operation,
        request: RequestT,
        context: ContextT,
        refuse: Callable[[RequestT, ContextT, int], ReplyT],
    ) -> ReplyT | Deferred:
        """Run `operation(shard, request, context, caller, now_ms)`; return the reply or a Deferred.

        `refuse(request, context, code)` builds the reply if this node cannot decide or write.
        """
        hosted = self._hosted.get(partition)
        if hosted is None or hosted.state is not HostState.ACTIVE:
            again = partial(self.write, partition, operation, request, context, refuse)
            return self._not_now(hosted, again, partial(refuse, request, context))
        shard = hosted.shard
        if shard is None:
            shard = self._start_shard(hosted)
        now_ms = self._now_ms()
        self._last_caller += 1
        caller = self._last_caller
        self._turns.begin(hosted)
        try:
            decision = operation(shard, request, context, caller, now_ms)
            reply: ReplyT | None = decision.reply
            check(hosted, shard)
            if (
                reply is not None
                and not decision.records
                and not decision.replies
                and hosted.next_offset <= hosted.committed
            ):
                if decision.timers:
                    self._set_timers(hosted, decision.timers)
                return reply
            waiting = Waiting(Deferred(), request, context, refuse)
            if reply is None:
                hosted.waiting[caller] = waiting
            self._carry_out(hosted, decision, now_ms, waiting)
        except ThrownAway:
            return refuse(request, context, int(ErrorCode.NOT_COORDINATOR))
        except Exception:
            self._restart(hosted)  # a bug: the machine cannot be trusted
            raise
        finally:
            self._turns.end(hosted, shard)
        deferred = waiting.deferred
        return deferred.value if deferred.done else deferred

    def end_transaction(self, partition: int, marker: WritableTxnMarker) -> int | Deferred:
        """Write the marker that ends a producer's transaction, and replay it.

        Returns 0 once it is committed, or an error code, now or as a Deferred.
        """
        hosted = self._hosted.get(partition)
        if hosted is None or hosted.state is not HostState.ACTIVE:
            again = partial(self.end_transaction, partition, marker)
            return self._not_now(hosted, again, lambda code: code)
        if hosted.shard is None:
            self._start_shard(hosted)
        now_ms = self._now_ms()
        appended = self._log.append(
            partition,
            marker_batch(marker, now_ms),
            hosted.leader_epoch,
            now_ms,
            transaction_version=marker.transaction_version,
        )
        if appended.error:
            return int(appended.error)
        hosted.next_offset = appended.next_offset
        try:
            hosted.shard.replay_end_of_transaction(marker.producer_id, marker.transaction_result)
        except Exception:
            self._restart(hosted)
            raise
        waiting = Waiting(Deferred(), marker, None, lambda *refused: refused[2])
        self._release(hosted, waiting, 0, now_ms)
        return waiting.deferred

    def read(
        self,
        partition: int,
        question: Callable[..., ReplyT],
        request: RequestT,
        context: ContextT,
        refuse: Callable[[RequestT, ContextT, int], ReplyT],
    ) -> ReplyT | Deferred:
        """Run the query `question(shard, request, context)`; return the reply or a Deferred."""
        hosted = self._hosted.get(partition)
        if hosted is None or hosted.state is not HostState.ACTIVE:
            again = partial(self.read, partition, question, request, context, refuse)
            return self._not_now(hosted, again, partial(refuse, request, context))
        shard = hosted.shard
        if shard is None:
            shard = self._start_shard(hosted)
        self._turns.begin(hosted)
        try:
            reply = question(shard, request, context)
        finally:
            self._turns.end(hosted, shard)
        if hosted.shard is not shard:
            return refuse(request, context, int(ErrorCode.NOT_COORDINATOR))
        if hosted.next_offset <= hosted.committed:
            return reply
        waiting = Waiting(Deferred(), request, context, refuse)
        self._release(hosted, waiting, reply, self._now_ms())
        return waiting.deferred

    def read_all(
        self,
        question: Callable[..., ReplyT],
        request: RequestT,
        context: ContextT,
        refuse: Callable[[RequestT, ContextT, int], ReplyT],
    ) -> list[ReplyT | Deferred]:
        """Query every machine of this node; for one that is still loading `refuse` answers."""
        return [
            self.read(hosted.partition, question, request, context, refuse)
            for hosted in list(self._hosted.values())
            if hosted.shard is not None or hosted.state is HostState.LOADING
        ]

    def machines(self) -> list[Any]:
        """Return the loaded machines, for reading only."""
        hosted = self._hosted.values()
        return [at.shard for at in hosted if at.is_ready and at.shard is not None]

    def write_all(self, operation: Operation, request: Any) -> None:
        """Run an operation without a caller on every machine, in slices, once it is loaded and
        free.
        """

        def run(hosted: HostedShard) -> None:
            if hosted.shard is not None:
                self._run(hosted, operation, hosted.shard, request, None, 0, self._now_ms())

        for hosted in list(self._hosted.values()):
            if hosted.shard is not None or hosted.state is HostState.LOADING:
                self._turns.in_slices(operation.__name__, hosted, partial(run, hosted))

    def _not_now(
        self,
        hosted: HostedShard | None,
        again: Callable[[], ReplyT | Deferred],
        refuse: Callable[[int], ReplyT],
    ) -> ReplyT | Deferred:
        """The error of a machine that cannot be used, or a Deferred if it is only busy."""
        if hosted is None or hosted.state is HostState.FAILED:
            return refuse(int(ErrorCode.NOT_COORDINATOR))
        if hosted.state is HostState.LOADING:
            return refuse(int(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
        return self._turns.wait(hosted, again, refuse)

    # ---- decisions

    def _run(self, hosted: HostedShard, decide: Operation, *arguments: Any) -> None:
        """Run a step without a caller. A bug discards that machine, not the node."""
        shard = hosted.shard
        self._turns.begin(hosted)
        try:
            decision = decide(*arguments)
            check(hosted, shard)
            self._carry_out(hosted, decision, self._now_ms(), None)
        except ThrownAway:
            return
        except Exception:
            _log.exception(
                "a coordinator's step failed: partition %d is reloaded", hosted.partition
            )
            self._restart(hosted)
        finally:
            self._turns.end(hosted, shard)

    def _carry_out(
        self, hosted: HostedShard, decision: ShardDecision, now_ms: int, own: Waiting | None
    ) -> None:
        """Write, replay, set timers, release replies. `own`: the caller of `decision.reply`."""
        code = self._append(hosted, decision, now_ms) if decision.records else 0
        if decision.timers:
            self._set_timers(hosted, decision.timers)
        answered = []
        for caller, reply in decision.replies:
            waiting = hosted.waiting.pop(caller, None)  # type: ignore[call-overload]
            if waiting is not None:
                answered.append((waiting, reply))
        if own is not None and decision.reply is not None:
            answered.append((own, decision.reply))
        for waiting, reply in answered:
            if code:
                waiting.fail(code)
            else:
                self._release(hosted, waiting, reply, now_ms)
        if code:
            _log.warning(
                "partition %d: the log rejected %d records: %s",
                hosted.partition,
                len(decision.records),
                ErrorCode(code).name,
            )
            if decision.undo is not None:
                self._carry_out(hosted, decision.undo(code, now_ms), now_ms, None)

    def _append(self, hosted: HostedShard, decision: ShardDecision, now_ms: int) -> int:
        """Queue and replay the records; return 0, or the error of the first rejected batch."""
        records = decision.records
        if decision.atomic or len(records) <= SPLIT_RECORDS:
            return self._append_batch(hosted, decision, records, now_ms)
        breathe = self._turns.breath(hosted)
        for first in paced_if(range(0, len(records), SPLIT_RECORDS), breathe):
            some = records[first : first + SPLIT_RECORDS]
            code = self._append_batch(hosted, decision, some, now_ms)
            if code:
                return code
        return 0

    def _append_batch(
        self,
        hosted: HostedShard,
        decision: ShardDecision,
        records: list[CoordinatorRecord],
        now_ms: int,
    ) -> int:
        breathe = self._turns.breath(hosted)
        codec = self._compression_codec
        try:
            batch = decision_batch(self._codec, decision, records, now_ms, codec, breathe)
        except EncodeError as fault:
            # A client's text can become too long when invalid UTF-8 in it is replaced.
            _log.warning("partition %d: a record cannot be written: %s", hosted.partition, fault)
            return int(ErrorCode.UNKNOWN_SERVER_ERROR)
        appended = self._log.append(
            hosted.partition, batch, hosted.leader_epoch, now_ms, decision.guard
        )
        if appended.error:
            return int(appended.error)
        offset = appended.base_offset
        replay = hosted.shard.replay
        try:
            for record in paced_if(records, breathe):
                replay(record, offset, decision.producer_id)
                offset += 1
        except ThrownAway:
            raise
        except BaseException:
            self._restart(hosted)  # in the middle of an operation: the machine cannot be trusted
            raise
        hosted.next_offset = appended.next_offset
        return 0

    def _release(self, hosted: HostedShard, waiting: Waiting, reply: Any, now_ms: int) -> None:
        if hosted.next_offset <= hosted.committed:
            waiting.deferred.resolve(reply)
            return
        deadline = now_ms + self._commit_timeout_ms
        hosted.parked.park(hosted.next_offset, (waiting, reply), deadline)
        if hosted.commit_timer is None:
            hosted.commit_timer = self._timers.add(deadline, (hosted, _COMMIT_TIMEOUT))

    def _expire_parked(self, hosted: HostedShard, now_ms: int) -> None:
        """Answer callers after the commit time-out; their records stay in the log.

        Nearly all replies are released at once, which leaves the timer running: often none is late.
        """
        hosted.commit_timer = None
        while (late := hosted.parked.expire_next(now_ms)) is not None:
            late[0].fail(ErrorCode.REQUEST_TIMED_OUT)
        deadline_ms = hosted.parked.next_deadline_ms
        if deadline_ms is not None:
            hosted.commit_timer = self._timers.add(deadline_ms, (hosted, _COMMIT_TIMEOUT))

    # ---- loading

    def _loaded(self, hosted: HostedShard) -> None:
        step = partial(self._run, hosted, hosted.shard.loaded, self._now_ms())
        self._turns.first(hosted, step, self._on_loaded, is_long=LOADED in self._long_timers)

    def _start_shard(self, hosted: HostedShard) -> Any:
        hosted.shard = self._make_shard()
        now_ms = self._now_ms()
        self._run(hosted, hosted.shard.loaded, now_ms)
        return hosted.shard

    def _restart(self, hosted: HostedShard) -> None:
        self._throw_away(hosted, ErrorCode.NOT_COORDINATOR)
        self._loading.start(hosted)

    def _throw_away(self, hosted: HostedShard, code: ErrorCode) -> None:
        hosted.state = HostState.FAILED
        for waiting in hosted.clear():
            waiting.fail(code)
        hosted.refuse_later(code)

    # ---- timers

    def _set_timers(self, hosted: HostedShard, timers: Sequence[StartTimer | CancelTimer]) -> None:
        running = hosted.timers
        many = len(timers) > SPLIT_RECORDS
        for timer in paced_if(timers, self._turns.breath(hosted) if many else None):
            task = running.pop(timer.key, None)
            if task is not None:
                task.cancel()
            if isinstance(timer, StartTimer):
                item = (hosted, timer.key)
                running[timer.key] = self._timers.add(timer.deadline_ms, item)

    def _timers_due(self, due: list[TimerItem], now_ms: int) -> None:
        for hosted, key in due:
            if key is _COMMIT_TIMEOUT:
                self._expire_parked(hosted, now_ms)
                continue
            fire = partial(self._fire, hosted, key)
            if key in self._long_timers:
                self._turns.in_slices(str(key), hosted, fire)
            else:
                self._turns.when_free(hosted, fire)
        self._log.wake()

    def _fire(self, hosted: HostedShard, key: Hashable) -> None:
        task = hosted.timers.get(key)
        if task is None or task.pending:
            return  # cancelled or restarted in the meantime
        del hosted.timers[key]
        if hosted.shard is not None:
            self._run(hosted, hosted.shard.timer_expired, key, self._now_ms())
