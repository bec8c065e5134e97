"""A controller keeps itself registered, against an active controller that the test plays."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller_registration_driver import PAUSE_MS, ControllerRegistrationDriver
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_version import METADATA_VERSION
from pykbroker.kraft.registration import ControllerRegistration
from pykbroker.protocol.messages.controller_registration_request import (
    ControllerRegistrationRequest,
)
from pykbroker.protocol.messages.controller_registration_response import (
    ControllerRegistrationResponse,
)
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.kraft.node_world import ManualScheduler

OURS, EARLIER = b"o" * 16, b"e" * 16


class Play:
    def __init__(self, level: int = 33) -> None:
        self.level = level
        self.scheduler = ManualScheduler(0, MemoryFiles())
        self.sent: list[Deferred] = []
        self.image = self.image_with(None)
        self.driver = ControllerRegistrationDriver(
            request=ControllerRegistrationRequest(controller_id=3, incarnation_id=OURS),
            send=self.send,
            image=lambda: self.image,
            scheduler=self.scheduler,
        )

    def send(self, request: Any) -> Deferred:
        self.sent.append(Deferred())
        return self.sent[-1]

    def image_with(self, incarnation_id: bytes | None) -> MetadataImage:
        controllers = {}
        if incarnation_id is not None:
            controllers[3] = ControllerRegistration(3, incarnation_id, {}, {})
        return MetadataImage(features={METADATA_VERSION: self.level}, controllers=controllers)

    def accept(self) -> None:
        """Answer the last request; its record arrives here before the next look."""
        self.sent[-1].resolve(ControllerRegistrationResponse())
        self.image = self.image_with(OURS)
        self.scheduler.advance(PAUSE_MS)


@pytest.mark.parametrize("before", [None, EARLIER])
def test_it_registers_once(before: bytes | None) -> None:
    play = Play()
    play.image = play.image_with(before)
    for _ in range(3):
        play.driver.look()
    assert len(play.sent) == 1
    play.accept()
    play.driver.look()
    assert len(play.sent) == 1


def test_a_refusal_is_repeated() -> None:
    play = Play()
    play.driver.look()
    for tries in range(1, 4):
        assert len(play.sent) == tries
        play.sent[-1].resolve(KafkaError(ErrorCode.NOT_CONTROLLER))
        play.driver.look()
        assert len(play.sent) == tries
        play.scheduler.advance(PAUSE_MS)


def test_a_registration_that_was_removed_is_made_again() -> None:
    play = Play()
    play.driver.look()
    play.accept()
    play.image = play.image_with(None)
    play.driver.look()
    assert len(play.sent) == 2


def test_the_record_of_an_accepted_one_may_arrive_later() -> None:
    play = Play()
    play.driver.look()
    play.sent[-1].resolve(ControllerRegistrationResponse())
    play.driver.look()  # at the commit of another record
    play.image = play.image_with(OURS)
    play.scheduler.advance(PAUSE_MS)
    assert len(play.sent) == 1


def test_an_old_metadata_version_has_no_such_record() -> None:
    play = Play(level=14)
    play.driver.look()
    assert play.sent == []
    play.level = 15
    play.image = play.image_with(None)
    play.driver.look()
    assert len(play.sent) == 1


def test_nothing_is_sent_once_it_is_stopped() -> None:
    play = Play()
    play.driver.look()
    play.driver.stop()
    play.sent[-1].resolve(KafkaError(ErrorCode.NOT_CONTROLLER))
    play.scheduler.advance(10 * PAUSE_MS)
    play.driver.look()
    assert len(play.sent) == 1
