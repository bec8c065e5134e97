"""What the raw load sends as a member of a group is answered without an error, again and again."""

from __future__ import annotations

import pytest

from benchmarks.compare import group_frames
from benchmarks.compare.servers import Server
from tests.benchmarks.compare.test_frames import answer_to

pytestmark = pytest.mark.interop


def test_heartbeats_and_commits(server: Server) -> None:
    topic = server.new_topic()
    heartbeat = group_frames.heartbeat(server.address, topic)
    for _ in range(2):
        answer_to(server, "Heartbeat", 3, heartbeat)
    other = server.new_topic()
    commit = group_frames.commit(server.address, other)
    for _ in range(2):
        answer_to(server, "OffsetCommit", 7, commit)
    for name in (topic, other):
        server.delete_topic(name)
