"""The errors of a coordinator's log, as its clients see them."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.coordinator_log import coordinator_error
from pykbroker.errors import ErrorCode


@pytest.mark.parametrize(
    ("of_the_log", "told"),
    [
        ("NOT_ENOUGH_REPLICAS", "COORDINATOR_NOT_AVAILABLE"),
        ("REQUEST_TIMED_OUT", "COORDINATOR_NOT_AVAILABLE"),
        ("UNKNOWN_TOPIC_OR_PARTITION", "COORDINATOR_NOT_AVAILABLE"),
        ("NOT_LEADER_OR_FOLLOWER", "NOT_COORDINATOR"),
        ("KAFKA_STORAGE_ERROR", "NOT_COORDINATOR"),
        ("MESSAGE_TOO_LARGE", "UNKNOWN_SERVER_ERROR"),
        ("RECORD_LIST_TOO_LARGE", "UNKNOWN_SERVER_ERROR"),
        ("NOT_COORDINATOR", "NOT_COORDINATOR"),
        ("COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_LOAD_IN_PROGRESS"),
    ],
)
def test_mapping(of_the_log: str, told: str) -> None:
    assert coordinator_error(ErrorCode[of_the_log]) == ErrorCode[told]
