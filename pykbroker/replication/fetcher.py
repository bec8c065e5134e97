"""One fetcher: repeatedly fetches partitions that this node follows from one leader.

    cut new replicas without epochs -> next request of the plan -> answer -> append or cut each
    nothing to ask: wait for a change or the end of a back-off

State: the partitions by topic id and number, the plan, the request in flight (in `run`).
In:  `follow`, `leave`, answers. Out: requests through `send`; the replicas' logs change.
Invariants: a partition that fails does not hold up the others, except those of a log directory that
failed; an answer from before a replica's last change of leader does not affect it.
Source: Kafka's `AbstractFetcherThread.scala`, `ReplicaFetcherThread.scala`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykbroker.deferred import Deferred, spawn
from pykbroker.environment.files import LogDirFailure
from pykbroker.environment.scheduler import Scheduler
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.primitives import Message
from pykbroker.replication import follower_log
from pykbroker.replication.fetch_plan import FetchLimits, FetchPlan, Followed, State
from pykbroker.replication.fetch_session_client import PartitionKey
from pykbroker.replication.leader_offsets import EARLIEST, LATEST, leader_offsets
from pykbroker.replication.truncation import truncation_for
from pykbroker.types import Peer, TopicPartition
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.protocol.messages.fetch_response import FetchResponse, PartitionData
    from pykbroker.replication.partition import Partition
    from pykbroker.replication.replica_manager import ReplicaManager

Send = Callable[[Peer, Message, int], Deferred]

LOG_STARTS_EVERY_MS = 1000

OUT_OF_RANGE = int(ErrorCode.OFFSET_OUT_OF_RANGE)
CORRUPT = int(ErrorCode.CORRUPT_MESSAGE)
FENCED = int(ErrorCode.FENCED_LEADER_EPOCH)

_log = logging.getLogger(__name__)


class FetcherWorld(NamedTuple):
    """The parts shared by all fetchers of a node."""

    manager: ReplicaManager
    scheduler: Scheduler
    now_ms: Callable[[], int]
    peer_of: Callable[[int], Peer | None]
    broker_epoch: Callable[[], int]
    on_progress: Callable[[], None]
    limits: FetchLimits
    request_timeout_ms: int


class Fetcher:
    """Fetches from one leader."""

    def __init__(self, leader_id: int, world: FetcherWorld, send: Send) -> None:
        self.leader_id = leader_id
        self.partitions: dict[PartitionKey, Partition] = {}
        self._world = world
        self._send = send
        self._plan = FetchPlan(world.manager.node_id, world.limits)
        self._changed: Deferred | None = None  # `run` waits for it if there is nothing to request
        self._next_log_starts_ms = 0
        self._is_closed = False

    # ---- what is followed

    def follow(self, partition: Partition) -> None:
        """Fetch `partition` from the end of its replica (without leader epochs: from the high
        watermark), in its leader's epoch.
        """
        key = (partition.topic_id, partition.index)
        self.partitions[key] = partition
        self._plan.add(
            Followed(
                key,
                partition.leader_epoch,
                follower_log.start_offset(partition),
                follower_log.latest_epoch(partition),
                partition.log.log_start_offset,
            )
        )
        self._wake()

    def leave(self, partition: Partition) -> None:
        """Stop fetching `partition`."""
        key = (partition.topic_id, partition.index)
        self.partitions.pop(key, None)
        self._plan.remove(key)
        self._wake()

    def close(self) -> None:
        """Stop sending; an answer that still arrives is dropped."""
        self._is_closed = True
        self._wake()

    def _wake(self) -> None:
        """Check again in the next turn, so that changes made together are requested together."""
        if self._changed is not None:
            self._world.scheduler.call_soon(self._resume)

    def _resume(self) -> None:
        changed, self._changed = self._changed, None
        if changed is not None:
            changed.resolve(None)

    # ---- the loop

    async def run(self) -> None:
        """Fetch until it is closed."""
        world = self._world
        plan = self._plan
        while not self._is_closed:
            now_ms = world.now_ms()
            self._cut_without_epochs(now_ms)
            self._note_log_starts(now_ms)
            request = plan.next_request(world.broker_epoch(), now_ms)
            if request is None:
                await self._change(plan.next_deadline_ms())
                continue
            peer = world.peer_of(self.leader_id)
            if peer is None:
                plan.failed(now_ms)
                continue
            try:
                response = await self._send(peer, request, now_ms + world.request_timeout_ms)
            except KafkaError as failure:
                _log.warning("cannot fetch from %s: %s", peer, failure)
                plan.failed(world.now_ms())
                continue
            if not self._is_closed:
                self._process(response)

    async def _change(self, deadline_ms: int | None) -> None:
        changed = self._changed = Deferred()
        timer = None
        if deadline_ms is not None:
            delay_ms = deadline_ms - self._world.now_ms()
            timer = self._world.scheduler.call_later(max(delay_ms, 1), self._resume)
        await changed
        if timer is not None:
            timer.cancel()

    def _note_log_starts(self, now_ms: int) -> None:
        """Retention moves log starts; the leader's DeleteRecords wait for them."""
        if now_ms >= self._next_log_starts_ms:
            self._next_log_starts_ms = now_ms + LOG_STARTS_EVERY_MS
            for key, followed in self._plan.partitions.items():
                self._plan.note_log_start(followed, self.partitions[key].log.log_start_offset)

    def _cut_without_epochs(self, now_ms: int) -> None:
        for followed in self._plan.truncating():
            self._guarded(followed, self._cut, followed.fetch_offset, now_ms)

    # ---- an answer

    def _process(self, response: FetchResponse) -> None:
        world = self._world
        now_ms = world.now_ms()
        out_of_range: list[Followed] = []
        for followed, entry in list(self._plan.answered(response, now_ms)):
            if not self._is_followed(followed):
                continue  # its directory failed together with another partition's
            code = entry.error_code
            if code == OUT_OF_RANGE:
                self._plan.set_aside(followed, State.RESETTING)
                out_of_range.append(followed)
            elif code:
                self._refused(followed, code, now_ms)
            elif entry.diverging_epoch is not None:
                self._guarded(followed, self._diverged, entry, now_ms)
            else:
                self._guarded(followed, self._append, entry, now_ms)
        if out_of_range:
            spawn(self._reset(out_of_range))
        world.on_progress()

    def _is_followed(self, followed: Followed) -> bool:
        return self._plan.partitions.get(followed.key) is followed

    def _guarded(self, followed: Followed, work: Callable[..., None], *arguments: object) -> None:
        """Run `work` on one partition; a failure affects only it, or its log directory."""
        if not self._is_followed(followed):
            return
        partition = self.partitions[followed.key]
        try:
            work(followed, partition, *arguments)
        except LogDirFailure as failure:
            self._world.manager.on_directory_failure(failure)
        except KafkaError as error:
            if followed.state is State.TRUNCATING or work == self._diverged:
                _log.error("%s: cannot be truncated: %s", partition, error)
                self._plan.set_aside(followed, State.FAILED)
                return
            _log.error("%s: cannot use the data sent by its leader: %s", partition, error)
            if error.code == CORRUPT:  # in transit or on a disk: retry
                self._plan.delay(followed, self._world.now_ms())
            else:
                self._plan.set_aside(followed, State.FAILED)
        except Exception:
            _log.exception("%s: replication failed; the partition is no longer fetched", partition)
            self._plan.set_aside(followed, State.FAILED)

    def _append(
        self, followed: Followed, partition: Partition, entry: PartitionData, now_ms: int
    ) -> None:
        moved = follower_log.append_fetched(
            partition, followed.fetch_offset, followed.leader_epoch, entry, now_ms
        )
        log = partition.log
        if log.log_end_offset != followed.fetch_offset:
            self._moved(followed, partition)
        else:
            self._plan.note_log_start(followed, log.log_start_offset)
        if moved:
            self._world.manager.on_high_watermark_moved(partition)

    def _diverged(
        self, followed: Followed, partition: Partition, entry: PartitionData, now_ms: int
    ) -> None:
        leader = entry.diverging_epoch
        assert leader is not None
        cut = truncation_for(leader.epoch, leader.end_offset, followed.fetch_offset, partition.log)
        _log.info(
            "%s: the leader's epoch %d ends at %d: truncating to %d",
            partition.topic_partition,
            leader.epoch,
            leader.end_offset,
            cut.offset,
        )
        self._cut(followed, partition, cut.offset, now_ms)

    def _cut(self, followed: Followed, partition: Partition, offset: int, now_ms: int) -> None:
        follower_log.truncate(partition, offset, now_ms)
        self._moved(followed, partition)

    def _moved(self, followed: Followed, partition: Partition) -> None:
        log = partition.log
        epoch = follower_log.latest_epoch(partition)
        self._plan.move(followed, log.log_end_offset, epoch, log.log_start_offset)

    def _refused(self, followed: Followed, code: int, now_ms: int) -> None:
        _log.debug("%s: the leader answered %s", followed.key, KafkaError(code))
        if code == FENCED:
            # The leader has a later epoch, whose metadata is on its way to this node.
            self._plan.set_aside(followed, State.FAILED)
        else:
            self._plan.delay(followed, now_ms)

    # ---- out of the leader's range

    async def _reset(self, out_of_range: list[Followed]) -> None:
        """Look up where the leader's logs begin and end, and continue within this range.

        A replica that ends above the leader's end is cut there (after an unclean election); one
        that ends below the leader's start restarts from there.
        """
        behind: list[Followed] = []
        for followed, code, leader_end in await self._look_up(out_of_range, LATEST):
            partition = self.partitions.get(followed.key)
            if partition is None:
                continue  # its directory failed together with another partition's
            if code:
                self._refused(followed, code, self._world.now_ms())
            elif leader_end < partition.log.log_end_offset:
                _log.warning(
                    "%s: the leader's log ends at %d, this one at %d: truncating",
                    partition.topic_partition,
                    leader_end,
                    partition.log.log_end_offset,
                )
                self._guarded(followed, self._cut, leader_end, self._world.now_ms())
            else:
                behind.append(followed)
        for followed, code, leader_start in await self._look_up(behind, EARLIEST):
            if code:
                self._refused(followed, code, self._world.now_ms())
            else:
                self._guarded(followed, self._start_at, leader_start, self._world.now_ms())
        self._wake()

    def _start_at(
        self, followed: Followed, partition: Partition, leader_start: int, now_ms: int
    ) -> None:
        if leader_start > partition.log.log_end_offset:
            _log.warning(
                "%s: the leader's log starts at %d, this one ends at %d: restarting from there",
                partition.topic_partition,
                leader_start,
                partition.log.log_end_offset,
            )
            follower_log.truncate_fully(partition, leader_start, now_ms)
        self._moved(followed, partition)

    async def _look_up(
        self, wanted: list[Followed], timestamp: int
    ) -> list[tuple[Followed, int, int]]:
        """Return (partition, error code, the leader's offset) of those that are still followed;
        NETWORK_EXCEPTION, -1 of one that was not answered.
        """
        if not wanted:
            return []
        world = self._world
        asked = [
            (self.partitions[followed.key].topic_partition, followed.leader_epoch)
            for followed in wanted
            if followed.key in self.partitions
        ]
        peer = world.peer_of(self.leader_id)
        found: dict[TopicPartition, tuple[int, int]] = {}
        if peer is not None and asked:
            deadline_ms = world.now_ms() + world.request_timeout_ms
            try:
                found.update(
                    await leader_offsets(
                        lambda message: self._send(peer, message, deadline_ms),
                        world.manager.node_id,
                        asked,
                        timestamp,
                    )
                )
            except KafkaError as failure:
                _log.warning("cannot look up offsets of %s: %s", peer, failure)
        answers = []
        for followed in wanted:
            if self._is_closed or not self._is_followed(followed):
                continue
            unknown = (int(ErrorCode.NETWORK_EXCEPTION), -1)
            name = self.partitions[followed.key].topic_partition
            answers.append((followed, *found.get(name, unknown)))
        return answers
