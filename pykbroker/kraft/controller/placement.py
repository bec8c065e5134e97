"""Places the replicas of new partitions: striped over racks, then over the brokers of each rack.

The first replica of each partition is on an unfenced broker, the next ones use the racks in turn.
Unfenced brokers in controlled shutdown, and all with all log directories cordoned, receive none.
When as many partitions have been placed as there are unfenced brokers, all lists are shuffled, so
that the followers of one leader are spread.
Source: Kafka's `StripedReplicaPlacer.java`, `BrokerHeartbeatManager.java` (`usableBrokers`).
"""

from __future__ import annotations

from collections.abc import Iterable

from pykbroker.environment.randomness import RandomSource
from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.registration import BrokerRegistration


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, message)


class _BrokerRing:
    """Brokers of one kind in one rack, taken in turn from a moving starting point."""

    def __init__(self) -> None:
        self.brokers: list[int] = []
        self._epoch = 0
        self._index = 0
        self._offset = 0

    def initialize(self, random: RandomSource) -> None:
        if self.brokers:
            self.brokers.sort()
            self._offset = random.randrange(len(self.brokers))

    def shuffle(self, random: RandomSource) -> None:
        random.shuffle(self.brokers)

    def next(self, epoch: int) -> int:
        """Return the next broker of this round, -1 if all have been taken."""
        if not self.brokers:
            return -1
        if self._epoch != epoch:
            self._epoch = epoch
            self._index = 0
            self._offset = (self._offset + 1) % len(self.brokers)
        if self._index >= len(self.brokers):
            return -1
        broker = self.brokers[(self._index + self._offset) % len(self.brokers)]
        self._index += 1
        return broker


class _Rack:
    def __init__(self) -> None:
        self.unfenced = _BrokerRing()
        self.fenced = _BrokerRing()

    def next(self, epoch: int) -> int:
        broker = self.unfenced.next(epoch)
        return broker if broker >= 0 else self.fenced.next(epoch)


class _Racks:
    """All racks of one placement."""

    def __init__(self, random: RandomSource, brokers: Iterable[BrokerRegistration]) -> None:
        self._random = random
        self._racks: dict[str | None, _Rack] = {}
        self.total = 0
        self.unfenced = 0
        for broker in brokers:
            rack = self._racks.setdefault(broker.rack, _Rack())
            ring = rack.fenced if broker.fenced else rack.unfenced
            ring.brokers.append(broker.id)
            self.total += 1
            self.unfenced += not broker.fenced
        for rack in self._racks.values():
            rack.unfenced.initialize(random)
            rack.fenced.initialize(random)
        # Kafka sorts "no rack" before every name.
        self._names = sorted(self._racks, key=lambda name: (name is not None, name or ""))
        self._offset = random.randrange(len(self._names)) if self._names else 0
        self._epoch = 0

    def place(self, replicas: int) -> list[int]:
        """Return the brokers of one partition."""
        if self._epoch == self.unfenced and self.unfenced > 1:
            self._random.shuffle(self._names)
            for rack in self._racks.values():
                rack.unfenced.shuffle(self._random)
                rack.fenced.shuffle(self._random)
            self._epoch = 0
        count = len(self._names)
        self._offset %= count
        first_rack = self._offset
        chosen: list[int] = []
        while not chosen:
            broker = self._racks[self._names[first_rack]].unfenced.next(self._epoch)
            if broker >= 0:
                chosen.append(broker)
            else:
                first_rack = (first_rack + 1) % count
        rack_index = self._offset
        while len(chosen) < replicas:
            if rack_index == first_rack:
                first_rack = -1  # the leader's rack has had its turn
            else:
                broker = self._racks[self._names[rack_index]].next(self._epoch)
                if broker >= 0:
                    chosen.append(broker)
            rack_index = (rack_index + 1) % count
        self._epoch += 1
        self._offset += 1
        return chosen


def _takes_replicas(broker: BrokerRegistration) -> bool:
    is_leaving = broker.in_controlled_shutdown and not broker.fenced
    return not is_leaving and broker.has_uncordoned_directories


def place_replicas(
    brokers: Iterable[BrokerRegistration],
    partitions: int,
    replication_factor: int,
    random: RandomSource,
    breathe: Breathe = go_on,
) -> list[list[int]]:
    """Return the replicas of `partitions` new partitions. Raises KafkaError if the factor is not
    positive, if there are too few brokers, or if none that takes replicas is unfenced.
    """
    racks = _Racks(random, filter(_takes_replicas, brokers))
    if replication_factor <= 0:
        raise _invalid(
            f"Invalid replication factor {replication_factor}: the replication factor must be "
            "positive."
        )
    if racks.unfenced == 0:
        raise _invalid(
            "All brokers are currently fenced, or have all their log directories cordoned."
        )
    if replication_factor > racks.total:
        raise _invalid(
            f"The target replication factor of {replication_factor} cannot be reached because only "
            f"{racks.total} broker(s) are registered or some brokers have all their log "
            "directories cordoned."
        )
    return [racks.place(replication_factor) for _ in paced(range(partitions), breathe)]
