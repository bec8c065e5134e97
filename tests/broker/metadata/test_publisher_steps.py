"""The replica manager takes the metadata in, and what that resolves leaves soon."""

from __future__ import annotations

from typing import Any

from pykbroker.broker.metadata.publisher_steps import ReplicaManagerStep


class Told:
    def __init__(self) -> None:
        self.heard: list[Any] = []

    def apply(self, *what: Any) -> None:
        self.heard.append(what)


def test_the_replica_manager_is_told_the_time_and_a_turn_follows() -> None:
    manager: Any = Told()
    woken: list[str] = []
    step = ReplicaManagerStep(manager, lambda: 77, lambda: woken.append("turn"))
    step.apply("delta", "image")  # type: ignore[arg-type]
    assert manager.heard == [("delta", "image", 77)]
    assert woken == ["turn"]
