"""Topic names that differ only in `.` and `_`, whose metrics would have the same names.

State: the names with one of these characters, by what they become in the name of a metric.
In:  `follow(delta)` for each metadata change. Out: `other(name)`.
Source: Kafka's `topicsWithCollisionChars` of `ReplicationControlManager.java`.
"""

from __future__ import annotations

from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.topic_name import normalized


class CollidingNames:
    """Finds the topic whose name collides with a new one."""

    def __init__(self, image: MetadataImage, breathe: Breathe = go_on) -> None:
        """`breathe` is called between topics (`environment/slices.py`)."""
        self._names: dict[str, set[str]] = {}
        for name in paced(image.topics_by_name, breathe):
            self._add(name)

    def follow(self, delta: MetadataDelta, breathe: Breathe = go_on) -> None:
        """Apply a metadata change; `breathe` is called between topics."""
        before = delta.image.topics_by_id
        for topic_id, topic in paced(delta.topics.items(), breathe):
            if topic is None and topic_id in before:
                self._remove(before[topic_id].name)
        for topic_id, topic in paced(delta.topics.items(), breathe):
            if topic is not None and topic_id not in before:
                self._add(topic.name)

    def other(self, name: str) -> str | None:
        """Return an existing topic whose name collides with `name` (it may have that very name);
        None if there is none.
        """
        if not _may_collide(name):
            return None
        return min(self._names.get(normalized(name), ()), default=None)

    def _add(self, name: str) -> None:
        if _may_collide(name):
            self._names.setdefault(normalized(name), set()).add(name)

    def _remove(self, name: str) -> None:
        if _may_collide(name):
            names = self._names[normalized(name)]
            names.remove(name)
            if not names:
                del self._names[normalized(name)]


def _may_collide(name: str) -> bool:
    return "." in name or "_" in name
