"""Fetches the metadata log from the leader: one fetch at a time, as Kafka's replicas do.

    no leader known, or not reachable    --> ask any replica who leads (bootstrap servers, voters)
    leader known                          --> Fetch from the log's end
        records      appended; synced by a voter, and by a controller that can become one; then the
                     next Fetch
        diverging    the log is truncated; the next Fetch finds out whether both agree now
        snapshot id  the snapshot is fetched in slices, verified, and replaces the log

In:    `wake` when the role may have changed. Out: requests through `send`; calls to the driver;
`on_fatal` if the log can no longer be followed.
Source: Kafka's `KafkaRaftClient.java` (`pollFollower`, `handleFetchResponse`,
`handleFetchSnapshotResponse`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pykbroker.deferred import Deferred, Task, spawn
from pykbroker.environment.background import Threads
from pykbroker.environment.scheduler import Scheduler
from pykbroker.errors import ErrorCode, KafkaError, error_name
from pykbroker.kraft.controller_channel_driver import Send, value_of
from pykbroker.kraft.metadata_image_loading import with_image
from pykbroker.kraft.metadata_log import DecodedBatch, MetadataLog, decode_fetched
from pykbroker.kraft.metadata_snapshot import CorruptSnapshot, Snapshot, SnapshotId, decode_snapshot
from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft import raft_rpc
from pykbroker.kraft.raft.raft import Raft
from pykbroker.kraft.raft.raft_peers import RaftPeers
from pykbroker.kraft.raft.raft_roles import Follower, Unattached
from pykbroker.protocol.primitives import Message
from pykbroker.protocol.record_batch import CorruptBatch
from pykbroker.types import Peer

# KafkaRaftClient.java: how long the leader delays a Fetch that has nothing to return.
MAX_WAIT_MS = 500
MOST_BYTES = 1 << 20
# How much is decoded on the event loop; more than this, in a thread.
DECODED_AT_ONCE = 16 << 10
_CHANGED = "the role changed"

_log = logging.getLogger(__name__)


class Follows(Protocol):
    """The methods of the log's driver that the fetcher uses."""

    log: MetadataLog
    raft: Raft

    def step(self, event: ev.Event) -> None:
        """Process an event."""

    def append_from_leader(self, fetched: Sequence[DecodedBatch]) -> None:
        """Append fetched batches. Raises CorruptBatch or LogDirFailure."""

    def truncate(self, epoch: int, end_offset: int) -> None:
        """Truncate the log: the leader has `epoch` only up to `end_offset`. Raises
        DivergedBelowCommit if committed records would be lost.
        """

    def load_snapshot(self, snapshot: Snapshot) -> None:
        """Replace the log by a snapshot."""

    def flushed(self) -> Deferred:
        """Return a Deferred that is resolved once everything appended is on disk."""


