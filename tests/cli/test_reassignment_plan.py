from __future__ import annotations

import json
from pathlib import Path

import pytest

from pykbroker.cli.command import CommandError
from pykbroker.cli.reassignment_plan import (
    Plan,
    as_json,
    by_broker,
    executable,
    read_plan,
    read_topics,
    replica_name,
)


def written(directory: Path, content: object) -> str:
    file = directory / "plan.json"
    file.write_text(json.dumps(content))
    return str(file)


def entry(number: int, replicas: object, **more: object) -> dict[str, object]:
    return {"topic": "a", "partition": number, "replicas": replicas, **more}


def test_a_plan_is_read(tmp_path: Path) -> None:
    partitions = [entry(1, [2, 3], log_dirs=["any", "/x"]), entry(0, [1])]
    plan = read_plan(written(tmp_path, {"version": 1, "partitions": partitions}))
    assert plan == Plan([(("a", 1), [2, 3]), (("a", 0), [1])], {("a", 1, 3): "/x"})
    assert executable(plan) == {("a", 1): [2, 3], ("a", 0): [1]}
    assert read_plan(written(tmp_path, {})) == Plan([], {})


def test_a_plan_is_printed_in_the_order_of_partitions() -> None:
    assignment = {("b", 0): [2], ("a", 10): [1, 2], ("a", 9): [3]}
    text = as_json(assignment, {("a", 10, 2): "/x"})
    assert text == (
        '{"version":1,"partitions":['
        '{"topic":"a","partition":9,"replicas":[3],"log_dirs":["any"]},'
        '{"topic":"a","partition":10,"replicas":[1,2],"log_dirs":["any","/x"]},'
        '{"topic":"b","partition":0,"replicas":[2],"log_dirs":["any"]}]}'
    )


def test_replicas_are_sorted_by_broker() -> None:
    replicas = [("b", 0, 1), ("a", 0, 2), ("a", 3, 1)]
    assert list(map(replica_name, by_broker(replicas))) == ["a-3-1", "b-0-1", "a-0-2"]


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        (entry(0, "1,2"), 'Missing or wrong field "replicas"'),
        (entry(0, [True]), 'Missing or wrong field "replicas"'),
        (entry(0, [1], log_dirs="any"), 'Missing or wrong field "log_dirs"'),
        (entry(0, [1], log_dirs=[1]), 'Missing or wrong field "log_dirs"'),
        (
            entry(0, [1, 2], log_dirs=["any"]),
            r"list \[1, 2\] is different from size of log dirs list \[any\] for partition a-0",
        ),
    ],
)
def test_plans_that_cannot_be_read(tmp_path: Path, partition: object, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        read_plan(written(tmp_path, {"partitions": [partition]}))


@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        ([], "Partition reassignment list cannot be empty"),
        ([(("a", 0), [])], "Partition replica list cannot be empty"),
        ([(("a", 0), [1]), (("a", 0), [2])], "contains duplicate topic partitions: a-0"),
        (
            [(("a", 0), [1, 2, 1]), (("a", 1), [3, 3])],
            "entries: a-0 contains multiple entries for 1. a-1 contains multiple entries for 3",
        ),
    ],
)
def test_plans_that_cannot_be_carried_out(
    partitions: list[tuple[tuple[str, int], list[int]]], message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        executable(Plan(partitions, {}))


def test_topics(tmp_path: Path) -> None:
    topics = [{"topic": "b"}, {"topic": "a"}]
    assert read_topics(written(tmp_path, {"topics": topics})) == ["b", "a"]
    assert read_topics(written(tmp_path, {})) == []
    with pytest.raises(CommandError, match=r"contains duplicate entries: \[b\]"):
        read_topics(written(tmp_path, {"topics": [*topics, {"topic": "b"}]}))
