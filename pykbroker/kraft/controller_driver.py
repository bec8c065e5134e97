"""Runs the controller on this node: decide, append, replay, park the reply until it is committed.

State: the controller machine; whether it is active; the replies that wait, by the offset they need.
In:    `submit(decide)`; commits and leader changes of the quorum; timers.
Out:   a Deferred per submit, resolved with the decision's reply or with a KafkaError.
Invariants: a reply is given only when everything it tells of is committed and published; when
       leadership is lost every waiting reply becomes NOT_CONTROLLER, and the machine is made anew.
A decision without records waits too for what was decided before it: its answer may tell of that.
Source: Kafka's `QuorumController.java`, `DeferredEventQueue.java`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.controller import Controller
from pykbroker.kraft.metadata_log import LogBatch
from pykbroker.kraft.raft_driver import RaftDriver
from pykbroker.kraft.scheduler_driver import Scheduler, Timer

Decide = Callable[[Controller, int], Decision[MetadataRecord]]

_log = logging.getLogger(__name__)


class ControllerDriver:
    """See the module's text."""

    def __init__(
        self,
        *,
        controller: Controller,
        scheduler: Scheduler,
        now_ms: Callable[[], int],
        bootstrap: Sequence[MetadataRecord],
        idle_interval_ms: int,
        fence_interval_ms: int,
        on_fatal: Callable[[BaseException], None],
    ) -> None:
        self.controller = controller
        self._scheduler = scheduler
        self._now_ms = now_ms
        self._bootstrap = bootstrap
        self._idle_interval_ms = idle_interval_ms
        self._fence_interval_ms = fence_interval_ms
        self._on_fatal = on_fatal
        self._raft: RaftDriver | None = None
        self._active = False
        self._committed_offset = -1
        self._waiting: deque[tuple[int, Deferred, Any]] = deque()
        self._appended_since_tick = False
        self._timers: dict[str, Timer] = {}

    def attach(self, raft: RaftDriver) -> None:
        """The log to append to: the two drivers need each other."""
        self._raft = raft

    @property
    def is_active(self) -> bool:
        """Does this node decide?"""
        return self._active

    def submit(self, decide: Decide) -> Deferred:
        """Have the controller decide; the Deferred gets the reply once it is committed."""
        deferred = Deferred()
        raft = self._raft
        if not self._active or raft is None:
            deferred.resolve(KafkaError(ErrorCode.NOT_CONTROLLER))
            return deferred
        try:
            decision = decide(self.controller, self._now_ms())
        except KafkaError as refusal:
            self._park(self._last_offset(), deferred, refusal)
            return deferred
        if not decision.records:
            self._park(self._last_offset(), deferred, decision.reply)
            return deferred
        try:
            self._append(raft, decision, deferred)
        except KafkaError as refusal:
            if not deferred.done:
                deferred.resolve(refusal)
        return deferred

    def _last_offset(self) -> int:
        """The offset that the latest decision reaches: this answer may not come before it."""
        return self._waiting[-1][0] if self._waiting else -1

    def _park(self, offset: int, deferred: Deferred, reply: Any) -> None:
        if offset <= self._committed_offset:
            deferred.resolve(reply)
        else:
            self._waiting.append((offset, deferred, reply))

    def _append(
        self, raft: RaftDriver, decision: Decision[MetadataRecord], deferred: Deferred | None
    ) -> None:
        prepared = raft.prepare(decision.records, atomic=decision.atomic)
        try:
            # Before the append, which may commit at once: the image must not lag behind.
            self.controller.replay(
                decision.records, prepared.base_offset, raft.raft.epoch, self._now_ms()
            )
        except Exception as bug:
            self._active = False
            self._on_fatal(bug)
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR) from bug
        if deferred is not None:
            last_offset = prepared.base_offset + len(decision.records) - 1
            self._waiting.append((last_offset, deferred, decision.reply))
        self._appended_since_tick = True
        try:
            raft.append(prepared)
        except KafkaError:
            # The disk failed, the node stops: nobody who waits here will ever be told more.
            if deferred is not None:
                self._waiting.pop()
            self.deactivate()
            raise

    # The quorum.

    def on_commit(self, batches: Sequence[LogBatch]) -> None:
        """Committed and published: replay what others decided, release who waited."""
        for batch in batches:
            if batch.base_offset >= self.controller.state.next_offset:
                if batch.records:
                    self.controller.replay(
                        batch.records, batch.base_offset, batch.epoch, batch.timestamp_ms
                    )
                else:
                    self.controller.skip_to(batch.last_offset + 1)
        self._committed_offset = batches[-1].last_offset
        waiting = self._waiting
        while waiting and waiting[0][0] <= self._committed_offset:
            _, deferred, reply = waiting.popleft()
            deferred.resolve(reply)

    def on_leader(self, leader_id: int, epoch: int) -> None:
        """This node leads, or it does not any more."""
        is_me = leader_id == self.controller.state.node_id
        if is_me and not self._active:
            self._activate(epoch)
        elif not is_me and self._active:
            self.deactivate()

    def _activate(self, epoch: int) -> None:
        raft = self._raft
        if raft is None:
            return
        _log.info("Becoming the active controller in epoch %d", epoch)
        self._active = True
        self.controller.state.kraft_version = raft.raft.history.kraft_version
        decision = self.controller.activate(self._bootstrap, self._now_ms())
        if decision.records:
            self._append(raft, decision, None)
        if self._idle_interval_ms > 0:
            self._every("idle", self._idle_interval_ms, self._write_no_op)
        self._every("fence", self._fence_interval_ms, self._fence_stale_brokers)

    def deactivate(self) -> None:
        """No more decisions; whoever waits is told to look for another controller."""
        self._active = False
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        waiting, self._waiting = self._waiting, deque()
        for _, deferred, _ in waiting:
            deferred.resolve(KafkaError(ErrorCode.NOT_CONTROLLER))

    # Time.

    def _every(self, name: str, interval_ms: int, task: Callable[[], None]) -> None:
        def run() -> None:
            self._timers.pop(name, None)
            if self._active:
                self._every(name, interval_ms, task)
                task()

        self._timers[name] = self._scheduler.call_later(interval_ms, run)

    def _write_no_op(self) -> None:
        """Show followers and brokers that the quorum lives, when nothing else did."""
        appended, self._appended_since_tick = self._appended_since_tick, False
        if not appended:
            self.submit(lambda controller, now_ms: controller.no_op())
            self._appended_since_tick = False

    def _fence_stale_brokers(self) -> None:
        """One broker at a time, so that each sees what the last one did."""
        for _ in range(len(self.controller.image.brokers)):
            found = self.submit(lambda controller, now_ms: controller.fence_stale_broker(now_ms))
            if found.done and found.value is False:
                return
