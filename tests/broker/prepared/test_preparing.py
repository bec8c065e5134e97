"""When something is prepared, tried and given up, and which frames are served with the first."""

from __future__ import annotations

import struct
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.prepared import (
    FIRST_PATIENCE,
    GATHERED,
    MISSED,
    SERVED,
    TRIES,
    PreparedRequest,
)
from pykbroker.broker.prepared.preparing import MOST_GATHERED, Preparing

HEARTBEAT = 12
VERSION = 4
NOW_MS = 17


class Prepared(PreparedRequest):
    """Returns the given outcomes in turn, and records the correlation ids."""

    def __init__(self, *outcomes: int) -> None:
        super().__init__()
        self.outcomes = outcomes
        self.asked: list[int] = []

    def serve(
        self,
        connection: Any,
        frame: bytes | bytearray,
        start: int,
        end: int,
        correlation_id: int,
        now_ms: int,
    ) -> int:
        assert now_ms == NOW_MS
        self.asked.append(correlation_id)
        at = min(len(self.asked), len(self.outcomes)) - 1
        return self.outcomes[at]


class Connection:
    """Frames that have arrived, and what was gathered of them."""

    def __init__(self, *frames: bytes) -> None:
        self.prepared: dict[int, PreparedRequest] = {}
        self.arrived = deque((frame, 0, len(frame)) for frame in frames)
        self.gathered = 0

    def next_frame(self) -> Any:
        return self.arrived[0] if self.arrived else None

    def gather(self, frame: Any) -> None:
        taken = self.arrived.popleft()
        assert frame is taken
        self.gathered += 1


def frame(correlation_id: int, version: int = VERSION) -> bytes:
    return struct.pack(">hhi", HEARTBEAT, version, correlation_id) + b"rest"


class Scene:
    """One connection, and a route that prepares what it is given."""

    def __init__(self, *following: bytes) -> None:
        self.connection: Any = Connection(*following)
        self.found: PreparedRequest | None = None
        self.prepared_for = 0
        self.route: Any = SimpleNamespace(request_count=0, prepare=self._prepare)
        routes: list[Any] = [None] * 20
        routes[HEARTBEAT] = self.route
        self.preparing = Preparing(routes)

    def _prepare(self, services: Any, request: Any, answer: Any) -> PreparedRequest | None:
        self.prepared_for += 1
        return self.found

    def remember(self, found: PreparedRequest | None) -> None:
        self.found = found
        request: Any = SimpleNamespace(
            connection=self.connection, api_key=HEARTBEAT, api_version=VERSION
        )
        self.preparing.remember(None, request, self.route, lambda *_: None)

    def serve(self, sent: bytes) -> bool:
        served = self.preparing.serve(self.connection, (sent, 0, len(sent)), NOW_MS)
        return served is self.route


def test_only_what_is_prepared_is_served() -> None:
    scene = Scene()
    assert not scene.serve(frame(1))
    prepared = Prepared(SERVED)
    scene.remember(prepared)
    assert not scene.serve(frame(2, version=3))
    assert not scene.serve(frame(3)[:7])
    assert scene.serve(frame(4))
    assert prepared.asked == [4]
    assert scene.route.request_count == 1


def test_what_may_be_answered_later_is_served_alone() -> None:
    scene = Scene(frame(2))
    scene.remember(Prepared(SERVED))
    assert scene.serve(frame(1))
    assert scene.connection.gathered == 0


@pytest.mark.parametrize(
    ("outcomes", "following", "gathered"),
    [
        ([GATHERED], [2, 3, 4], 3),
        ([GATHERED, GATHERED, SERVED], [2, 3, 4], 2),  # the second may wait: none after it
        ([GATHERED, GATHERED, MISSED], [2, 3, 4], 1),
        ([GATHERED], range(2, 60), MOST_GATHERED),
    ],
)
def test_frames_like_the_first_are_gathered(
    outcomes: list[int], following: Any, gathered: int
) -> None:
    scene = Scene(*(frame(number) for number in following))
    scene.remember(Prepared(*outcomes))
    assert scene.serve(frame(1))
    assert scene.connection.gathered == gathered
    assert scene.route.request_count == 1 + gathered


@pytest.mark.parametrize("other", [frame(3, version=3), b"short"])
def test_other_frames_end_a_pipeline(other: bytes) -> None:
    scene = Scene(frame(2), other, frame(4))
    scene.remember(Prepared(GATHERED))
    assert scene.serve(frame(1))
    assert scene.connection.gathered == 1


def test_what_never_matches_is_tried_and_prepared_ever_more_rarely() -> None:
    scene = Scene()
    scene.remember(Prepared(MISSED))
    counts = []
    for _ in range(4):
        before = scene.prepared_for
        tries = misses = 0
        while scene.prepared_for == before:
            known: Any = scene.connection.prepared[HEARTBEAT << 16 | VERSION]
            assert not scene.serve(frame(1))
            scene.remember(Prepared(MISSED))
            tries += len(known.asked) > tries
            misses += 1
        counts.append((tries, misses))
    assert counts == [(TRIES, FIRST_PATIENCE << turn) for turn in range(4)]


def test_what_cannot_be_prepared_is_prepared_ever_more_rarely() -> None:
    scene = Scene()
    scene.remember(Prepared(MISSED))
    prepared_at = []
    for number in range(1, 5 * FIRST_PATIENCE):
        before = scene.prepared_for
        scene.remember(None)
        if scene.prepared_for > before:
            prepared_at.append(number)
    assert prepared_at == [FIRST_PATIENCE, 2 * FIRST_PATIENCE, 4 * FIRST_PATIENCE]


def test_a_match_makes_it_as_patient_as_at_first() -> None:
    scene = Scene()
    scene.remember(Prepared(MISSED))
    prepared = Prepared(SERVED)
    for _ in range(FIRST_PATIENCE):
        scene.remember(prepared)
    assert scene.connection.prepared == {HEARTBEAT << 16 | VERSION: prepared}
    assert scene.serve(frame(1))
    before = scene.prepared_for
    for _ in range(FIRST_PATIENCE):
        scene.remember(None)
    assert scene.prepared_for == before + 1


def test_nothing_is_kept_if_the_api_has_no_use_for_it() -> None:
    scene = Scene()
    scene.remember(None)
    assert scene.connection.prepared == {}
