"""Eligible leader replicas and the last known leader (KIP-966), as the controller keeps them."""

from __future__ import annotations

import pytest

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.kraft.controller.partition_change import (
    ONLINE,
    PREFERRED,
    UNCLEAN,
    Rules,
    Targets,
    change_partition,
    elect_leader,
)
from pykbroker.kraft.directory_assignment import assignment_request
from pykbroker.kraft.partition_image import NO_LEADER, RECOVERED, RECOVERING, PartitionImage
from pykbroker.protocol.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from tests.kraft.controller.controller_world import ControllerWorld, directory_of, topic

ENABLED = {"metadata.version": 33, "eligible.leader.replicas.version": 1}
MIN_ISR_2 = {"min.insync.replicas": "2"}

RULES = Rules(33, min_isr=2, has_eligible_leaders=True)

State = tuple[tuple[int, ...], tuple[int, ...], int, tuple[int, ...]]
"""In-sync replicas, eligible leaders, leader, last known leader."""


def image(state: State) -> PartitionImage:
    isr, elr, leader, last_known = state
    return PartitionImage(
        (1, 2, 3), (b"d" * 16,) * 3, isr, leader, elr=elr, last_known_elr=last_known
    )


def state_of(partition: PartitionImage) -> State:
    return partition.isr, partition.elr, partition.leader, partition.last_known_elr


def changed(
    before: State,
    isr: tuple[int, ...],
    alive: set[int],
    election: str = ONLINE,
    unclean_shutdown: int | None = None,
    rules: Rules = RULES,
) -> PartitionImage:
    record = change_partition(
        b"t" * 16,
        0,
        image(before),
        Targets(isr=isr, unclean_shutdown=unclean_shutdown),
        acceptable=alive.__contains__,
        default_directory=lambda broker: bytes(16),
        rules=rules,
        election=election,
    )
    assert record is not None
    assert record.version == 2
    return image(before).merge(record.message)


# (isr, elr, leader, last known leader) before; the wanted isr; who may lead; the same after.
@pytest.mark.parametrize(
    ("before", "isr", "alive", "after"),
    [
        # Enough replicas stay in sync: nobody has to be remembered.
        (((1, 2, 3), (), 1, ()), (1, 2), {1, 2}, ((1, 2), (), 1, ())),
        # Below min.insync.replicas: whoever leaves is eligible.
        (((1, 2), (), 1, ()), (1,), {1}, ((1,), (2,), 1, ())),
        (((1, 2, 3), (), 1, ()), (3,), {3}, ((3,), (1, 2), 3, ())),
        # The last one goes, too, and nobody can lead: all wait, and the leader is remembered.
        (((1,), (2,), 1, ()), (), set(), ((), (1, 2), NO_LEADER, (1,))),
        # An eligible replica comes back: a clean election.
        (((), (1, 2), NO_LEADER, (1,)), (), {2}, ((2,), (1,), 2, ())),
        (((), (1, 2), NO_LEADER, (3,)), (), {1, 2}, ((1,), (2,), 1, ())),
        # One that is not eligible comes back: it waits.
        (((1,), (2,), 1, ()), (), {3}, ((), (1, 2), NO_LEADER, (1,))),
        # The in-sync replicas grow again.
        (((1,), (2, 3), 1, ()), (1, 3), {1, 3}, ((1, 3), (), 1, ())),
    ],
)
def test_the_life_of_a_partition(
    before: State, isr: tuple[int, ...], alive: set[int], after: State
) -> None:
    partition = changed(before, isr, alive)
    assert state_of(partition) == after
    assert partition.leader_recovery_state == RECOVERED


def test_the_last_in_sync_replica_leads_on_while_eligible_ones_are_alive() -> None:
    assert state_of(changed(((1, 3), (), 1, ()), (1,), {1, 3})) == ((1,), (3,), 1, ())


def test_an_unclean_shutdown_costs_the_eligibility() -> None:
    lost = changed(((1,), (2, 3), 1, ()), (1,), {1}, unclean_shutdown=3)
    assert state_of(lost) == ((1,), (2,), 1, ())
    last = changed(((1,), (), 1, ()), (), set(), unclean_shutdown=1)
    assert state_of(last) == ((), (), NO_LEADER, (1,))


