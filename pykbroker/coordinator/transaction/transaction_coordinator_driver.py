"""The transaction coordinator of one node: requests of handlers, and deferred work.

In:  requests; `apply` (metadata publisher); the timers of overdue transactions and of unused ids;
     partitions that are loaded.
Out: replies, or Deferreds of them; markers, by the marker driver.
State: the runtime, the marker driver, how many partitions the topic has.
Invariants: markers are sent only after the record of the outcome is committed, and only while it is
not completed: before transaction.version 2 they would end the producer's next transaction. The
completion is written when no partition needs a marker any more. The producer's reply is not delayed
by its markers.
Source: Kafka's `TransactionCoordinator.scala`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pykbroker.coordinator.coordinator_log import CoordinatorLog, ReplicaLog, coordinator_error
from pykbroker.coordinator.partitioning import partition_for
from pykbroker.coordinator.runtime_driver import CoordinatorRuntime
from pykbroker.coordinator.transaction.ending import Ending
from pykbroker.coordinator.transaction.initialising import Initialisation
from pykbroker.coordinator.transaction.marker_driver import MarkerDriver, Sending
from pykbroker.coordinator.transaction.partition_requests import (
    MakeResponse,
    add_partitions,
    join,
)
from pykbroker.coordinator.transaction.records import TransactionRecordCodec
from pykbroker.coordinator.transaction.settings import COMMIT_TIMEOUT_MS, TransactionSettings
from pykbroker.coordinator.transaction.shard import (
    Addition,
    Context,
    Ended,
    Reply,
    TransactionShard,
)
from pykbroker.coordinator.transaction.transaction import (
    EPOCH_BUMPING,
    Partitions,
    Transaction,
)
from pykbroker.deferred import Deferred, chain, gather, pass_on, then
from pykbroker.environment.clock import Clock
from pykbroker.environment.scheduler import Scheduler, Timer
from pykbroker.environment.slices import Breathe, InOneGo, Slices, go_on, paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.metadata_version import TRANSACTION_VERSION
from pykbroker.kraft.topic_name import TRANSACTION_STATE_TOPIC

if TYPE_CHECKING:
    from pykbroker.config import BrokerConfig
    from pykbroker.environment import Environment
    from pykbroker.kraft.delta import MetadataDelta
    from pykbroker.kraft.image import MetadataImage
    from pykbroker.protocol.messages.add_partitions_to_txn_request import (
        AddPartitionsToTxnRequest,
    )
    from pykbroker.replication.replica_manager import ReplicaManager

COMPLETE_AGAIN_MS = 100

_log = logging.getLogger("pykbroker.coordinator.transaction")

Operation = Callable[..., Any]


class TransactionCoordinator:
    """The transaction coordinator of one node.

    take_producer_id: an id that nobody has, or a Deferred of one or of a KafkaError.
    write_markers(leader, markers): see `MarkerDriver`. after_replies(work): do it when the replies
    of this turn are sent, and before further requests are served.
    """

    def __init__(
        self,
        *,
        node_id: int,
        settings: TransactionSettings,
        log: CoordinatorLog,
        scheduler: Scheduler,
        clock: Clock,
        take_producer_id: Callable[[], int | Deferred],
        image: Callable[[], MetadataImage],
        write_markers: Callable[..., Any],
        after_replies: Callable[[Callable[[], None]], None],
        slices: Slices | None = None,
    ) -> None:
        self._slices = slices = slices or InOneGo()
        self.node_id = node_id
        self.settings = settings
        self.num_partitions = settings.num_partitions
        self._scheduler = scheduler
        self._now_ms = clock.now_ms
        self._take_producer_id = take_producer_id
        self._image = image
        self._wake = log.wake
        self._after_replies = after_replies
        self._decided_ends: list[tuple[int, Ended]] = []
        self._timers: dict[str, Timer] = {}
        self._is_stopped = False
        self.runtime = CoordinatorRuntime(
            log=log,
            codec=TransactionRecordCodec(),
            make_shard=lambda: TransactionShard(slices.breathe),
            scheduler=scheduler,
            clock=clock,
            commit_timeout_ms=COMMIT_TIMEOUT_MS,
            load_chunk_bytes=settings.load_buffer_bytes,
            on_loaded=self._on_loaded,
            slices=slices,
        )
        self._markers = MarkerDriver(
            image=image, write=write_markers, on_done=self._complete, scheduler=scheduler
        )
        self._call_every("overdue", settings.abort_interval_ms, self._abort_overdue)
        self._call_every("unused", settings.expire_interval_ms, self._forget_unused)

    @classmethod
    def create(
        cls,
        *,
        config: BrokerConfig,
        replica_manager: ReplicaManager,
        environment: Environment,
        wake: Callable[[], None],
        after_replies: Callable[[Callable[[], None]], None],
        take_producer_id: Callable[[], int | Deferred],
        write_markers: Callable[..., Any],
    ) -> TransactionCoordinator:
        """The coordinator of a broker."""
        return cls(
            node_id=replica_manager.node_id,
            settings=TransactionSettings.from_config(config),
            log=ReplicaLog(TRANSACTION_STATE_TOPIC, replica_manager, wake),
            scheduler=environment.scheduler,
            clock=environment.clock,
            take_producer_id=take_producer_id,
            image=lambda: replica_manager.image,
            write_markers=write_markers,
            after_replies=after_replies,
            slices=environment.slices,
        )

    # ---- metadata

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Publisher step, after the replica manager's: elections and resignations."""
        for topic in delta.deleted_topics.values():
            if topic.name == TRANSACTION_STATE_TOPIC:
                self.num_partitions = self.settings.num_partitions
                for index in topic.partitions:
                    self._resign(index)
        for topic in delta.changed_topics.values():
            if topic.name == TRANSACTION_STATE_TOPIC:
                self.num_partitions = len(topic.partitions)
                for index, partition in topic.partitions.items():
                    if partition.leader == self.node_id:
                        self.on_elected(index, partition.leader_epoch)
                    else:
                        self._resign(index)

    def on_elected(self, partition: int, leader_epoch: int) -> None:
        """Load a partition that this node leads in `leader_epoch`; see `CoordinatorRuntime`.

        In a later epoch of a machine that is kept, markers are sent again: a completion in the
        epoch before may have been rejected.
        """
        before = self.runtime.led(partition)
        self.runtime.on_elected(partition, leader_epoch)
        now = self.runtime.led(partition)
        if before and now and before[0] < now[0] and now[1] is before[1] is not None:
            self._on_loaded(partition)

    def _resign(self, partition: int) -> None:
        self.runtime.on_resigned(partition)
        self._markers.forget(partition)

    def partition_for(self, transactional_id: str) -> int:
        """The partition of `__transaction_state` that coordinates a transactional id."""
        return partition_for(transactional_id, self.num_partitions)

    def stop(self) -> None:
        """Answer waiting callers with an error; the next coordinator finishes the rest."""
        self._is_stopped = True
        self.runtime.stop()
        self._markers.close()
        for timer in self._timers.values():
            timer.cancel()

    @property
    def server_version(self) -> int:
        """The finalised transaction.version."""
        return self._image().features.get(TRANSACTION_VERSION, 0)

    # ---- requests

    def initialise(self, request: Initialisation) -> Reply | Deferred:
        """InitProducerId of a transactional id, which then belongs to this producer."""
        timeout_ms = request.timeout_ms
        if not 0 < timeout_ms <= self.settings.max_timeout_ms:
            return Reply(code=int(ErrorCode.INVALID_TRANSACTION_TIMEOUT))
        return self._decide(TransactionShard.initialise, request)

    def add_partitions(self, request: Addition) -> Reply | Deferred:
        """Add partitions to a transaction, which begins with the first ones."""
        partition = self.partition_for(request.transactional_id)
        context = Context(self.server_version)
        return self.runtime.write(
            partition, TransactionShard.add_partitions, request, context, _refuse
        )

    def add_partitions_batch(
        self, message: AddPartitionsToTxnRequest, version: int, breathe: Breathe = go_on
    ) -> MakeResponse | Deferred:
        """What makes the response to AddPartitionsToTxn of any version; see
        `partition_requests.py`."""
        return add_partitions(
            self.add_partitions, self.verify, self._image(), message, version, breathe
        )

    def join(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Partitions,
        *,
        verify_only: bool,
    ) -> dict[int, Partitions] | Deferred:
        """What AddPartitionsToTxn is for another broker, for partitions of this node: the
        partitions by error code."""
        addition = Addition(
            transactional_id, producer_id, producer_epoch, partitions, EPOCH_BUMPING
        )
        return join(
            self.add_partitions, self.verify, self._image(), addition, verify_only=verify_only
        )

    def verify(self, request: Addition) -> dict[int, Partitions] | Deferred:
        """Return which partitions have joined the producer's transaction, by error code."""

        def refuse(request: Addition, context: None, code: int) -> dict[int, Partitions]:
            return {coordinator_error(code): request.partitions}

        return self.runtime.read(
            self.partition_for(request.transactional_id),
            TransactionShard.verify,
            request,
            None,
            refuse,
        )

    def end(self, request: Ending) -> Reply | Deferred:
        """EndTxn: answered when the outcome is committed; the markers follow."""
        return self._decide(TransactionShard.end, request)

    def one_transaction(self, transactional_id: str) -> Transaction | ErrorCode | Deferred:
        """Return the transaction of an id, or an error. While its markers are being sent, its
        partitions are those that have none yet.
        """

        def refuse(request: str, context: None, code: int) -> ErrorCode:
            return ErrorCode(coordinator_error(code))

        partition = self.partition_for(transactional_id)
        found = self.runtime.read(
            partition, TransactionShard.one_transaction, transactional_id, None, refuse
        )
        return then(found, partial(self._without_marked, transactional_id))

    def _without_marked(
        self, transactional_id: str, found: Transaction | ErrorCode
    ) -> Transaction | ErrorCode:
        if isinstance(found, ErrorCode):
            return found
        missing = self._markers.missing(Ended(transactional_id, found))
        return found if missing is None else found._replace(partitions=missing)

    def all_transactions(self) -> dict[str, Transaction] | Deferred:
        """Return every transaction that this node coordinates.

        Raises KafkaError COORDINATOR_LOAD_IN_PROGRESS, or resolves the Deferred with it, while some
        are being loaded. Partitions that cannot answer for another reason are left out.
        """

        def refuse(request: None, context: None, code: int) -> dict[str, Transaction] | KafkaError:
            if code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                return KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
            return {}

        parts = self.runtime.read_all(TransactionShard.all_transactions, None, None, refuse)

        def combine(found: list[Any]) -> Any:
            everything: dict[str, Transaction] = {}
            for part in found:
                if isinstance(part, KafkaError):
                    return part
                everything.update(part)
            return everything

        outcome = gather(parts, combine)
        if isinstance(outcome, KafkaError):
            raise outcome
        return outcome

    # ---- deciding

    def _decide(
        self, operation: Operation, request: Any, new_producer_id: int | None = None
    ) -> Reply | Deferred:
        """Run an operation of the shard of the request's transactional id.

        Where it turns out to need a producer id, it is run again with one.
        """
        partition = self.partition_for(request.transactional_id)
        context = Context(self.server_version, new_producer_id)
        outcome = self.runtime.write(partition, operation, request, context, _refuse)
        return chain(outcome, partial(self._decided, partition, operation, request))

    def _decided(
        self, partition: int, operation: Operation, request: Any, reply: Reply
    ) -> Reply | Deferred:
        """Handle the reply of a decision, once it is committed or refused."""
        if reply.needs is not None:
            return self._with_producer_id(partial(self._decide, operation, request))
        if reply.ended is not None:
            self._decided_ends.append((partition, reply.ended))
            if len(self._decided_ends) == 1:
                self._after_replies(self._send_decided)
        return reply

    def _with_producer_id(self, again: Callable[[int], Reply | Deferred]) -> Reply | Deferred:
        found = self._take_producer_id()
        if isinstance(found, int):
            return again(found)
        answer = Deferred()

        def on_id(value: int | KafkaError) -> None:
            if isinstance(value, KafkaError):
                answer.resolve(Reply(code=int(value.code)))
            else:
                pass_on(again(value), answer)
                self._wake()

        found.on_resolved(on_id)
        return answer

    # ---- markers

    def _send_decided(self) -> None:
        """Send the markers of the decisions of this turn, together to each leader."""
        ends, self._decided_ends = self._decided_ends, []
        for partition, ended in ends:
            self._queue_markers(partition, ended)
        self._markers.send_queued()

    def _queue_markers(self, partition: int, ended: Ended) -> None:
        """Queue markers, unless the end is completed; of those being sent only rejected ones."""
        led = self.runtime.led(partition)
        if led is None:
            return
        epoch, shard = led
        if not shard.is_ending(ended):
            return
        if self._markers.is_sending(ended):
            self._markers.ask_refused_again(ended)
        else:
            self._markers.queue(partition, epoch, ended)

    def _complete(self, sending: Sending) -> None:
        """Write the completion after every marker is written, and again as long as replicas are
        missing. After another error the next load of the partition, or `_resume_endings`, completes
        it.
        """
        if self._is_stopped:
            return
        partition = sending.log_partition
        led = self.runtime.led(partition)
        if led is None or led[0] != sending.coordinator_epoch:
            return  # loading it finds what is not complete
        context = Context(self.server_version)
        outcome = self.runtime.write(
            partition, TransactionShard.complete, sending.ended, context, _refuse
        )

        def on_reply(reply: Reply) -> None:
            if reply.code == ErrorCode.COORDINATOR_NOT_AVAILABLE:
                self._scheduler.call_later(COMPLETE_AGAIN_MS, self._complete, sending)

        then(outcome, on_reply)
        self._wake()

    def _on_loaded(self, partition: int) -> None:
        """Resume decided endings, once their records are certainly committed."""
        self._markers.forget(partition)
        self._run_in_slices("ending transactions", partial(self._send_markers_of, partition))

    def _send_all_markers(self, partition: int, ending: list[Ended]) -> None:
        if ending:
            self._run_in_slices("markers", partial(self._send_each_marker, partition, ending))

    def _send_each_marker(self, partition: int, ending: list[Ended]) -> None:
        for ended in paced(ending, self._slices.breathe):
            self._queue_markers(partition, ended)
            self._markers.send_queued()

    def _resume_endings(self) -> None:
        """Resume endings: an outcome that was committed too late for its caller has sent no
        markers, and partitions that rejected theirs may accept them now.
        """
        for partition in self.runtime.active_partitions():
            self._send_markers_of(partition)

    def _send_markers_of(self, partition: int) -> None:
        outcome = self.runtime.read(partition, TransactionShard.ending, None, None, lambda *_: [])
        then(outcome, partial(self._send_all_markers, partition))

    # ---- time

    def _call_every(self, name: str, interval_ms: int, work: Callable[[], None]) -> None:
        def due() -> None:
            self._call_every(name, interval_ms, work)
            work()

        self._timers[name] = self._scheduler.call_later(interval_ms, due)

    def _run_in_slices(self, name: str, work: Callable[[], None]) -> None:
        """Run in slices, because there may be very many transactions."""

        def ended(outcome: Any) -> None:
            if isinstance(outcome, Exception):
                raise outcome

        job = self._slices.run(name, work, lambda: not self._is_stopped, self._wake)
        job.on_resolved(ended)

    def _abort_overdue(self) -> None:
        self._run_in_slices("overdue transactions", self._abort_each_overdue)

    def _abort_each_overdue(self) -> None:
        self._resume_endings()
        now_ms = self._now_ms()
        for part in self.runtime.read_all(TransactionShard.overdue, now_ms, None, lambda *_: []):
            then(part, self._abort_all)
        self._wake()

    def _abort_all(self, overdue: list[Ended]) -> None:
        for ended in paced(overdue, self._slices.breathe):
            then(
                self._decide(TransactionShard.abort_overdue, ended),
                partial(_log_abort, ended.transactional_id),
            )

    def _forget_unused(self) -> None:
        self._run_in_slices("unused transactional ids", self._forget_each_unused)

    def _forget_each_unused(self) -> None:
        expiration_ms = self.settings.expiration_ms
        context = Context(self.server_version)
        for partition in self.runtime.active_partitions():
            self.runtime.write(
                partition, TransactionShard.forget_unused, expiration_ms, context, _refuse
            )
        self._wake()


def _refuse(request: Any, context: Context, code: int) -> Reply:
    return Reply(code=coordinator_error(code))


def _log_abort(transactional_id: str, reply: Reply) -> None:
    if reply.ended is not None:
        _log.info("%s exceeded its time-out: the transaction is aborted", transactional_id)
    elif reply.code not in (ErrorCode.INVALID_TXN_STATE, ErrorCode.NONE):
        _log.warning(
            "%s exceeded its time-out and cannot be aborted: %s",
            transactional_id,
            ErrorCode(reply.code).name,
        )
