"""The replica that a consumer of a rack is sent to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.replication.read_replica import RackAwareSelector


def chosen(
    wanted: str = "b",
    offset: int = 5,
    *,
    is_leader: bool = True,
    in_sync: tuple[int, ...] = (1, 2, 3, 4),
    **changes: Any,
) -> int:
    """Node 1 leads, in rack a; 2 and 3 are in rack b, at 10 and 12; 4 in rack c."""
    racks = {1: "a", 2: "b", 3: "b", 4: "c"}
    brokers = {
        number: SimpleNamespace(rack=rack_of, fenced=False, listeners={"L": None})
        for number, rack_of in racks.items()
    }
    for name, value in changes.items():
        setattr(brokers[3], name, value)
    ends = {2: 10, 3: 12, 4: 12}
    followers = {
        number: SimpleNamespace(
            replica_id=number, log_start_offset=2, log_end_offset=end, caught_up_ms=number
        )
        for number, end in ends.items()
    }
    partition = SimpleNamespace(
        is_leader=is_leader, followers=followers, isr=SimpleNamespace(members=frozenset(in_sync))
    )
    image = SimpleNamespace(brokers=brokers)
    selector = RackAwareSelector(image, 1, wanted, "L")  # type: ignore[arg-type]
    return selector.choose(partition, offset)  # type: ignore[arg-type]


def test_the_one_of_the_rack_that_has_come_furthest() -> None:
    assert chosen("b") == 3
    assert chosen("c") == 4


def test_the_leader_in_its_own_rack_or_where_nobody_is() -> None:
    assert chosen("a") == -1
    assert chosen("z") == -1


@pytest.mark.parametrize(
    "changes", [{"fenced": True}, {"listeners": {}}, {"rack": None}], ids=lambda at: next(iter(at))
)
def test_who_cannot_serve(changes: dict[str, Any]) -> None:
    assert chosen("b", **changes) == 2


def test_only_who_is_in_sync_and_has_the_offset() -> None:
    assert chosen("b", in_sync=(1, 2)) == 2
    assert chosen("b", 11) == 3
    assert chosen("b", 12) == 3
    assert chosen("b", 13) == -1
    assert chosen("b", 2) == 3
    assert chosen("b", 1) == -1


def test_a_follower_sends_nobody_elsewhere() -> None:
    assert chosen("b", is_leader=False) == -1
