"""The record that changes a partition: elections, epochs, the end of a reassignment."""

from __future__ import annotations

import pytest

from pykbroker.kraft.controller.partition_change import (
    ONLINE,
    PREFERRED,
    UNCLEAN,
    Rules,
    Targets,
    change_partition,
    complete_reassignment,
    elect_leader,
)
from pykbroker.kraft.partition_image import NO_LEADER, PartitionImage


def image(
    leader: int, isr: tuple[int, ...], replicas: tuple[int, ...] = (1, 2, 3)
) -> PartitionImage:
    return PartitionImage(replicas, (b"d" * 16,) * len(replicas), isr, leader)


@pytest.mark.parametrize(
    ("leader", "isr", "alive", "election", "expected"),
    [
        (2, (1, 2), {1, 2, 3}, ONLINE, (2, False)),  # the leader stays
        (2, (1, 2), {1, 2, 3}, PREFERRED, (1, False)),
        (2, (2, 3), {2, 3}, PREFERRED, (2, False)),  # the preferred one is not in sync
        (2, (1, 2), {1, 3}, ONLINE, (1, False)),
        (2, (2,), {1, 3}, ONLINE, (NO_LEADER, False)),
        (2, (2,), {1, 3}, UNCLEAN, (1, True)),
        (2, (2,), set(), UNCLEAN, (NO_LEADER, False)),
        (NO_LEADER, (3,), {1, 2, 3}, ONLINE, (3, False)),
    ],
)
def test_elections(
    leader: int,
    isr: tuple[int, ...],
    alive: set[int],
    election: str,
    expected: tuple[int, bool],
) -> None:
    assert elect_leader(image(leader, isr), isr, election, alive.__contains__) == expected


def change(partition: PartitionImage, isr: tuple[int, ...], alive: set[int], level: int = 33):
    return change_partition(
        b"t" * 16,
        0,
        partition,
        Targets(isr=isr),
        acceptable=alive.__contains__,
        default_directory=lambda broker: bytes([broker]) * 16,
        rules=Rules(level),
        election=ONLINE,
    )


def test_no_record_when_nothing_changes() -> None:
    assert change(image(1, (1, 2)), (1, 2), {1, 2}) is None


def test_the_last_in_sync_replica_stays_in_the_set() -> None:
    record = change(image(1, (1,)), (), {2})
    assert record is not None
    assert (record.message.leader, record.message.isr) == (NO_LEADER, None)


def test_a_shrink_raises_the_epoch_only_before_3_6() -> None:
    record = change(image(1, (1, 2)), (1,), {1})
    assert record is not None
    assert (record.message.leader, record.message.isr) == (-2, [1])
    record = change(image(1, (1, 2)), (1,), {1}, level=8)
    assert record is not None
    assert (record.message.leader, record.message.isr, record.version) == (1, [1], 0)


@pytest.mark.parametrize(
    ("replicas", "isr", "removing", "adding", "expected"),
    [
        ((1, 2), (1, 2), (), (), None),  # none is under way
        ((3, 1), (1,), (1,), (3,), None),  # the added one is not in sync
        ((3, 1), (1, 3), (1,), (3,), ((3,), (3,))),
        ((1, 2), (2,), (1,), (), ((2,), (2,))),
        # As many replicas as before: those that stay need not be in sync.
        ((2, 3, 1), (1, 3), (1,), (3,), ((2, 3), (3,))),
        ((1, 2), (1,), (1,), (), None),  # only the removed one is in sync
        # Fewer replicas than before: all that remain have to be in sync (Kafka's own example).
        ((2, 3, 4, 5, 0, 1), (0, 1, 5), (0, 1), (5,), None),
        ((2, 3, 4, 5, 0, 1), (2, 3, 4, 5), (0, 1), (5,), ((2, 3, 4, 5), (2, 3, 4, 5))),
    ],
)
def test_when_a_reassignment_is_complete(
    replicas: tuple[int, ...],
    isr: tuple[int, ...],
    removing: tuple[int, ...],
    adding: tuple[int, ...],
    expected: object,
) -> None:
    assert complete_reassignment(replicas, isr, removing, adding) == expected


def test_the_change_of_the_isr_completes_a_reassignment() -> None:
    moving = image(1, (1,), (3, 1))._replace(adding_replicas=(3,), removing_replicas=(1,))
    record = change(moving, (1, 3), {1, 3})
    assert record is not None
    message = record.message
    assert (message.replicas, message.isr, message.leader) == ([3], [3], 3)
    assert (message.removing_replicas, message.adding_replicas) == ([], [])
    assert message.directories == [b"d" * 16]


def test_a_replica_that_goes_raises_the_leader_epoch() -> None:
    moving = image(2, (1, 2), (2, 1))._replace(removing_replicas=(1,))
    record = change(moving, (1, 2), {1, 2})
    assert record is not None
    assert (record.message.replicas, record.message.leader) == ([2], 2)
    assert moving.merge(record.message).leader_epoch == 1


def test_a_new_replica_gets_the_default_directory_of_its_broker() -> None:
    def targets(level: int):
        changed = change_partition(
            b"t" * 16,
            0,
            image(1, (1,), (1,)),
            Targets(replicas=(1, 2), adding=(2,)),
            acceptable={1}.__contains__,
            default_directory=lambda broker: bytes([broker]) * 16,
            rules=Rules(level),
        )
        assert changed is not None
        return changed.message

    assert targets(33).directories == [b"d" * 16, b"\x02" * 16]
    assert targets(16).directories is None
    assert targets(33).leader == -2  # nothing makes the leader epoch rise


def test_a_replica_that_goes_is_not_eligible() -> None:
    """Assigned again, it begins with an empty log."""
    rules = Rules(33, min_isr=2, has_eligible_leaders=True)

    def after(partition: PartitionImage, targets: Targets) -> PartitionImage:
        record = change_partition(
            b"t" * 16,
            0,
            partition,
            targets,
            acceptable=lambda broker: broker in partition.replicas,
            default_directory=lambda broker: b"d" * 16,
            rules=rules,
        )
        assert record is not None
        return partition.merge(record.message)

    partition = image(1, (1, 2), (1, 2))
    moving = after(partition, Targets(replicas=(1, 2), removing=(2,)))
    assert (moving.replicas, moving.isr, moving.elr) == ((1,), (1,), ())
    stale = moving._replace(elr=(2,))  # of a controller that keeps it
    back = after(stale, Targets(replicas=(1, 2), adding=(2,)))
    assert back.elr == ()