@pytest.mark.parametrize("election", [ONLINE, PREFERRED, UNCLEAN])
def test_the_last_known_leader_leads_when_no_replica_is_eligible(election: str) -> None:
    partition = changed(((), (), NO_LEADER, (3,)), (), {1, 3}, election)
    assert state_of(partition) == ((3,), (), 3, ())
    assert partition.leader_recovery_state == RECOVERING


def test_another_waits_for_the_last_known_leader_unless_records_may_be_lost() -> None:
    before = ((), (), NO_LEADER, (3,))
    with pytest.raises(AssertionError, match="is not None"):
        changed(before, (), {1})
    unclean = changed(before, (), {1}, UNCLEAN)
    assert state_of(unclean) == ((1,), (), 1, ())
    assert unclean.leader_recovery_state == RECOVERING


def test_an_unclean_election_clears_what_was_eligible() -> None:
    partition = changed(((), (2,), NO_LEADER, (1,)), (), {3}, UNCLEAN)
    assert state_of(partition) == ((3,), (), 3, ())


def test_a_last_known_leader_that_was_removed_is_not_elected() -> None:
    def acceptable(broker: int) -> bool:
        return (1, 2, 3).index(broker) > 0  # a replica's directory is looked up

    partition = image(((), (), NO_LEADER, (4,)))
    found = elect_leader(partition, (), ONLINE, acceptable, may_be_last_known=True)
    assert found == (NO_LEADER, False)


def test_of_several_last_known_members_none_is_elected() -> None:
    with pytest.raises(AssertionError, match="is not None"):
        changed(((), (), NO_LEADER, (2, 3)), (), {2, 3})


def test_without_the_feature_the_next_change_forgets_who_was_eligible() -> None:
    off = Rules(33, min_isr=2)
    partition = changed(((1,), (2,), 1, ()), (1, 3), {1, 3}, rules=off)
    assert state_of(partition) == ((1, 3), (), 1, ())
    left = changed(((), (2,), NO_LEADER, (1,)), (), {2}, rules=off)
    assert state_of(left) == ((2,), (), 2, (1,))


def restart(
    world: ControllerWorld, broker: int, clean_epoch: int = -1, **fields: list[bytes]
) -> None:
    """Register another life, after the session of the former one."""
    world.now_ms += 60_000
    incarnation = b"restarted" + world.new_uuid()[9:]
    world.register(broker, incarnation_id=incarnation, previous_broker_epoch=clean_epoch, **fields)


@pytest.fixture
def world() -> ControllerWorld:
    world = ControllerWorld(features=ENABLED).brokers(1, 2, 3)
    world.create(topic("t", assignments={0: [1, 2, 3]}, configs=MIN_ISR_2))
    return world


def test_brokers_that_go_and_come(world: ControllerWorld) -> None:
    for broker in (3, 2, 1):
        world.heartbeat(broker, want_fence=True)
    assert state_of(world.partition("t")) == ((), (1, 2), NO_LEADER, (1,))
    world.heartbeat(3)
    assert world.partition("t").leader == NO_LEADER
    world.heartbeat(2)
    assert state_of(world.partition("t")) == ((2,), (1,), 2, ())


def test_a_clean_restart_keeps_the_eligibility_and_an_unclean_one_does_not(
    world: ControllerWorld,
) -> None:
    for broker in (3, 2):
        world.heartbeat(broker, want_fence=True)
    assert state_of(world.partition("t")) == ((1,), (2,), 1, ())
    world.heartbeat(1, want_fence=True)
    epoch = world.image.brokers[2].epoch
    restart(world, 2, epoch)
    assert world.partition("t").elr == (1, 2)
    restart(world, 2, epoch)
    assert world.partition("t").elr == (1,)


