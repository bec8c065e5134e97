"""Reassignment plans: the JSON that `pykbroker reassign` reads and prints.

    {"version": 1, "partitions": [
      {"topic": "foo", "partition": 1, "replicas": [1, 2], "log_dirs": ["any", "/data"]}]}

`log_dirs` may be left out; "any" leaves the directory to the broker.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from pykbroker.cli.command import CommandError
from pykbroker.cli.dump_records import compact
from pykbroker.cli.json_files import entries, read_json_object
from pykbroker.values import NamedTuple

ANY_DIRECTORY: Final = "any"

# (topic, number), and the same followed by the id of a broker.
Partition = tuple[str, int]
Replica = tuple[str, int, int]


class Plan(NamedTuple):
    """The requested replicas of partitions in file order, and the directories of replicas."""

    partitions: list[tuple[Partition, list[int]]]
    directories: dict[Replica, str]


def partition_name(partition: Partition) -> str:
    """Return `foo-1`."""
    return f"{partition[0]}-{partition[1]}"


def replica_name(replica: Replica) -> str:
    """Return `foo-1-3`: broker 3's replica of foo-1."""
    return "-".join(map(str, replica))


def by_broker(replicas: Iterable[Replica]) -> list[Replica]:
    """Sort by broker, topic and partition."""
    return sorted(replicas, key=lambda each: (each[2], each[0], each[1]))


def comma(values: Iterable[object]) -> str:
    return ",".join(map(str, values))


def read_plan(file: str) -> Plan:
    """Return the plan in a file; it may still contain partitions twice."""
    root = read_json_object(file)
    plan = Plan([], {})
    kinds = {"topic": str, "partition": int, "replicas": list}
    for each in entries({"partitions": [], **root}, "partitions", kinds):
        partition = each["topic"], each["partition"]
        replicas = _elements(each, "replicas", int)
        directories = [ANY_DIRECTORY] * len(replicas)
        if "log_dirs" in each:
            directories = _elements(each, "log_dirs", str)
        if len(directories) != len(replicas):
            raise CommandError(
                f"Size of replicas list {replicas} is different from size of log dirs list "
                f"[{', '.join(directories)}] for partition {partition_name(partition)}"
            )
        plan.partitions.append((partition, replicas))
        for broker, directory in zip(replicas, directories, strict=True):
            if directory != ANY_DIRECTORY:
                plan.directories[*partition, broker] = directory
    return plan


def _elements(entry: Mapping[str, Any], field: str, kind: type) -> list[Any]:
    found = entry[field]
    if not isinstance(found, list) or any(type(each) is not kind for each in found):
        raise CommandError(f'Missing or wrong field "{field}" in {json.dumps(entry)}')
    return found


def executable(plan: Plan) -> dict[Partition, list[int]]:
    """Return the requested replicas by partition; raises CommandError for a plan that cannot be
    executed.
    """
    if not plan.partitions:
        raise CommandError("Partition reassignment list cannot be empty")
    if any(not replicas for _, replicas in plan.partitions):
        raise CommandError("Partition replica list cannot be empty")
    twice = duplicates(partition for partition, _ in plan.partitions)
    if twice:
        raise CommandError(
            "Partition reassignment contains duplicate topic partitions: "
            f"{comma(map(partition_name, twice))}"
        )
    faults = [
        f"{partition_name(partition)} contains multiple entries for {comma(repeated)}"
        for partition, replicas in plan.partitions
        if (repeated := duplicates(replicas))
    ]
    if faults:
        raise CommandError(
            f"Partition replica lists may not contain duplicate entries: {'. '.join(faults)}"
        )
    return dict(plan.partitions)


def duplicates(values: Iterable[Any]) -> list[Any]:
    """Return those that occur more than once, sorted."""
    return sorted(each for each, count in Counter(values).items() if count > 1)


def as_json(
    assignment: Mapping[Partition, Collection[int]], directories: Mapping[Replica, str]
) -> str:
    """Return a plan in one line, sorted, as the script prints it."""
    partitions = [
        {
            "topic": topic,
            "partition": number,
            "replicas": list(brokers),
            "log_dirs": [
                directories.get((topic, number, broker), ANY_DIRECTORY) for broker in brokers
            ],
        }
        for (topic, number), brokers in sorted(assignment.items())
    ]
    return compact({"version": 1, "partitions": partitions})


def read_topics(file: str) -> list[str]:
    """Return the topics for --generate: {"version": 1, "topics": [{"topic": "foo"}]}."""
    root = {"topics": [], **read_json_object(file)}
    topics = [each["topic"] for each in entries(root, "topics", {"topic": str}, "topic")]
    twice = duplicates(topics)
    if twice:
        raise CommandError(
            f"List of topics to reassign contains duplicate entries: [{', '.join(twice)}]"
        )
    return topics
