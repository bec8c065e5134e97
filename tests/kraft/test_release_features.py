from __future__ import annotations

import pytest

from pykbroker.kraft.release_features import dependencies, dependency_fault, release_levels

NAMES = (
    "kraft.version",
    "transaction.version",
    "group.version",
    "eligible.leader.replicas.version",
    "share.version",
    "streams.version",
)


@pytest.mark.parametrize(
    ("metadata_version", "levels"),
    [
        (20, (0, 0, 0, 0, 0, 0)),
        (21, (1, 0, 0, 0, 0, 0)),
        (23, (1, 0, 1, 0, 0, 0)),
        (24, (1, 2, 1, 0, 0, 0)),
        (26, (1, 2, 1, 1, 0, 0)),
        (28, (1, 2, 1, 1, 1, 0)),
        (29, (1, 2, 1, 1, 1, 1)),
        (31, (1, 2, 1, 1, 2, 1)),
    ],
)
def test_levels_of_a_release(metadata_version: int, levels: tuple[int, ...]) -> None:
    assert release_levels(metadata_version) == dict(zip(NAMES, levels, strict=True))


def test_dependencies() -> None:
    assert dependencies("eligible.leader.replicas.version", 1) == {"metadata.version": 23}
    assert dependencies("eligible.leader.replicas.version", 0) == {}
    assert dependencies("share.version", 2) == {}
    assert dependencies("share.version", 3) is None
    assert dependencies("share.version", -1) is None


def test_a_level_without_what_it_needs() -> None:
    name = "eligible.leader.replicas.version"
    assert dependency_fault(name, 1, {"metadata.version": 22}) == (
        f"{name} could not be set to 1 because it depends on metadata.version level 23"
    )
    assert dependency_fault(name, 1, {}) is not None
    assert dependency_fault(name, 1, {"metadata.version": 23}) is None
    assert dependency_fault(name, 0, {}) is None
