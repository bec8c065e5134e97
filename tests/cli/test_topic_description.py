"""`pykbroker topics --describe`: which partitions, in which form."""

from __future__ import annotations

import json

from tests.cli.conftest import Run


def test_reports(ask: Run, topic: str) -> None:
    describe = ("--describe", "--topic", topic)
    for flag in ("under-replicated", "unavailable", "under-min-isr"):
        assert ask("topics", *describe, f"--{flag}-partitions").out == ""
    assert len(ask("topics", *describe, "--at-min-isr-partitions").lines) == 2


def test_by_id_json_and_many_answers(ask: Run, topic: str) -> None:
    (described,) = json.loads(ask("topics", "--describe", "--topic", topic, "--json").out)
    assert described["topic"] == topic
    assert described["partitions"][1] == {
        "partition": 1,
        "leader": 1,
        "replicas": [1],
        "isr": [1],
        "elr": described["partitions"][1]["elr"],
        "lastKnownElr": described["partitions"][1]["lastKnownElr"],
    }
    by_id = ask("topics", "--describe", "--topic-id", described["topicId"])
    assert by_id.out == ask("topics", "--describe", "--topic", topic).out
    small = ("--partition-size-limit-per-response", "1")
    assert ask("topics", "--describe", "--topic", topic, *small).out == by_id.out
    assert topic in json.loads(ask("topics", "--list", "--json").out)
