"""Replies are parked until committed; no request waits for a controller that has stopped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.deferred import Deferred
from pykbroker.environment.slices import InOneGo, go_on
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft import controller_driver, node_driver
from pykbroker.kraft.controller import brokers
from pykbroker.kraft.controller.controller import Controller
from pykbroker.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest
from pykbroker.protocol.messages.no_op_record import NoOpRecord
from tests.kraft.node_world import NodeWorld


def test_an_answer_without_records_comes_at_once_when_nothing_is_pending() -> None:
    world = NodeWorld(inline=False).open()
    reply = world.controller.run(lambda controller, now_ms: Decision(reply="here"))
    assert reply.value == "here"


def test_an_answer_without_records_waits_for_what_was_decided_before() -> None:
    world = NodeWorld(inline=False).open()
    world.create("t")
    reply = world.controller.run(lambda controller, now_ms: Decision(reply="here"))
    assert not reply.done
    world.scheduler.run_jobs()
    assert reply.value == "here"


def test_an_answer_without_records_waits_for_those_of_the_activation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = NodeWorld(inline=False).open()
    first = Decision(records=[MetadataRecord(NoOpRecord())])
    monkeypatch.setattr(Controller, "activate", lambda *arguments: first)
    epoch = world.controller._led_epoch
    assert epoch is not None
    world.controller.deactivate()
    world.controller._activate(epoch)
    reply = world.controller.run(lambda controller, now_ms: Decision(reply="here"))
    assert not reply.done
    world.scheduler.run_jobs()
    assert reply.value == "here"


def test_a_refusal_comes_as_a_value() -> None:
    world = NodeWorld().open()

    def refuse(controller: object, now_ms: int) -> Decision[Any]:
        raise KafkaError(ErrorCode.POLICY_VIOLATION, "no")

    reply = world.controller.run(refuse)
    assert isinstance(reply.value, KafkaError)
    assert reply.value.code == ErrorCode.POLICY_VIOLATION


def test_what_is_asked_while_a_decision_breathes_is_decided_after_it() -> None:
    world = NodeWorld().open()
    order: list[str] = []
    replies: list[object] = []

    def second(controller: object, now_ms: int) -> Decision[Any]:
        order.append("second")
        return Decision(reply=2)

    def third(controller: object, now_ms: int) -> Decision[Any]:
        order.append("third")
        return Decision(reply=3)

    def first(controller: object, now_ms: int) -> Decision[Any]:
        world.controller.run(second).on_resolved(replies.append)
        world.controller.run(second).on_resolved(replies.append)
        order.append("first")
        return Decision(reply=1)

    slices = Waiting()
    world.controller._slices = slices
    assert world.controller.run(first).value == 1
    world.controller.run(third).on_resolved(replies.append)
    assert order == ["first"]
    for _ in range(3):
        slices.go_on()
    assert order == ["first", "second", "second", "third"]
    assert replies == [2, 2, 3]
    assert slices.jobs == []


def test_a_bug_in_a_decision_that_waited_is_its_answer() -> None:
    world = NodeWorld().open()
    replies: list[object] = []

    def broken(controller: object, now_ms: int) -> Decision[Any]:
        raise ZeroDivisionError

    def first(controller: object, now_ms: int) -> Decision[Any]:
        world.controller.run(broken).on_resolved(replies.append)
        return Decision(reply=1)

    assert world.controller.run(first).value == 1
    assert [type(reply) for reply in replies] == [ZeroDivisionError]


def test_a_decision_that_breathes_while_leadership_is_lost_is_not_taken() -> None:
    world = NodeWorld().open()

    def decide(controller: object, now_ms: int) -> Decision[Any]:
        world.controller.deactivate()
        return Decision(records=[MetadataRecord(NoOpRecord())], reply="done")

    reply = world.controller.run(decide)
    assert isinstance(reply.value, KafkaError)
    assert reply.value.code == ErrorCode.NOT_CONTROLLER
    assert not world.fatal


class Sliced:
    """Slices that a test looks at; each breath calls `at_breath`."""

    def __init__(self) -> None:
        self.jobs: list[str] = []
        self.at_breath: Callable[[], None] = lambda: None

    is_running = False

    def run(
        self,
        name: str,
        job: Callable[[], object],
        is_wanted: Callable[[], bool] = lambda: True,
        after_slice: Callable[[], None] = go_on,
    ) -> Deferred:
        self.jobs.append(name)
        return InOneGo().run(name, job, is_wanted)

    def hold(self, is_held: bool) -> None:
        """Every job is wanted."""

    def breathe(self) -> None:
        self.at_breath()

    def apart(self, work: Callable[[], object]) -> None:
        work()

    def close(self) -> None:
        pass


class Waiting(Sliced):
    """Slices whose jobs run one by one, when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[tuple[Callable[[], object], Deferred]] = []

    def run(
        self,
        name: str,
        job: Callable[[], object],
        is_wanted: Callable[[], bool] = lambda: True,
        after_slice: Callable[[], None] = go_on,
    ) -> Deferred:
        self.jobs.append(name)
        self._waiting.append((job, Deferred()))
        return self._waiting[-1][1]

    def go_on(self) -> None:
        self.jobs.pop(0)
        job, deferred = self._waiting.pop(0)
        deferred.resolve(job())


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> tuple[NodeWorld, Sliced]:
    """A node whose controller appends five records at a time."""
    monkeypatch.setattr(controller_driver, "PIECE_RECORDS", 5)
    world = NodeWorld().open()
    sliced = Sliced()
    world.controller._slices = sliced
    return world, sliced


