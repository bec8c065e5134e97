"""What the raw load sends is answered without an error: RawLoad looks at lengths alone."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from benchmarks.compare import frames
from benchmarks.compare.servers import Server
from benchmarks.micro.bench_handlers import error_codes
from pykbroker.protocol.api import API_BY_NAME, response_class
from pykbroker.protocol.headers import decode_response_header
from pykbroker.protocol.primitives import Message
from tests.harness.raw_client import RawClient

pytestmark = pytest.mark.interop


def answer_to(server: Server, name: str, version: int, frame: bytes) -> Message:
    api = API_BY_NAME[name]
    with RawClient(server.address) as client:
        client.send(frame)
        reply = client.receive(10)
    assert isinstance(reply, bytes)
    _, position = decode_response_header(reply, api, version)
    answer = response_class(api.key).decode(memoryview(reply), position, version)[0]
    assert set(error_codes(answer)) == {0}, answer
    return answer


def test_every_frame_is_served(server: Server) -> None:
    topic = server.new_topic()
    for records in (1, 900):
        frame = frames.produce(topic, 1000, records)
        assert len(frame) > records * 1000
        answer_to(server, "Produce", 7, frame)
    fetched = answer_to(server, "Fetch", 11, frames.fetch(topic))
    batch = bytes(fetched.responses[0].partitions[0].records)  # type: ignore[attr-defined]
    assert 1000 < len(batch) < 2000  # the first one
    described = answer_to(server, "Metadata", 5, frames.metadata(topic))
    assert [each.name for each in described.topics] == [topic]  # type: ignore[attr-defined]
    server.delete_topic(topic)


def test_a_session_is_made_and_continued(server: Server) -> None:
    topic = server.new_topic()
    answer_to(server, "Produce", 7, frames.produce(topic, 100))
    frame = bytearray(frames.session_fetch(topic))
    session_at = frames.session_at(bytes(frame))
    made: Any = answer_to(server, "Fetch", 11, bytes(frame))
    assert made.session_id > 0
    assert frame[session_at : session_at + 8] == bytes(8)
    struct.pack_into(">ii", frame, session_at, made.session_id, 1)
    continued = answer_to(server, "Fetch", 11, bytes(frame))
    assert continued == made  # what the load takes for a good answer has the same length
    server.delete_topic(topic)


def test_without_acknowledgement_by_all(server: Server) -> None:
    topic = server.new_topic()
    answer_to(server, "Produce", 7, frames.produce(topic, 100, acks=1))
    server.delete_topic(topic)
