"""What committed metadata may say about leaders, in-sync and eligible replicas (KIP-966).

The rules follow the metadata log and know nothing of the controller that wrote it. A replica is out
of service if its broker is not registered, is fenced or shutting down, or its log directory is
offline.

    a leader is in sync; a replica that joins the ISR of a leader is in service (`_check_joined`)
    an elected leader was in sync before, or was eligible and no in-sync replica is in service
    (`_check_elected` has what a reassignment may do); only if no replica of either kind is left may
    the last known leader lead, and then it recovers; any other one only where the topic allows
    unclean elections
    a partition has a leader if one of those that may lead is in service

With eligible.leader.replicas.version 1 also:

    no in-sync replica is out of service, unless it joined so
    a change that leaves a partition without a leader names the last known one, others name none
    a replica that leaves fewer than min.insync.replicas in sync stays eligible (`_check_eligible`)
    a replica whose broker registers again after a crash is then neither in sync nor eligible

Source: KIP-966; Kafka's `PartitionRegistration.java` for the effect of a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pykbroker.kraft.image import TOPIC_RESOURCE
from pykbroker.kraft.partition_image import LOST_DIRECTORY, is_reserved_directory
from pykbroker.testing.world.world import Violation
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.kraft.metadata_log import LogBatch

ELIGIBLE_LEADERS = "eligible.leader.replicas.version"
MIN_IN_SYNC = "min.insync.replicas"
UNCLEAN_ELECTIONS = "unclean.leader.election.enable"
NOBODY = -1
UNCHANGED = -2
RECOVERING = 1

PartitionKey = tuple[bytes, int]


class Standing(NamedTuple):
    """The state of a partition between two records."""

    replicas: tuple[int, ...]
    in_sync: frozenset[int]
    eligible: frozenset[int]
    leader: int
    last_known: tuple[int, ...] = ()
    is_recovering: bool = False
    directories: tuple[bytes, ...] = ()
    """Of `replicas`, in their order; () if the record names none."""

    @property
    def may_lead(self) -> frozenset[int]:
        """Return the in-sync replicas or, if there are none, the eligible ones."""
        return self.in_sync or self.eligible

    def after(self, record: Any) -> Standing:
        """Return the state after a PartitionChangeRecord."""
        recovery = record.leader_recovery_state
        return Standing(
            self.replicas if record.replicas is None else tuple(record.replicas),
            self.in_sync if record.isr is None else frozenset(record.isr),
            _eligible_after(self, record),
            self.leader if record.leader == UNCHANGED else record.leader,
            self.last_known if record.last_known_elr is None else tuple(record.last_known_elr),
            self.is_recovering if recovery < 0 else recovery == RECOVERING,
            self.directories if record.directories is None else tuple(record.directories),
        )


class _Broker:
    """The registration of a broker."""

    def __init__(
        self, epoch: int, directories: Sequence[bytes], *, is_fenced: bool, is_leaving: bool
    ) -> None:
        self.epoch = epoch
        self.directories = frozenset(directories)
        """Those that are online."""
        self.is_fenced = is_fenced
        self.is_leaving = is_leaving

    @property
    def is_in_service(self) -> bool:
        return not (self.is_fenced or self.is_leaving)


class ElectionRules:
    """Checks committed metadata against the rules of elections."""

    def __init__(self) -> None:
        self._partitions: dict[PartitionKey, Standing] = {}
        self._names: dict[bytes, str] = {}
        self._brokers: dict[int, _Broker] = {}
        self._min_in_sync: dict[str, int] = {}
        self._allow_unclean: set[str] = set()
        self._has_eligible = False
        self._crashed: set[tuple[int, int]] = set()
        self._lost: dict[PartitionKey, frozenset[int]] = {}
        """Who may lead no more since this batch: it must have registered again in it."""
        self._restarted: dict[int, bool] = {}
        """Who registered anew in this batch, and whether after a crash."""
        self._joined_late: dict[PartitionKey, frozenset[int]] = {}
        """Who joined the ISR although its directory was offline or lost."""
        self.eligible_elected = 0
        """How often an eligible replica was elected; no in-sync one was in service."""
        self.last_known_elected = 0
        """How often a last known leader was elected because no other replica could be."""

    def crashed(self, broker_id: int, broker_epoch: int) -> None:
        """Record that the process of a broker, in this epoch, ended without a clean shutdown."""
        self._crashed.add((broker_id, broker_epoch))

    def take(self, batch: LogBatch) -> None:
        """Check the next committed batch."""
        self._lost.clear()
        self._restarted.clear()
        for record in batch.records:
            handler = self._HANDLERS.get(type(record.message).__name__)
            if handler is not None:
                handler(self, record.message)
        for key, lost in self._lost.items():
            if lost - self._restarted.keys():
                raise self._violated(key, f"{sorted(lost)} should have remained eligible")
        for key, standing in self._partitions.items():
            self._check(key, standing)

    def _violated(self, key: PartitionKey, what: str) -> Violation:
        name = f"{self._names.get(key[0], key[0].hex())}-{key[1]}"
        return Violation(f"metadata of {name}: {what}; {self._partitions.get(key)}")

    # ---------------------------------------------------------------- after a batch

    def _check(self, key: PartitionKey, standing: Standing) -> None:
        replicas = set(standing.replicas)
        if not standing.in_sync | standing.eligible <= replicas:
            raise self._violated(key, "a broker without a replica is in sync or eligible")
        if standing.in_sync & standing.eligible:
            raise self._violated(key, "a replica is both in sync and eligible")
        if standing.leader != NOBODY and standing.leader not in standing.in_sync:
            raise self._violated(key, "its leader is not in sync")
        out = standing.in_sync - self._able(standing.in_sync, standing)
        out -= self._joined_late.get(key, frozenset())
        if out and self._has_eligible:
            raise self._violated(key, f"{sorted(out)} are in sync but out of service")
        counted = standing.in_sync | standing.eligible
        crashed = [each for each, has_crashed in self._restarted.items() if has_crashed]
        if self._has_eligible and not counted.isdisjoint(crashed):
            raise self._violated(key, f"{crashed} restarted after a crash and still count")
        if standing.leader == NOBODY:
            able = self._able(standing.may_lead, standing)
            if not standing.may_lead and len(standing.last_known) == 1:
                able = self._able(standing.last_known, standing)
            if able:
                raise self._violated(key, f"it has no leader although {sorted(able)} could lead")

    def _able(self, replicas: Iterable[int], standing: Standing) -> frozenset[int]:
        """Return those of these replicas that are in service."""
        return frozenset(each for each in replicas if self._is_in_service(each, standing))

    def _is_in_service(self, broker_id: int, standing: Standing) -> bool:
        if not self._is_unfenced(broker_id):
            return False
        placed = dict(zip(standing.replicas, standing.directories, strict=False))
        directory = placed.get(broker_id)
        if directory is None or (is_reserved_directory(directory) and directory != LOST_DIRECTORY):
            return True
        return directory in self._brokers[broker_id].directories

    def _is_unfenced(self, broker_id: int) -> bool:
        broker = self._brokers.get(broker_id)
        return broker is not None and broker.is_in_service

    # ---------------------------------------------------------------- partitions

    def _topic(self, record: Any) -> None:
        self._names[record.topic_id] = record.name

    def _topic_removed(self, record: Any) -> None:
        name = self._names.pop(record.topic_id)
        self._min_in_sync.pop(name, None)
        self._allow_unclean.discard(name)
        for key in [key for key in self._partitions if key[0] == record.topic_id]:
            del self._partitions[key]

    def _partition(self, record: Any) -> None:
        self._partitions[record.topic_id, record.partition_id] = Standing(
            tuple(record.replicas),
            frozenset(record.isr),
            frozenset(record.eligible_leader_replicas or ()),
            record.leader,
            tuple(record.last_known_elr or ()),
            record.leader_recovery_state == RECOVERING,
            tuple(record.directories or ()),
        )

    def _changed(self, record: Any) -> None:
        key = (record.topic_id, record.partition_id)
        before = self._partitions[key]
        after = self._partitions[key] = before.after(record)
        is_moved = record.replicas is not None
        if after.leader not in (before.leader, NOBODY):
            self._check_elected(key, before, after, is_moved=is_moved)
        if before.leader != NOBODY:
            self._check_joined(key, after.in_sync - before.in_sync, after)
        if self._has_eligible:
            self._check_eligible(key, before, after)
            self._check_last_known(key, before, after)

    def _check_joined(self, key: PartitionKey, joined: frozenset[int], after: Standing) -> None:
        """Check that replicas that join the ISR are in service, but for their directories: as in
        Kafka, AlterPartition may come from a leader that does not know yet that the directory of a
        follower is offline.
        """
        anew = joined & self._restarted.keys()
        out = joined - anew - self._able(joined - anew, after)
        late = frozenset(each for each in out if self._is_unfenced(each))
        if anew or out != late:
            raise self._violated(key, f"{sorted(anew | out)} joined the ISR while out of service")
        self._joined_late[key] = self._joined_late.get(key, frozenset()) & after.in_sync | late

    def _check_elected(
        self, key: PartitionKey, before: Standing, after: Standing, *, is_moved: bool
    ) -> None:
        """Check an elected leader. Not if the record also changes the replicas and there was a
        leader: a reassignment that completes may elect one that joins with the same record.
        """
        if after.leader in before.in_sync or (is_moved and before.leader != NOBODY):
            return
        able = self._able(before.in_sync & after.in_sync, after)
        if after.leader in before.eligible and not able:
            self.eligible_elected += 1
            return
        if self._names[key[0]] in self._allow_unclean and after.is_recovering:
            return
        self._note_lost(key, before.may_lead & set(after.replicas))
        if before.last_known != (after.leader,) or not after.is_recovering:
            raise self._violated(
                key, f"it was {before}: {after.leader} is not its last known leader"
            )
        self.last_known_elected += 1

    def _check_eligible(self, key: PartitionKey, before: Standing, after: Standing) -> None:
        """Check that replicas are eligible only while too few are in sync, and that none ceases to
        be eligible then, unless the partition recovers, the replica is removed from it, or its
        broker registers again in the same batch.
        """
        had_all = before.in_sync | before.eligible
        if not after.eligible <= had_all:
            raise self._violated(key, f"it was {before}: an eligible replica was not in sync")
        is_elected = after.leader in before.eligible and after.leader != before.leader
        if len(after.in_sync) >= self._least_in_sync(key):
            if after.eligible and not is_elected:
                raise self._violated(key, "enough replicas are in sync, yet some are eligible")
        elif not after.is_recovering:
            left = had_all - after.in_sync - after.eligible
            self._note_lost(key, left & set(before.replicas) & set(after.replicas))

    def _note_lost(self, key: PartitionKey, lost: frozenset[int]) -> None:
        self._lost[key] = self._lost.get(key, frozenset()) | lost

    def _check_last_known(self, key: PartitionKey, before: Standing, after: Standing) -> None:
        if after.leader != NOBODY:
            if after.last_known:
                raise self._violated(key, "it has a leader and also a last known leader")
        elif not after.last_known or (before.leader not in (NOBODY, *after.last_known)):
            raise self._violated(key, f"it was {before}: its last known leader is not recorded")

    def _least_in_sync(self, key: PartitionKey) -> int:
        """Return `min.insync.replicas` of the topic, else of the cluster, else 1; at most the count
        of replicas of the first partition.
        """
        name = self._names[key[0]]
        wanted = self._min_in_sync.get(name) or self._min_in_sync.get("", 1)
        first = self._partitions.get((key[0], 0))
        return wanted if first is None else min(wanted, len(first.replicas))

    def _cleared(self, record: Any) -> None:
        for key, standing in self._partitions.items():
            if record.topic_name in ("", self._names[key[0]]):
                self._partitions[key] = standing._replace(eligible=frozenset(), last_known=())

    # ---------------------------------------------------------------- brokers, settings

    def _registered(self, record: Any) -> None:
        before = self._brokers.get(record.broker_id)
        if before is not None and before.epoch != record.broker_epoch:
            has_crashed = (record.broker_id, before.epoch) in self._crashed
            self._restarted[record.broker_id] = has_crashed
        self._brokers[record.broker_id] = _Broker(
            record.broker_epoch,
            record.log_dirs,
            is_fenced=record.fenced,
            is_leaving=record.in_controlled_shutdown,
        )

    def _broker_changed(self, record: Any) -> None:
        broker = self._brokers[record.broker_id]
        if record.fenced:
            broker.is_fenced = record.fenced > 0
        if record.in_controlled_shutdown:
            broker.is_leaving = record.in_controlled_shutdown > 0
        if record.log_dirs:
            broker.directories = frozenset(record.log_dirs)

    def _unregistered(self, record: Any) -> None:
        self._brokers.pop(record.broker_id, None)

    def _feature(self, record: Any) -> None:
        if record.name == ELIGIBLE_LEADERS:
            self._has_eligible = record.feature_level > 0

    def _configured(self, record: Any) -> None:
        if record.name == UNCLEAN_ELECTIONS and record.resource_type == TOPIC_RESOURCE:
            if record.value == "true":
                self._allow_unclean.add(record.resource_name)
            else:
                self._allow_unclean.discard(record.resource_name)
        is_for_all = record.resource_type != TOPIC_RESOURCE and not record.resource_name
        if record.name != MIN_IN_SYNC or not (is_for_all or record.resource_type == TOPIC_RESOURCE):
            return
        if record.value is None:
            self._min_in_sync.pop(record.resource_name, None)
        else:
            self._min_in_sync[record.resource_name] = int(record.value)

    _HANDLERS: ClassVar[dict[str, Callable[[ElectionRules, Any], None]]] = {
        "TopicRecord": _topic,
        "RemoveTopicRecord": _topic_removed,
        "PartitionRecord": _partition,
        "PartitionChangeRecord": _changed,
        "ClearElrRecord": _cleared,
        "RegisterBrokerRecord": _registered,
        "BrokerRegistrationChangeRecord": _broker_changed,
        "UnregisterBrokerRecord": _unregistered,
        "FeatureLevelRecord": _feature,
        "ConfigRecord": _configured,
    }


def _eligible_after(before: Standing, record: Any) -> frozenset[int]:
    eligible = record.eligible_leader_replicas
    return before.eligible if eligible is None else frozenset(eligible)