def no_ops(count: int, *, atomic: bool) -> Callable[[object, int], Decision[MetadataRecord]]:
    records = [MetadataRecord(NoOpRecord())] * count
    return lambda controller, now_ms: Decision(records=records, reply="done", atomic=atomic)


@pytest.mark.parametrize(("atomic", "ends"), [(False, [0, 5, 10, 12]), (True, [0, 12])])
def test_a_long_decision_is_appended_in_pieces_unless_it_is_atomic(
    pieces: tuple[NodeWorld, Sliced], atomic: bool, ends: list[int]
) -> None:
    world, sliced = pieces
    first = world.node.raft.log.log.next_offset
    seen: list[int] = []
    sliced.at_breath = lambda: seen.append(world.node.raft.log.log.next_offset - first)
    reply = world.controller.run(no_ops(12, atomic=atomic))
    assert reply.value == "done"
    assert sorted({*seen, world.node.raft.log.log.next_offset - first}) == ends


@pytest.mark.parametrize("at", [1, 6, 11, 12, 17])
def test_leadership_that_is_lost_in_a_breath_ends_the_decision(
    pieces: tuple[NodeWorld, Sliced], at: int
) -> None:
    """While the first piece is encoded or replayed, between two pieces, and again."""
    world, sliced = pieces
    breaths: list[None] = []

    def lose() -> None:
        breaths.append(None)
        if len(breaths) == at:
            world.controller.deactivate()

    sliced.at_breath = lose
    reply = world.controller.run(no_ops(12, atomic=False))
    assert isinstance(reply.value, KafkaError)
    assert reply.value.code == ErrorCode.NOT_CONTROLLER
    assert not world.fatal


def test_control_records_that_are_appended_during_a_replay_come_before_it(
    pieces: tuple[NodeWorld, Sliced],
) -> None:
    world, sliced = pieces
    raft, driver = world.node.raft, world.controller
    first = raft.log.log.next_offset
    breaths: list[int] = []

    def append_voters() -> None:
        assert driver.controller is not None
        breaths.append(driver.controller.state.next_offset)
        if len(breaths) == 8:  # six records are encoded, the second is replayed
            raft.append_voters(raft.raft.voters)

    sliced.at_breath = append_voters
    assert driver.run(no_ops(6, atomic=True)).value == "done"
    assert breaths == [first] * 12
    assert driver.controller is not None
    assert driver.controller.state.next_offset == raft.log.log.next_offset == first + 7


