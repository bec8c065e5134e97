from __future__ import annotations

import json
from typing import Any

import pytest

from pykbroker.cli.command import CommandError
from pykbroker.cli.console_formatters import PACKAGE, formatter_of
from tests.cli.consumed_record import Consumed

# Of Apache Kafka 4.4: group g, topic t, partition 0, offset 5.
COMMIT_KEY = b"\0\1\0\1g\0\1t\0\0\0\0"
COMMIT_VALUE = b"\0\3" + bytes(7) + b"\5" + b"\xff\xff\xff\xff" + b"\0\0" + bytes(8)


def shown(name: str, key: bytes | None, value: bytes | None) -> Any:
    line = formatter_of(f"{PACKAGE}{name}MessageFormatter", {}).format(Consumed(key, value))
    return json.loads(line) if line else None


def test_a_committed_offset() -> None:
    expected = {
        "key": {"type": 1, "data": {"group": "g", "topic": "t", "partition": 0}},
        "value": {
            "version": 3,
            "data": {"offset": 5, "leaderEpoch": -1, "metadata": "", "commitTimestamp": 0},
        },
    }
    assert shown("Offsets", COMMIT_KEY, COMMIT_VALUE) == expected
    assert shown("Offsets", COMMIT_KEY, None) == expected | {"value": None}
    assert shown("GroupMetadata", COMMIT_KEY, COMMIT_VALUE) is None


def test_a_transaction() -> None:
    key = b"\0\0\0\2tx"
    value = b"\0\0" + bytes(7) + b"\7" + b"\0\1" + b"\0\0\0\x3c" + b"\4" + b"\xff\xff\xff\xff"
    value += bytes(16)
    node = shown("TransactionLog", key, value)
    assert node["key"] == {"type": 0, "data": {"transactionalId": "tx"}}
    assert node["value"]["data"]["transactionStatus"] == "CompleteCommit"
    assert node["value"]["data"]["producerId"] == 7


def test_records_that_are_left_out() -> None:
    assert shown("Offsets", None, b"v") is None
    assert shown("TransactionLog", b"\0\x63", b"v") is None


def test_records_that_cannot_be_read() -> None:
    for key in (b"\0", b"\0\1\0\x7f"):
        with pytest.raises(CommandError, match="Could not read record at offset 7 due to"):
            shown("Offsets", key, b"")
