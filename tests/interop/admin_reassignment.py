"""The part of admin_script about leaders and reassignments, which also works on a lone broker."""

from __future__ import annotations

from collections.abc import Iterator

from pykbroker.protocol.messages import (
    alter_partition_reassignments_request as alter,
)
from pykbroker.protocol.messages import elect_leaders_request as elect
from pykbroker.protocol.messages import list_partition_reassignments_request as listing
from tests.interop.admin_topics import create
from tests.interop.conversation import Line


def reassignment_lines() -> Iterator[Line]:
    yield Line("moving", "CreateTopics", 7, create({"name": "moving", "num_partitions": 2}))
    yield from _elections()
    yield from _alterations()
    yield from _listings()


def _elections() -> Iterator[Line]:
    for version in range(3):
        for election_type in (0, 1, 2) if version else (0,):

            def line(label: str, *asked: tuple[str, list[int]], timeout_ms: int = 60_000) -> Line:
                topics = [elect.TopicPartitions(topic=name, partitions=at) for name, at in asked]
                request = elect.ElectLeadersRequest(
                    election_type=election_type,  # noqa: B023
                    topic_partitions=topics,
                    timeout_ms=timeout_ms,
                )
                return Line(f"type {election_type} {label}", "ElectLeaders", version, request)  # noqa: B023

            yield line("led already", ("moving", [0, 1]))
            yield line("unknown", ("moving", [7, -1]), ("not-there", [0]))
            yield line("twice", ("moving", [0, 0]))
            yield line("nothing")


def _alterations() -> Iterator[Line]:
    for version in range(2):
        for may_change_factor in (True, False) if version else (True,):

            def line(label: str, *asked: tuple[str, int, list[int] | None]) -> Line:
                topics = [
                    alter.ReassignableTopic(
                        name=name,
                        partitions=[
                            alter.ReassignablePartition(partition_index=number, replicas=replicas)
                        ],
                    )
                    for name, number, replicas in asked
                ]
                request = alter.AlterPartitionReassignmentsRequest(
                    allow_replication_factor_change=may_change_factor,  # noqa: B023
                    topics=topics,
                )
                label = f"{label}, factor {may_change_factor}"  # noqa: B023
                return Line(label, "AlterPartitionReassignments", version, request)  # noqa: B023

            yield line("to itself", ("moving", 0, [1]))
            yield line("cancel nothing", ("moving", 0, None))
            yield line("to nobody", ("moving", 0, []), ("moving", 1, [1]))
            yield line("to strangers", ("moving", 0, [2]), ("moving", 1, [1, 2]))
            yield line("twice the same", ("moving", 0, [1, 1]))
            yield line("negative", ("moving", 0, [-1]))
            yield line("unknown", ("moving", 9, [1]), ("not-there", 0, [1]), ("not-there", 0, None))
            yield line("nothing")


def _listings() -> Iterator[Line]:
    def line(label: str, topics: list[listing.ListPartitionReassignmentsTopics] | None) -> Line:
        request = listing.ListPartitionReassignmentsRequest(topics=topics)
        return Line(label, "ListPartitionReassignments", 0, request)

    def of(name: str, *numbers: int) -> listing.ListPartitionReassignmentsTopics:
        return listing.ListPartitionReassignmentsTopics(name=name, partition_indexes=list(numbers))

    yield line("all", None)
    yield line("none", [])
    yield line("some", [of("moving", 0, 1, 9), of("not-there", 0)])
