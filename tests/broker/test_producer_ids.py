"""Producer ids from blocks: at once, waiting, refused."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.producer_ids import ProducerIds
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.allocate_producer_ids_response import AllocateProducerIdsResponse


class Controller:
    """Remembers what it was asked; the test answers."""

    def __init__(self) -> None:
        self.asked: list[Deferred] = []

    def ask(self) -> Deferred:
        self.asked.append(Deferred())
        return self.asked[-1]

    def give(self, start: int, length: int) -> None:
        self.asked[-1].resolve(
            AllocateProducerIdsResponse(producer_id_start=start, producer_id_len=length)
        )


def test_the_first_waits_for_a_block_and_later_ones_do_not() -> None:
    controller = Controller()
    ids = ProducerIds(controller.ask)
    waiting = [ids.take(), ids.take()]
    assert len(controller.asked) == 1
    controller.give(1000, 10)
    assert [w.value for w in waiting if isinstance(w, Deferred)] == [1000, 1001]
    assert ids.take() == 1002


def test_the_next_block_is_asked_for_before_the_end() -> None:
    controller = Controller()
    ids = ProducerIds(controller.ask)
    ids.take()
    controller.give(0, 10)
    taken: list[Any] = [ids.take() for _ in range(8)]
    assert taken == [1, 2, 3, 4, 5, 6, 7, 8]
    assert len(controller.asked) == 1
    assert ids.take() == 9
    assert len(controller.asked) == 2
    controller.give(50, 10)
    assert ids.take() == 50


def test_waiting_ones_beyond_a_short_block_wait_for_the_next() -> None:
    controller = Controller()
    ids = ProducerIds(controller.ask)
    waiting = [ids.take() for _ in range(3)]
    controller.give(0, 2)
    controller.give(7, 2)
    assert [w.value for w in waiting if isinstance(w, Deferred)] == [0, 1, 7]


def test_refusals_are_retriable_and_the_next_request_asks_again() -> None:
    controller = Controller()
    ids = ProducerIds(controller.ask)
    first, second = ids.take(), None
    controller.asked[-1].resolve(KafkaError(ErrorCode.STALE_BROKER_EPOCH))
    second = ids.take()
    controller.asked[-1].resolve(
        AllocateProducerIdsResponse(error_code=ErrorCode.BROKER_ID_NOT_REGISTERED)
    )
    for waiting in (first, second):
        assert isinstance(waiting, Deferred)
        assert waiting.value.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert len(controller.asked) == 2


def test_a_block_that_was_given_before_is_not_used(caplog: pytest.LogCaptureFixture) -> None:
    controller = Controller()
    ids = ProducerIds(controller.ask)
    ids.take()
    controller.give(100, 2)
    assert ids.take() == 101
    waiting = ids.take()
    controller.give(100, 2)
    assert isinstance(waiting, Deferred)
    assert waiting.value.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert "block at 100, below 102" in caplog.text