def test_a_replica_whose_directory_is_gone_is_no_longer_eligible(world: ControllerWorld) -> None:
    """Its broker makes an empty log in another directory. If this one led, followers would cut
    theirs.
    """
    first, second = b"d" * 16, b"e" * 16
    world.register(4, log_dirs=[first, second])
    world.heartbeat(4)
    names = {"gone": first, "stays": second}
    for name in names:
        world.create(topic(name, assignments={0: [4, 1]}, configs=MIN_ISR_2))
    placed = {(world.image.topics_by_name[name].id, 0): at for name, at in names.items()}
    epoch = world.image.brokers[4].epoch
    world.decide(world.controller.assign_replicas_to_dirs, assignment_request(4, epoch, placed))
    for broker in (4, 1):
        world.heartbeat(broker, want_fence=True)
    restart(world, 4, epoch, log_dirs=[second])
    world.heartbeat(4)
    assert state_of(world.partition("stays")) == ((4,), (1,), 4, ())
    assert state_of(world.partition("gone")) == ((), (1,), NO_LEADER, (1,))
    topic_id = world.image.topics_by_name["gone"].id
    request = assignment_request(4, world.image.brokers[4].epoch, {(topic_id, 0): second})
    world.decide(world.controller.assign_replicas_to_dirs, request)
    assert world.partition("gone").leader == NO_LEADER
    world.heartbeat(1)
    assert state_of(world.partition("gone")) == ((1,), (), 1, ())


def test_a_removed_replica_that_an_apache_controller_kept_eligible(world: ControllerWorld) -> None:
    """It has no directory. When its broker restarts, it is no longer eligible."""
    change = PartitionChangeRecord(
        topic_id=world.image.topics_by_name["t"].id,
        partition_id=0,
        replicas=[1, 2],
        directories=[directory_of(1), directory_of(2)],
        isr=[1],
        eligible_leader_replicas=[2, 3],
    )
    world.commit(Decision(records=[MetadataRecord(change, 2)]))
    restart(world, 3, world.image.brokers[3].epoch)
    assert state_of(world.partition("t")) == ((1,), (2,), 1, ())


def test_the_only_replica_leads_again_after_its_directory_was_taken_away() -> None:
    world = ControllerWorld(features=ENABLED).brokers(1)
    world.create(topic("t"))
    epoch = world.image.brokers[1].epoch
    world.heartbeat(1, want_fence=True)
    restart(world, 1, epoch, log_dirs=[b"n" * 16])
    world.heartbeat(1)
    assert state_of(world.partition("t")) == ((), (), NO_LEADER, (1,))
    placed = {(world.image.topics_by_name["t"].id, 0): b"n" * 16}
    request = assignment_request(1, world.image.brokers[1].epoch, placed)
    world.decide(world.controller.assign_replicas_to_dirs, request)
    partition = world.partition("t")
    assert (partition.leader, partition.leader_recovery_state) == (1, RECOVERING)


def test_the_only_replica_is_the_last_known_leader_after_an_unclean_shutdown() -> None:
    world = ControllerWorld(features=ENABLED).brokers(1)
    world.create(topic("t"))
    restart(world, 1)
    assert state_of(world.partition("t")) == ((), (), NO_LEADER, (1,))
    world.heartbeat(1)
    partition = world.partition("t")
    assert state_of(partition) == ((1,), (), 1, ())
    assert partition.leader_recovery_state == RECOVERING


def test_a_registration_that_cannot_tell_is_an_unclean_shutdown(world: ControllerWorld) -> None:
    for broker in (3, 2, 1):
        world.heartbeat(broker, want_fence=True)
    epoch = world.image.brokers[2].epoch
    world.now_ms += 60_000
    request = world.registration(2, incarnation_id=b"n" * 16, previous_broker_epoch=epoch)
    world.decide(world.controller.register_broker, request, 2, world.now_ms)
    assert world.partition("t").elr == (1,)


def test_an_unregistered_broker_stays_eligible(world: ControllerWorld) -> None:
    for broker in (3, 2):
        world.heartbeat(broker, want_fence=True)
    world.decide(world.controller.unregister_broker, 2)
    assert state_of(world.partition("t")) == ((1,), (2,), 1, ())


def test_an_election_that_a_client_asks_for_finds_the_last_known_leader(
    world: ControllerWorld,
) -> None:
    for broker in (3, 2, 1):
        world.heartbeat(broker, want_fence=True)
    for broker in (1, 2):
        restart(world, broker)
    assert state_of(world.partition("t")) == ((), (), NO_LEADER, (1,))
    world.heartbeat(2)
    assert world.partition("t").leader == NO_LEADER
    request = ElectLeadersRequest(
        election_type=1, topic_partitions=[TopicPartitions(topic="t", partitions=[0])]
    )
    world.decide(world.controller.elect_leaders, request)
    assert state_of(world.partition("t")) == ((2,), (), 2, ())