class RaftFetcher:
    """Fetches the metadata log from the leader."""

    def __init__(
        self,
        *,
        driver: Follows,
        peers: RaftPeers,
        cluster_id: str,
        send: Send,
        scheduler: Scheduler,
        threads: Threads,
        now_ms: Callable[[], int],
        request_timeout_ms: int,
        retry_backoff_ms: int,
        max_bytes: int,
        max_snapshot_bytes: int,
        can_become_voter: bool,
        on_fatal: Callable[[BaseException], None],
    ) -> None:
        self._driver = driver
        self._raft = driver.raft
        self._peers = peers
        self._cluster_id = cluster_id
        self._send = send
        self._scheduler = scheduler
        self._threads = threads
        self._now_ms = now_ms
        self._request_timeout_ms = request_timeout_ms
        self._retry_backoff_ms = retry_backoff_ms
        self._max_bytes = min(max_bytes, MOST_BYTES)
        self._max_snapshot_bytes = min(max_snapshot_bytes, MOST_BYTES)
        self._can_become_voter = can_become_voter
        self._on_fatal = on_fatal
        self._changed: Deferred | None = None
        self._task: Task | None = None
        self._lost_leader = False
        self._told_epoch = -1  # the epoch whose leader knows where this voter listens

    def start(self) -> None:
        """Start fetching whenever this replica's role requires it."""
        self._task = spawn(self._run())
        self._task.on_resolved(self._ended)

    def _ended(self, outcome: object) -> None:
        """Handle the end of the fetcher: a failure means that the metadata is no
        longer followed.
        """
        if isinstance(outcome, Exception):
            self._on_fatal(outcome)

    def stop(self) -> None:
        """Stop fetching; answers in flight are dropped."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def wake(self) -> None:
        """Interrupt the current wait, because the role, the epoch or the leader changed."""
        self._lost_leader = False
        changed, self._changed = self._changed, None
        if changed is not None:
            # In a later turn, because this is called within a step of the machine.
            self._scheduler.call_soon(changed.resolve, _CHANGED)

    async def _run(self) -> None:
        while True:
            peer = self._target()
            if peer is None:
                await self._or_changed(Deferred())
                continue
            try:
                done = await self._fetch_from(peer)
            except (CorruptBatch, CorruptSnapshot) as damage:
                _log.error("%s sent damaged metadata: %s", peer, damage)
                done = False
            if not done:
                self._lost_leader = not self._lost_leader
                await self._or_changed(self._scheduler.sleep(self._retry_backoff_ms))

    def _target(self) -> Peer | None:
        """Return the replica to fetch from, which an unattached replica asks who leads; None in the
        other roles, or if no address is known.
        """
        role = self._raft.role
        if isinstance(role, Follower):
            leader = self._peers.find(role.leader_id)
            overdue = not self._raft.is_voter and self._now_ms() >= role.fetch_deadline_ms
            if leader is not None and not self._lost_leader and not overdue:
                return leader
            return self._peers.anywhere() or leader
        return self._peers.anywhere() if isinstance(role, Unattached) else None

    async def _or_changed(self, awaited: Deferred) -> Any:
        """Return the value of `awaited` (even a KafkaError), or _CHANGED if `wake` comes first."""
        first = Deferred()

        def arrive(value: Any) -> None:
            if not first.done:
                self._changed = None
                first.resolve((value,))

        changed = self._changed = Deferred()
        changed.on_resolved(arrive)
        awaited.on_resolved(arrive)
        return (await first)[0]

    async def _ask(self, peer: Peer, message: Message) -> Any:
        """Return the response; _CHANGED, or None if there is no usable one."""
        deadline_ms = self._now_ms() + self._request_timeout_ms
        outcome = await self._or_changed(self._send(peer, message, deadline_ms))
        if outcome is _CHANGED:
            return outcome
        if isinstance(outcome, KafkaError):
            _log.debug("%s: %s", peer, outcome)
            return None
        if outcome.error_code:
            code = error_name(outcome.error_code)
            _log.error("%s rejected a fetch of the metadata: %s", peer, code)
            return None
        return outcome

    async def _fetch_from(self, peer: Peer) -> bool:
        """Send one Fetch and process the response; False: wait a little before the next."""
        raft = self._raft
        request = raft_rpc.make_fetch(
            self._cluster_id,
            raft.local.key,
            raft.epoch,
            self._driver.log.end,
            raft.high_watermark,
            max_wait_ms=MAX_WAIT_MS,
            max_bytes=self._max_bytes,
        )
        response = await self._ask(peer, request)
        if response is _CHANGED:
            return True
        partition = None if response is None else raft_rpc.only_partition(response)
        if partition is None or not self._is_leader_here(response, partition):
            return False
        if partition.diverging_epoch is not None and partition.diverging_epoch.epoch >= 0:
            diverging = partition.diverging_epoch
            self._driver.truncate(diverging.epoch, diverging.end_offset)
            self._alive(-1)
        elif partition.snapshot_id is not None and partition.snapshot_id.epoch >= 0:
            self._alive(-1)
            wanted = partition.snapshot_id
            return await self._fetch_snapshot(peer, SnapshotId(wanted.end_offset, wanted.epoch))
        else:
            if partition.records and not await self._append(partition.records):
                return True
            self._alive(partition.high_watermark)
            is_leader = peer.node_id == raft.leader_id
            if raft.is_voter and is_leader and self._told_epoch != raft.epoch:
                self._told_epoch = raft.epoch
                spawn(self._tell_leader(peer))
            if raft.is_voter or self._can_become_voter:
                await self._driver.flushed()
        return True

    async def _append(self, records: bytes | memoryview) -> bool:
        """Append fetched records. Many are decoded in a thread; False if the role changed then."""
        raft = self._raft
        epoch = raft.epoch
        if len(records) <= DECODED_AT_ONCE:
            fetched = decode_fetched(records, epoch)
        else:
            decoding = self._threads.run(lambda: decode_fetched(records, epoch))
            fetched = await self._or_changed(decoding)
            if fetched is _CHANGED or not self._follows_in(epoch):
                return False
            if isinstance(fetched, Exception):
                raise fetched
        self._driver.append_from_leader(fetched)
        return True

    async def _tell_leader(self, leader: Peer) -> None:
        """Tell a new leader where this voter listens, unless that is in the log (never at
        kraft.version 0).
        """
        raft = self._raft
        if (
            raft.history.kraft_version > 0
            and raft.voters.nodes.get(raft.local.key.id) == raft.local
        ):
            return
        message = raft_rpc.make_update_voter(self._cluster_id, raft.local, raft.epoch)
        deadline_ms = self._now_ms() + self._request_timeout_ms
        outcome = await value_of(self._send(leader, message, deadline_ms))
        code = outcome.code if isinstance(outcome, KafkaError) else outcome.error_code
        if code and code != ErrorCode.UNSUPPORTED_VERSION:
            _log.info("%s did not accept this voter's address: %s", leader, error_name(code))
            self._told_epoch = -1  # sent again after the next fetch

    def _is_leader_here(self, response: Any, partition: Any) -> bool:
        """Process the sender's view of the quorum; return whether it is the
        leader that this node follows.
        """
        raft = self._raft
        known = raft_rpc.known_by(response, partition)
        self._peers.learn(known.leader_id, known.endpoint)
        leader = self._peers.reachable(known.leader_id)
        if partition.error_code:
            if partition.error_code == ErrorCode.INVALID_REQUEST:
                _log.error("the leader of epoch %d rejected our fetch as invalid", known.epoch)
            elif partition.error_code != ErrorCode.UNKNOWN_LEADER_EPOCH:
                self._driver.step(ev.NewsReceived(known.epoch, leader))
            return False
        if known.epoch == raft.epoch and not isinstance(raft.role, Follower):
            self._driver.step(ev.NewsReceived(known.epoch, leader))
        role = raft.role
        return known.epoch == raft.epoch and isinstance(role, Follower)

    def _alive(self, high_watermark: int) -> None:
        """Report an answer of the leader to the machine; `high_watermark` -1: it tells none."""
        role = self._raft.role
        assert isinstance(role, Follower)
        self._driver.step(ev.LeaderAnswered(role.leader_id, self._raft.epoch, high_watermark))

    async def _fetch_snapshot(self, peer: Peer, wanted: SnapshotId) -> bool:
        """Fetch a snapshot slice by slice, verify it, and load it."""
        raft, log = self._raft, self._driver.log
        _log.info("Fetching the metadata snapshot %s from %s", wanted.file_name, peer)
        content = bytearray()
        while True:
            request = raft_rpc.make_fetch_snapshot(
                self._cluster_id,
                raft.local.key,
                raft.epoch,
                wanted,
                len(content),
                self._max_snapshot_bytes,
            )
            response = await self._ask(peer, request)
            if response is _CHANGED:
                return True
            partition = None if response is None else raft_rpc.only_partition(response)
            if partition is None or not self._is_leader_here(response, partition):
                return False  # it was deleted, or the leader changed: start again with a Fetch
            if partition.position != len(content) or not partition.unaligned_records:
                raise CorruptSnapshot(f"a slice at {partition.position} follows {len(content)}")
            content += partition.unaligned_records
            self._alive(-1)
            if len(content) >= partition.size:
                break
        epoch = raft.epoch
        snapshot: Snapshot = await self._threads.run(lambda: _verified(wanted, bytes(content)))
        if self._follows_in(epoch):
            await self._threads.run(lambda: log.write_snapshot(wanted, iter((content,))))
        # If it is written but not loaded, it is like after a crash: the next start may load it, for
        # all of it is committed. A node that leads must not lose what it has appended since.
        if self._follows_in(epoch):
            self._driver.load_snapshot(snapshot)
        return True

    def _follows_in(self, epoch: int) -> bool:
        """Return whether this node still follows a leader in this epoch; ask after every wait."""
        return self._raft.epoch == epoch and isinstance(self._raft.role, Follower)


def _verified(snapshot_id: SnapshotId, content: bytes) -> Snapshot:
    """Decode a snapshot and build its image, in a thread. Raises CorruptSnapshot, DecodeError, or
    InconsistentMetadata.
    """
    return with_image(decode_snapshot(snapshot_id, content))
