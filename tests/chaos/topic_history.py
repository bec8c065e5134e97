"""What administrators were promised about topics, and the verdict on it.

Each name is created once and by one client, which repeats a request until the answer is definite. A
request without an answer may still be carried out later, behind the ones that came after it: then
the model allows for both.

    create without an answer, later deleted    the topic may be there again
    alter without an answer                    its value may come back
    grow, delete without an answer             nothing: they cannot be carried out twice

State: a `TopicModel` by name. In: `created`, `altered`, `grown`, `deleted`. Out: `verdict`,
`log_faults`.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, Any]
"""A record of the metadata log, as `pykbroker.offline.cluster_metadata` shows it."""


@dataclass
class TopicModel:
    """One topic. `may_be_twice`: a create had no answer."""

    partitions: int
    may_be_twice: bool
    is_deleted: bool = False
    retention: str | None = None
    late: set[str] = field(default_factory=set)

    @property
    def is_there(self) -> bool | None:
        """None: it may be."""
        if not self.is_deleted:
            return True
        return None if self.may_be_twice else False


class TopicHistory:
    """See the module's text."""

    def __init__(self) -> None:
        self.topics: dict[str, TopicModel] = {}
        self.requests: Counter[str] = Counter()
        self.repeated: Counter[str] = Counter()
        self.faults: list[str] = []

    def created(self, name: str, partitions: int, is_repeated: bool) -> None:
        """The topic is there now."""
        self._count("create", is_repeated)
        self.topics[name] = TopicModel(partitions, is_repeated)

    def grown(self, name: str, partitions: int, is_repeated: bool) -> None:
        """The topic has so many partitions now."""
        self._count("grow", is_repeated)
        self.topics[name].partitions = partitions

    def altered(self, name: str, retention: str, is_repeated: bool) -> None:
        """`retention.ms` was set."""
        self._count("alter", is_repeated)
        topic = self.topics[name]
        topic.retention = retention
        if is_repeated:
            topic.late.add(retention)

    def deleted(self, name: str, is_repeated: bool) -> None:
        """The topic is gone."""
        self._count("delete", is_repeated)
        self.topics[name].is_deleted = True

    def _count(self, what: str, is_repeated: bool) -> None:
        self.requests[what] += 1
        self.repeated[what] += is_repeated

    # ---------------------------------------------------------------- the verdict

    def verdict(self, found: Mapping[str, int], retention: Mapping[str, str]) -> list[str]:
        """Return violations in what a node shows: partitions and `retention.ms` by topic."""
        faults = [f"{name}: no client created it" for name in found if name not in self.topics]
        for name, topic in self.topics.items():
            if topic.is_there and name not in found:
                faults.append(f"{name}: created, but missing")
            elif topic.is_there is False and name in found:
                faults.append(f"{name}: deleted, but present")
            elif topic.is_there and found[name] != topic.partitions:
                faults.append(f"{name}: {found[name]} partitions, not {topic.partitions}")
            elif topic.is_there and topic.retention is not None:
                shown = retention.get(name)
                if shown not in {topic.retention, *topic.late}:
                    faults.append(f"{name}: retention.ms is {shown}, not {topic.retention}")
        return faults

    def log_faults(self, rows: Sequence[Row]) -> list[str]:
        """Return what the metadata log contains twice or not at all."""
        ids: defaultdict[str, list[str]] = defaultdict(list)
        partitions: Counter[tuple[str, int]] = Counter()
        removed: set[str] = set()
        for row in rows:
            kind = row["record_type"]
            if kind in ("TopicRecord", "PartitionRecord", "RemoveTopicRecord"):
                value = json.loads(row["value_json"])
                if kind == "TopicRecord":
                    ids[value["name"]].append(value["topicId"])
                elif kind == "PartitionRecord":
                    partitions[value["topicId"], value["partitionId"]] += 1
                else:
                    removed.add(value["topicId"])
        faults = [f"partition {key} has {n} records" for key, n in partitions.items() if n > 1]
        for topic_id, count in Counter(each for names in ids.values() for each in names).items():
            if count > 1:
                faults.append(f"topic id {topic_id} was assigned {count} times")
        for name, topic in self.topics.items():
            if len(ids[name]) > 1 and not topic.may_be_twice:
                faults.append(f"{name}: created {len(ids[name])} times")
            alive = [topic_id for topic_id in ids[name] if topic_id not in removed]
            if len(alive) > 1 or (topic.is_there and len(alive) != 1):
                faults.append(f"{name}: {len(alive)} topics have this name")
        return faults


def differing_logs(logs: Mapping[int, Sequence[Row]], high_watermark: int) -> list[str]:
    """Return where a node's metadata below the high watermark differs from the first node's."""
    committed = {
        node: [
            (row["offset"], row["record_type"], row["value_json"])
            for row in rows
            if row["offset"] < high_watermark
        ]
        for node, rows in logs.items()
    }
    first, *others = committed
    faults = []
    for node in others:
        pairs = zip(committed[first], committed[node], strict=False)
        differing = next((pair for pair in pairs if pair[0] != pair[1]), None)
        if differing is not None:
            faults.append(f"metadata of nodes {first} and {node}: {differing[0]}, {differing[1]}")
        elif len(committed[first]) != len(committed[node]):
            faults.append(f"metadata of node {node} has a different number of records")
    return faults
