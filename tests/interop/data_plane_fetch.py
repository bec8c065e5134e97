"""The part of data_plane_script that fetches: every version, then sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from pykbroker.protocol.messages import (
    create_topics_request,
    delete_topics_request,
    fetch_request,
    list_offsets_request,
)
from pykbroker.protocol.primitives import Message
from tests.interop.conversation import UNKNOWN_ID, Line, Story

NOTHING: dict[str, Any] = {"name": "no partition at all"}


class FetchStory(Story, Protocol):
    """With the session that is spoken of."""

    session_id: int

    def await_topic(self, name: str, is_there: bool) -> None: ...


def fetch(
    story: Story,
    *asked: dict[str, Any],
    topic: str = "plain",
    forget: list[int] | None = None,
    **more: Any,
) -> Message:
    topics = []
    if asked != (NOTHING,):
        partitions = [
            fetch_request.FetchPartition(**{"partition_max_bytes": 1 << 20} | p)
            for p in asked or ({},)
        ]
        topics = [
            fetch_request.FetchTopic(
                topic=topic, topic_id=story.ids.get(topic, UNKNOWN_ID), partitions=partitions
            )
        ]
    forgotten = [
        fetch_request.ForgottenTopic(
            topic=topic, topic_id=story.ids.get(topic, UNKNOWN_ID), partitions=forget or []
        )
    ]
    fields: dict[str, Any] = {"max_wait_ms": 100, "min_bytes": 1, "max_bytes": 1 << 20} | more
    return fetch_request.FetchRequest(
        topics=topics,
        forgotten_topics_data=forgotten if forget else [],
        **fields,
    )


def fetch_lines(story: Story) -> Iterator[Line]:
    for version in range(4, 19):
        told: list[tuple[str, Message]] = [
            ("from the start", fetch(story, {"fetch_offset": 0})),
            ("in the middle", fetch(story, {"fetch_offset": 2})),
            ("at the end", fetch(story, {"fetch_offset": 0}, topic="strict")),
            ("below the start", fetch(story, {"fetch_offset": -1})),
            ("beyond the end", fetch(story, {"fetch_offset": 100_000})),
            ("beyond the largest", fetch(story, {"fetch_offset": 1 << 62})),
            ("unknown topic", fetch(story, topic="missing")),
            ("unknown partition", fetch(story, {"partition": 9})),
            ("unknown and known", fetch(story, {"partition": 9}, {"fetch_offset": 1})),
            ("max bytes 1", fetch(story, {"fetch_offset": 1}, {"partition": 1}, max_bytes=1)),
            ("partition max bytes 1", fetch(story, {"partition_max_bytes": 1})),
            ("partition max bytes 0", fetch(story, {"partition_max_bytes": 0})),
            ("max bytes 0", fetch(story, max_bytes=0)),
            ("max bytes 200", fetch(story, {}, {"partition": 1}, max_bytes=200)),
            ("committed", fetch(story, isolation_level=1, max_bytes=500)),
            ("isolation 2", fetch(story, isolation_level=2)),
            ("no wait, at the end", fetch(story, topic="strict", max_wait_ms=0)),
            ("a partition twice", fetch(story, {"fetch_offset": 1}, {"fetch_offset": 2})),
            ("no topics", fetch(story, NOTHING)),
        ]
        if version < 15:
            told.append(("a follower", fetch(story, replica_id=5)))
            told.append(("a debugging consumer", fetch(story, replica_id=-2, max_bytes=300)))
        else:
            state = fetch_request.ReplicaState(replica_id=5, replica_epoch=3)
            told.append(("a follower", fetch(story, replica_state=state)))
            told.append(
                (
                    "a follower in epoch 0",
                    fetch(story, {"current_leader_epoch": 0}, replica_state=state),
                )
            )
        if version >= 9:
            told += [
                (f"leader epoch {e}", fetch(story, {"current_leader_epoch": e}, max_bytes=300))
                for e in (0, 1, 7)
            ]
        if version >= 12:
            told += [
                (
                    f"last fetched epoch {e} at {at}",
                    fetch(story, {"last_fetched_epoch": e, "fetch_offset": at}, max_bytes=300),
                )
                for e, at in ((0, 0), (0, 3), (0, 100_000), (3, 1), (3, 100_000))
            ]
        if version < 7:
            for _, message in told:
                message.session_epoch = -1  # type: ignore[attr-defined]
        for label, message in told:
            yield Line(label, "Fetch", version, message)


def session_lines(story: FetchStory) -> Iterator[Line]:
    for version in (7, 12, 13, 18):

        def again(*asked: dict[str, Any], epoch: int, **more: Any) -> Message:
            return fetch(story, *asked, session_id=story.session_id, session_epoch=epoch, **more)

        nothing = NOTHING
        quiet = {"partition": 2}
        yield Line(
            "make",
            "Fetch",
            version,
            fetch(story, quiet, {"fetch_offset": 1}, session_epoch=0, max_bytes=200),
        )
        yield Line("go on", "Fetch", version, again(nothing, epoch=1, max_bytes=200))
        yield Line("go on after records", "Fetch", version, again(nothing, epoch=2, max_bytes=200))
        yield Line("move one", "Fetch", version, again({"fetch_offset": 3}, epoch=3, max_bytes=200))
        yield Line("add one", "Fetch", version, again({"partition": 1}, epoch=4, max_bytes=200))
        yield Line(
            "an unknown one", "Fetch", version, again({"partition": 9}, epoch=5, max_bytes=200)
        )
        yield Line("still unknown", "Fetch", version, again(nothing, epoch=6, max_bytes=200))
        yield Line("out of range", "Fetch", version, again({"fetch_offset": 1 << 40}, epoch=7))
        yield Line(
            "back in range", "Fetch", version, again({"fetch_offset": 1}, epoch=8, max_bytes=200)
        )
        yield Line("forget", "Fetch", version, again(nothing, epoch=9, forget=[0, 1, 9]))
        yield Line("wrong epoch", "Fetch", version, again(nothing, epoch=9))
        yield Line("other id form", "Fetch", 12 if version >= 13 else 13, again(nothing, epoch=10))
        yield Line(
            "unknown session",
            "Fetch",
            version,
            fetch(story, nothing, session_id=1 << 30, session_epoch=3),
        )
        yield Line("forget all", "Fetch", version, again(nothing, epoch=10, forget=[2]))
        yield Line("it is gone", "Fetch", version, again(nothing, epoch=11))
        yield Line("make another", "Fetch", version, fetch(story, quiet, session_epoch=0))
        yield Line("close it", "Fetch", version, again(quiet, epoch=-1))
        yield Line("closed", "Fetch", version, again(nothing, epoch=1))


def deleted_topic_lines(story: FetchStory) -> Iterator[Line]:
    """Sessions by name and by id over a topic that is deleted, and made again."""
    made = create_topics_request.CreatableTopic(name="gone", num_partitions=1, replication_factor=1)
    make = create_topics_request.CreateTopicsRequest(timeout_ms=60_000, topics=[made])
    delete = delete_topics_request.DeleteTopicsRequest(topic_names=["gone"], timeout_ms=60_000)
    offsets = list_offsets_request.ListOffsetsRequest(
        replica_id=-1,
        topics=[
            list_offsets_request.ListOffsetsTopic(
                name="gone", partitions=[list_offsets_request.ListOffsetsPartition(timestamp=-1)]
            )
        ],
    )
    yield Line("gone", "CreateTopics", 7, make)
    story.await_topic("gone", is_there=True)
    old_id = story.ids["gone"]
    sessions = {}
    for version in (12, 13):
        story.session_id = 0
        yield Line("before", "Fetch", version, fetch(story, topic="gone", session_epoch=0))
        sessions[version] = story.session_id

    def again(version: int, epoch: int) -> Message:
        return fetch(
            story, NOTHING, topic="gone", session_id=sessions[version], session_epoch=epoch
        )

    yield Line("gone", "DeleteTopics", 5, delete)
    story.await_topic("gone", is_there=False)
    for version in (12, 13):
        yield Line("deleted, in a session", "Fetch", version, again(version, 1))
        yield Line("deleted", "Fetch", version, fetch(story, topic="gone", session_epoch=-1))
    yield Line("deleted", "ListOffsets", 7, offsets)
    yield Line("gone again", "CreateTopics", 7, make)
    story.await_topic("gone", is_there=True)
    for version in (12, 13):
        yield Line("made again, in a session", "Fetch", version, again(version, 2))
        yield Line("in a session once more", "Fetch", version, again(version, 3))
    new_id, story.ids["gone"] = story.ids["gone"], old_id
    yield Line("by the old id", "Fetch", 13, fetch(story, topic="gone", session_epoch=-1))
    story.ids["gone"] = new_id
    yield Line("made again", "ListOffsets", 7, offsets)