def test_a_leader_that_resigns_during_a_replay_forgets_it(
    pieces: tuple[NodeWorld, Sliced], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, sliced = pieces
    raft = world.node.raft
    end = raft.log.log.next_offset
    breaths: list[None] = []

    def resign() -> None:
        breaths.append(None)
        if len(breaths) == 8:
            monkeypatch.setattr(world.controller, "on_leader", lambda is_me, epoch: None)
            raft.resign()

    sliced.at_breath = resign
    reply = world.controller.run(no_ops(6, atomic=True))
    assert isinstance(reply.value, KafkaError)
    assert reply.value.code == ErrorCode.NOT_CONTROLLER
    assert (world.controller.controller, raft.log.log.next_offset) == (None, end)


def test_what_changes_many_partitions_is_decided_in_slices(
    pieces: tuple[NodeWorld, Sliced], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, sliced = pieces
    world.settle(world.create("t"))
    assert world.controller.controller is not None
    broker = world.controller.controller.image.brokers[1]
    beat = BrokerHeartbeatRequest(broker_id=1, broker_epoch=broker.epoch, want_fence=True)
    monkeypatch.setattr(brokers, "MANY_PARTITIONS", 2)
    assert world.controller.submit(beat, 1).value.is_fenced
    assert sliced.jobs == []
    monkeypatch.setattr(brokers, "MANY_PARTITIONS", 1)
    beat.want_fence, beat.current_metadata_offset = False, 1 << 40
    assert not world.controller.submit(beat, 1).value.is_fenced
    assert sliced.jobs == ["BrokerHeartbeatRequest"]


def test_a_bug_in_a_sliced_decision_is_not_lost(
    pieces: tuple[NodeWorld, Sliced], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, _ = pieces

    def broken(*_: object) -> Decision[Any]:
        raise ZeroDivisionError

    monkeypatch.setattr(controller_driver, "takes_long", lambda controller, message: True)
    monkeypatch.setattr(controller_driver, "decide", broken)
    reply = world.controller.submit(BrokerHeartbeatRequest(), 1)
    assert isinstance(reply.value, ZeroDivisionError)


def test_who_waits_when_leadership_is_lost_is_told() -> None:
    world = NodeWorld(inline=False).open()
    waiting = world.create("t")
    world.controller.deactivate()
    assert isinstance(waiting.value, KafkaError)
    assert waiting.value.code == ErrorCode.NOT_CONTROLLER
    late = world.create("u")
    assert late.value.code == ErrorCode.NOT_CONTROLLER


def test_a_decision_that_cannot_be_replayed_stops_the_node() -> None:
    from pykbroker.protocol.messages.remove_topic_record import RemoveTopicRecord

    world = NodeWorld().open()
    nonsense = MetadataRecord(RemoveTopicRecord(topic_id=b"x" * 16))
    reply = world.controller.run(lambda controller, now_ms: Decision(records=[nonsense]))
    assert isinstance(reply.value, KafkaError)
    assert len(world.fatal) == 1
    assert not world.controller.is_active


def test_a_broker_that_falls_silent_is_fenced() -> None:
    world = NodeWorld().open()
    world.node.broker.stop()
    world.scheduler.advance(8_000)
    assert not world.watcher.image.brokers[1].fenced
    world.scheduler.advance(5_000)
    assert world.watcher.image.brokers[1].fenced


def test_replies_come_in_the_order_of_their_decisions() -> None:
    world = NodeWorld(inline=False).open()
    order: list[int] = []

    def note(number: int, reply: object) -> None:
        order.append(number)

    for number in range(5):
        reply = world.create(f"t{number}")
        reply.on_resolved(partial(note, number))
    world.scheduler.run_jobs()
    assert order == [0, 1, 2, 3, 4]


def test_losing_leadership_drops_what_was_not_committed() -> None:
    world = NodeWorld(inline=False).open()
    world.settle(world.create("committed"))
    lost = world.create("lost")
    driver = world.controller
    assert driver.controller is not None
    assert set(driver.controller.image.topics_by_name) == {"committed", "lost"}
    driver.on_leader(False, 2)
    assert lost.value.code == ErrorCode.NOT_CONTROLLER
    driver.on_leader(True, 3)
    assert driver.controller is not None
    assert set(driver.controller.image.topics_by_name) == {"committed"}
    assert driver.controller.image is world.node.image


@pytest.fixture
def long_terms(monkeypatch: pytest.MonkeyPatch) -> tuple[NodeWorld, Sliced]:
    """A node with three partitions, which are too many for a term that begins without a pause."""
    monkeypatch.setattr(node_driver, "INDEXED_AT_ONCE", 2)
    world = NodeWorld().open()
    for name in "abc":
        world.create(name)
    world.controller.on_leader(False, 2)
    sliced = Sliced()
    world.controller._slices = sliced
    monkeypatch.setattr(world.node, "_slices", sliced)
    return world, sliced


def test_the_term_of_very_many_partitions_begins_in_slices(
    long_terms: tuple[NodeWorld, Sliced],
) -> None:
    world, sliced = long_terms
    active: list[bool] = []
    sliced.at_breath = lambda: active.append(world.controller.is_active)
    world.controller.on_leader(True, 3)
    assert sliced.jobs == ["beginning of a term"]
    assert active == [False] * 3  # before each partition; so few names need no breath
    controller = world.controller.controller
    assert controller is not None
    assert len(list(controller.state.index.in_sync(1))) == 3


@pytest.mark.parametrize("next_epoch", [None, 5])
def test_a_term_that_is_over_before_it_has_begun(
    long_terms: tuple[NodeWorld, Sliced], next_epoch: int | None
) -> None:
    world, sliced = long_terms

    def lose() -> None:
        sliced.at_breath = lambda: None
        world.controller.on_leader(False, 4)
        if next_epoch is not None:
            world.controller.on_leader(True, next_epoch)

    sliced.at_breath = lose
    world.controller.on_leader(True, 3)
    assert world.controller.is_active == (next_epoch is not None)
    assert len(sliced.jobs) == (1 if next_epoch is None else 2)
    assert not world.fatal


def test_a_fault_at_the_beginning_of_a_term_ends_the_node(
    long_terms: tuple[NodeWorld, Sliced],
) -> None:
    world, sliced = long_terms
    fault = ZeroDivisionError()

    def fail() -> None:
        raise fault

    sliced.at_breath = fail
    world.controller.on_leader(True, 3)
    assert world.fatal == [fault]


def test_a_new_term_gives_every_unfenced_broker_a_session() -> None:
    world = NodeWorld().open()
    world.node.broker.stop()
    world.scheduler.advance(8_000)
    world.controller.on_leader(False, 2)
    world.controller.on_leader(True, 3)
    world.scheduler.advance(8_000)
    assert not world.watcher.image.brokers[1].fenced
    world.scheduler.advance(5_000)
    assert world.watcher.image.brokers[1].fenced


@pytest.mark.parametrize(
    ("method", "config", "interval_ms"),
    [
        ("balance_leaders", {"leader_imbalance_check_interval_seconds": "7"}, 7_000),
        ("elect_unclean_leaders", {"unclean_leader_election_interval_ms": "7000"}, 7_000),
        ("balance_leaders", {"auto_leader_rebalance_enable": "false"}, None),
    ],
)
def test_elections_by_the_clock(
    method: str, config: dict[str, Any], interval_ms: int | None
) -> None:
    world = NodeWorld(**config).open()
    more_to_elect = [True, True, False, False]
    asked: list[int] = []

    def elect() -> Decision[Any]:
        asked.append(world.scheduler.now_ms)
        return Decision(reply=more_to_elect.pop(0))

    setattr(world.controller.controller, method, elect)
    begin_ms = world.scheduler.now_ms
    world.scheduler.advance(6_999)
    assert asked == []
    world.scheduler.advance(7_001 if interval_ms else 600_000)
    times = [at_ms - begin_ms for at_ms in asked]
    assert times == ([7_000, 7_000, 7_000, 14_000] if interval_ms else [])


def test_elections_by_the_clock_are_held_in_slices(caplog: pytest.LogCaptureFixture) -> None:
    world = NodeWorld().open()
    world.settle(world.create("t", partitions=3))
    sliced = Sliced()
    world.controller._slices = sliced
    controller = world.controller.controller
    assert controller is not None
    breaths: list[None] = []
    sliced.at_breath = lambda: breaths.append(None)
    world.node.broker.stop()
    broker = controller.image.brokers[1]
    beat = BrokerHeartbeatRequest(broker_id=1, broker_epoch=broker.epoch, want_fence=True)
    assert world.settle(world.controller.submit(beat, 1)).is_fenced
    controller.state.breathe = sliced.breathe
    sliced.jobs.clear()
    breaths.clear()
    world.controller._balance_leaders()
    assert (sliced.jobs, len(breaths)) == (["elections"], 3)
    world.controller._elect_unclean_leaders()
    assert (sliced.jobs, len(breaths)) == (["elections"] * 2, 6)
    controller.balance_leaders = None  # type: ignore[method-assign, assignment]
    world.controller._balance_leaders()
    assert "A periodic task of the controller failed" in caplog.text


def test_a_broker_that_cannot_be_fenced_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    world = NodeWorld().open()
    controller = world.controller.controller
    assert controller is not None
    controller.has_stale_broker = lambda now_ms: True  # type: ignore[method-assign]
    controller.fence_stale_broker = None  # type: ignore[method-assign, assignment]
    world.controller._fence_stale_brokers()
    assert "A periodic task of the controller failed" in caplog.text
