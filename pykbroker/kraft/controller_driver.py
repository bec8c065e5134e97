"""Runs the controller on this node: decide, replay, append, park the reply until it is committed.

State: the controller machine while it is active, None otherwise; the waiting replies, by the offset
they need.
In:    `submit(message, version)`; commits and leader changes of the quorum; timers.
Out:   a Deferred per submit, resolved with the decision's reply or with a KafkaError; a bug's
       exception is raised, or resolves it if the decision was made in slices; `on_fatal`.
Invariants: a reply is released only when everything that it reports is committed and published.
       When leadership is lost, every waiting reply becomes NOT_CONTROLLER and the machine is
       discarded with the records that it replayed before they were committed; the next term begins
       with a new machine on the committed image (images share their parts; the index of very many
       partitions is built in slices, and until then this node is not the active controller).
       A decision may breathe (`environment/slices.py`), and requests that arrive meanwhile
       are decided after it. Very many records are appended in pieces, unless they are atomic.
A decision without records waits for the replies that wait already: its answer may depend on them.
Source: Kafka's `QuorumController.java`, `DeferredEventQueue.java`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.deferred import Deferred
from pykbroker.environment.scheduler import Scheduler, Timer
from pykbroker.environment.slices import Slices
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.controller import Controller
from pykbroker.kraft.controller.requests import decide, takes_long
from pykbroker.kraft.metadata_log import LogBatch
from pykbroker.kraft.raft.raft_driver import RaftDriver
from pykbroker.offset_queue import OffsetQueue
from pykbroker.protocol.primitives import Message

Decide = Callable[[Controller, int], Decision[MetadataRecord]]

PIECE_RECORDS: Final = 500
"""The records that are appended and replayed between two breaths."""

_log = logging.getLogger(__name__)


class ControllerDriver:
    """Runs the controller machine while this node leads the quorum."""

    def __init__(
        self,
        *,
        make_controller: Callable[[int, int], Controller],
        takes_long: Callable[[], bool],
        scheduler: Scheduler,
        now_ms: Callable[[], int],
        bootstrap: Sequence[MetadataRecord],
        idle_interval_ms: int,
        fence_interval_ms: int,
        balance_interval_ms: int,
        unclean_interval_ms: int,
        on_fatal: Callable[[BaseException], None],
        slices: Slices,
    ) -> None:
        """`make_controller(next_offset, kraft_version)` returns a machine on the committed image.
        It may breathe where it `takes_long`.

        The intervals `idle` and `balance` may be 0, which means never.
        """
        self.controller: Controller | None = None
        self._make_controller = make_controller
        self._takes_long = takes_long
        self._led_epoch: int | None = None
        self._scheduler = scheduler
        self._now_ms = now_ms
        self._bootstrap = bootstrap
        self._idle_interval_ms = idle_interval_ms
        self._fence_interval_ms = fence_interval_ms
        self._balance_interval_ms = balance_interval_ms
        self._unclean_interval_ms = unclean_interval_ms
        self._on_fatal = on_fatal
        self._slices = slices
        self._raft: RaftDriver | None = None
        self._committed_offset = -1
        self._waiting: OffsetQueue[tuple[Deferred, Any]] = OffsetQueue()
        self._appended_since_tick = False
        self._timers: dict[str, Timer] = {}
        self._is_deciding = False
        self._undecided: deque[tuple[Decide, Deferred]] = deque()

    def attach(self, raft: RaftDriver) -> None:
        """Set the log to append to, because the two drivers need each other."""
        self._raft = raft

    @property
    def is_active(self) -> bool:
        """Whether this node's controller is active."""
        return self.controller is not None

    def submit(self, message: Message, version: int) -> Deferred:
        """Let the controller decide a request, in slices if it `takes_long`; the Deferred is
        resolved with the response message once it is committed, or with a KafkaError.
        """

        def decided(controller: Controller, now_ms: int) -> Decision[MetadataRecord]:
            return decide(controller, message, version, now_ms)

        controller = self.controller
        if controller is None or not takes_long(controller, message):
            return self.run(decided)
        deferred = Deferred()

        def ended(outcome: Any) -> None:
            if isinstance(outcome, Exception):
                deferred.resolve(outcome)

        job = self._slices.run(
            type(message).__name__, lambda: self.run(decided).on_resolved(deferred.resolve)
        )
        job.on_resolved(ended)
        return deferred

    def run(self, decide: Decide) -> Deferred:
        """Let the controller decide; the Deferred is resolved with the reply once it is committed,
        or with a KafkaError.
        """
        deferred = Deferred()
        if self._is_deciding or self._undecided:
            self._undecided.append((decide, deferred))
        else:
            self._alone(partial(self._decide, decide, deferred))
        return deferred

    def _alone(self, change: Callable[[], None]) -> None:
        """Change the machine, perhaps with breaths; requests that arrive meanwhile wait."""
        self._is_deciding = True
        try:
            change()
        except Exception:
            raise
        except BaseException:  # the node stops: its slices ended in the middle of the change
            self.deactivate()
            while self._undecided:
                self._undecided.popleft()[1].resolve(KafkaError(ErrorCode.NOT_CONTROLLER))
            raise
        finally:
            self._is_deciding = False
            if self._undecided:
                self._slices.run("decisions that waited", self._decide_next)

    def _decide_next(self) -> None:
        """Decide a request that arrived while another decision breathed; this one may, too."""
        if not self._undecided or self._is_deciding:
            return
        decide, deferred = self._undecided.popleft()
        try:
            self._alone(partial(self._decide, decide, deferred))
        except Exception as bug:
            if deferred.done:
                raise
            deferred.resolve(bug)

    def _decide(self, decide: Decide, deferred: Deferred) -> None:
        controller = self.controller
        if controller is None:
            deferred.resolve(KafkaError(ErrorCode.NOT_CONTROLLER))
            return
        try:
            decision = decide(controller, self._now_ms())
        except KafkaError as refusal:
            self._park(self._last_offset(), deferred, refusal)
            return
        if self.controller is not controller:  # leadership was lost while the decision breathed
            deferred.resolve(KafkaError(ErrorCode.NOT_CONTROLLER))
            return
        if not decision.records:
            self._park(self._last_offset(), deferred, decision.reply)
            return
        try:
            self._append(controller, decision, deferred)
        except KafkaError as refusal:
            if not deferred.done:
                deferred.resolve(refusal)

    def _last_offset(self) -> int:
        """Return the offset that the latest waiting reply needs, before which this answer must not
        be released; -1 if none waits.
        """
        last_offset = self._waiting.last_offset
        return -1 if last_offset is None else last_offset

    def _park(self, offset: int, deferred: Deferred, reply: Any) -> None:
        if offset <= self._committed_offset:
            deferred.resolve(reply)
        else:
            self._waiting.park(offset, (deferred, reply))

    def _append(
        self,
        controller: Controller,
        decision: Decision[MetadataRecord],
        deferred: Deferred | None,
    ) -> None:
        """Append records, in pieces unless they are atomic; the reply waits for the last."""
        records = decision.records
        size = len(records) if decision.atomic else PIECE_RECORDS
        for at in range(0, len(records), size):
            if at > 0:
                self._slices.breathe()
                if self.controller is not controller:
                    raise KafkaError(ErrorCode.NOT_CONTROLLER)
            piece = Decision(
                records=records[at : at + size], reply=decision.reply, atomic=decision.atomic
            )
            is_last = at + size >= len(records)
            self._append_piece(controller, piece, deferred if is_last else None)

    def _append_piece(
        self,
        controller: Controller,
        decision: Decision[MetadataRecord],
        deferred: Deferred | None,
    ) -> None:
        raft = self._raft
        assert raft is not None
        breathe = self._slices.breathe
        prepared = raft.prepare(decision.records, atomic=decision.atomic, breathe=breathe)
        if self.controller is not controller:  # leadership was lost and regained
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        try:
            # Before the append, which may commit immediately: the image must not lag behind.
            controller.replay(
                decision.records,
                prepared.base_offset,
                raft.raft.epoch,
                self._now_ms(),
                breathe,
                lambda: raft.log.log.next_offset,
            )
        except Exception as bug:
            self.deactivate()
            self._on_fatal(bug)
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR) from bug
        if self.controller is not controller or not raft.raft.is_leader:
            if self.controller is controller:
                self.deactivate()  # it has replayed what is not in the log
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        if deferred is not None:
            last_offset = controller.state.next_offset - 1
            self._waiting.park(last_offset, (deferred, decision.reply))
        self._appended_since_tick = True
        try:
            raft.append(prepared)
        except KafkaError:
            # The disk failed and the node stops: the waiting callers never receive an answer.
            if deferred is not None:
                self._waiting.take_back()
            self.deactivate()
            raise

    # The quorum.

    def on_commit(self, batches: Sequence[LogBatch]) -> None:
        """Release the replies that waited for these committed and published batches."""
        self._committed_offset = batches[-1].last_offset
        while (parked := self._waiting.release_next(self._committed_offset)) is not None:
            deferred, reply = parked
            deferred.resolve(reply)

    def on_leader(self, is_me: bool, epoch: int) -> None:
        """Handle that this node leads (everything before its epoch is
        committed), or no longer does.
        """
        self._led_epoch = epoch if is_me else None
        if is_me and self.controller is None:
            if self._takes_long():
                begun = self._slices.run("beginning of a term", partial(self._activate, epoch))
                begun.on_resolved(self._note_begun)
            else:
                self._activate(epoch)
        elif not is_me and self.controller is not None:
            _log.info("Resigning as the active controller; the epoch is %d", epoch)
            self.deactivate()

    def _activate(self, epoch: int) -> None:
        if self._led_epoch != epoch:
            return  # a part of a batch may have been committed since: no image to begin with
        raft = self._raft
        assert raft is not None
        _log.info("Becoming the active controller in epoch %d", epoch)
        controller = self._make_controller(
            raft.log.log.next_offset, raft.raft.history.kraft_version
        )
        if self._led_epoch != epoch or self.controller is not None:
            return  # leadership was lost meanwhile
        self.controller = controller
        decision = controller.activate(self._bootstrap, self._now_ms())
        if decision.records:
            # Nobody asked for them, but answers wait for their commit as well.
            self._alone(partial(self._append, controller, decision, Deferred()))
        if self._idle_interval_ms > 0:
            self._every("idle", self._idle_interval_ms, self._write_no_op)
        self._every("fence", self._fence_interval_ms, self._fence_stale_brokers)
        if self._balance_interval_ms > 0:
            self._every("balance", self._balance_interval_ms, self._balance_leaders)
        self._every("unclean", self._unclean_interval_ms, self._elect_unclean_leaders)

    def _note_begun(self, outcome: object) -> None:
        if isinstance(outcome, Exception) and not isinstance(outcome, KafkaError):
            self._on_fatal(outcome)

    def deactivate(self) -> None:
        """Stop deciding; waiting callers receive NOT_CONTROLLER."""
        self.controller = None
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        for deferred, _ in self._waiting.clear():
            deferred.resolve(KafkaError(ErrorCode.NOT_CONTROLLER))

    # Time.

    def _every(self, name: str, interval_ms: int, task: Callable[[], None]) -> None:
        def run() -> None:
            self._timers.pop(name, None)
            if self.controller is not None:
                self._every(name, interval_ms, task)
                task()

        self._timers[name] = self._scheduler.call_later(interval_ms, run)

    def _write_no_op(self) -> None:
        """Write a no-op record, which shows followers and brokers that the quorum is alive, unless
        something was appended since the last tick.
        """
        appended, self._appended_since_tick = self._appended_since_tick, False
        if not appended:
            self.run(lambda controller, now_ms: controller.no_op())
            self._appended_since_tick = False

    def _fence_stale_brokers(self) -> None:
        controller = self.controller
        is_due = controller is not None and controller.has_stale_broker(self._now_ms())
        if is_due and not self._is_deciding:
            self._slices.run("fence brokers", self._fence_each).on_resolved(_log_bug)

    def _fence_each(self) -> None:
        """Fence brokers one at a time, so that each decision sees the previous one."""
        for _ in range(len(self.controller.image.brokers) if self.controller else 0):
            found = self.run(lambda controller, now_ms: controller.fence_stale_broker(now_ms))
            if found.done and found.value is False:
                return

    def _balance_leaders(self) -> None:
        self._elect(lambda controller, now_ms: controller.balance_leaders())

    def _elect_unclean_leaders(self) -> None:
        self._elect(lambda controller, now_ms: controller.elect_unclean_leaders())

    def _elect(self, decide: Decide) -> None:
        """Decide in slices; again once a portion is committed, as long as there may be more."""

        def decided(may_be_more: Any) -> None:
            if may_be_more is True:
                self._elect(decide)

        job = self._slices.run("elections", lambda: self.run(decide).on_resolved(decided))
        job.on_resolved(_log_bug)


def _log_bug(outcome: object) -> None:
    if isinstance(outcome, Exception):
        _log.error("A periodic task of the controller failed", exc_info=outcome)
