"""What each metadata.version changes, and which clusters can be served."""

from __future__ import annotations

import pytest

from pykbroker.kraft.metadata_version import (
    metadata_version_name,
    partition_record_version,
    register_broker_record_version,
    unsupported_features,
)


@pytest.mark.parametrize(
    ("level", "name", "partition", "broker"),
    [
        (7, "3.3-IV3", 0, 1),
        (8, "3.4-IV0", 0, 2),
        (16, "3.7-IV1", 0, 2),
        (17, "3.7-IV2", 1, 3),
        (23, "4.0-IV1", 2, 3),
        (30, "4.3-IV0", 2, 4),
        (33, "4.4-IV2", 2, 4),
    ],
)
def test_levels(level: int, name: str, partition: int, broker: int) -> None:
    assert metadata_version_name(level) == name
    assert partition_record_version(level) == partition
    assert register_broker_record_version(level) == broker


def test_what_is_not_built_is_named() -> None:
    assert unsupported_features({"metadata.version": 33, "kraft.version": 1}) == []
    assert unsupported_features({"group.version": 0, "transaction.version": 2}) == []
    (reason,) = unsupported_features({"share.version": 1, "metadata.version": 20})
    assert reason.startswith("share.version is finalised at 1")
    (reason,) = unsupported_features({"metadata.version": 34})
    assert "outside 7 to 33" in reason
