"""The index of colliding names, against a scan of all names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pykbroker.kraft.controller.colliding_names import CollidingNames
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage, Provenance
from pykbroker.kraft.topic_name import normalized
from pykbroker.protocol.messages.remove_topic_record import RemoveTopicRecord
from pykbroker.protocol.messages.topic_record import TopicRecord

NAMES = ("a.b", "a_b", "a.b.c", "a_b.c", "plain")


def scanned(image: MetadataImage, name: str) -> str | None:
    if normalized(name) == name and "_" not in name:
        return None
    found = [at for at in image.topics_by_name if "." in at or "_" in at]
    return min((at for at in found if normalized(at) == normalized(name)), default=None)


@given(st.lists(st.lists(st.sampled_from(NAMES), min_size=1), max_size=6))
def test_it_is_the_same_however_it_came_to_be(steps: list[list[str]]) -> None:
    """Each name creates the topic, or deletes it if it exists."""
    image = MetadataImage()
    names = CollidingNames(image)
    number = 0
    for step in steps:
        delta = MetadataDelta(image)
        ids = {topic.name: topic.id for topic in image.topics_by_name.values()}
        for name in step:
            if name in ids:
                delta.replay(RemoveTopicRecord(topic_id=ids.pop(name)))
            else:
                number += 1
                ids[name] = number.to_bytes(16, "big")
                delta.replay(TopicRecord(name=name, topic_id=ids[name]))
        image = delta.apply(Provenance(number, 1, 1))
        names.follow(delta)
        built = CollidingNames(image)
        for name in NAMES:
            expected = scanned(image, name)
            assert (names.other(name), built.other(name)) == (expected, expected)
