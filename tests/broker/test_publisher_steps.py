"""The group coordinator is made when it is needed, and hears everything either way."""

from __future__ import annotations

from typing import Any

from pykbroker.broker.publisher_steps import GroupsStep, ReplicaManagerStep
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC


class Told:
    def __init__(self) -> None:
        self.heard: list[Any] = []

    def apply(self, *what: Any) -> None:
        self.heard.append(what)


class Server:
    def __init__(self) -> None:
        self.groups_if_made: Told | None = None
        self.replica_manager = Told()
        self.woken = 0

    @property
    def groups(self) -> Told:
        self.groups_if_made = Told()
        return self.groups_if_made

    def now_ms(self) -> int:
        return 77

    def wake(self) -> None:
        self.woken += 1


class Image:
    def __init__(self, *topics: str) -> None:
        self.topics_by_name = dict.fromkeys(topics)


def test_without_its_topic_there_is_no_coordinator() -> None:
    server: Any = Server()
    GroupsStep(server).apply("delta", Image("mine"))  # type: ignore[arg-type]
    assert server.groups_if_made is None


def test_its_topic_makes_it() -> None:
    server: Any = Server()
    GroupsStep(server).apply("delta", Image(GROUP_METADATA_TOPIC))  # type: ignore[arg-type]
    assert server.groups_if_made is not None
    assert server.groups_if_made.heard == []  # it was told all when it was made


def test_once_made_it_hears_every_change() -> None:
    server: Any = Server()
    image = Image("mine")
    groups = server.groups
    GroupsStep(server).apply("delta", image)  # type: ignore[arg-type]
    assert groups.heard == [("delta", image)]


def test_the_replica_manager_is_told_the_time_and_has_a_turn() -> None:
    server: Any = Server()
    ReplicaManagerStep(server).apply("delta", "image")  # type: ignore[arg-type]
    assert server.replica_manager.heard == [("delta", "image", 77)]
    assert server.woken == 1
