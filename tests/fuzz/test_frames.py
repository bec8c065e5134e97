"""Bad bytes on the port of a running broker.

Invariant, checked after every batch of cases:

* the broker serves: a request on a new connection is answered;
* a connection that was there before is not affected: it is answered too, and has never been closed;
* memory is bounded: the process has not grown by more than GROWTH_BYTES since the first batch;
* no bug of ours was met: nothing was logged above WARNING, and no traceback;
* nothing is stored that no client made: every record in the topic is one that an intact frame
  carried, and there is no topic that was not there before.

A failure prints the seed and the number of the case: they make the same bytes again.
"""

from __future__ import annotations

import gzip
import random
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pykbroker.protocol.api import APIS, request_class, response_class
from pykbroker.protocol.headers import decode_response_header, encode_request
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from pykbroker.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.record_batch import build_batch, iter_batches, iter_records
from pykbroker.testing import Broker
from tests.fuzz.frames import batch, mutate, real_frames, strangers
from tests.harness.waiting import wait_for

CASES = 3000
BATCH = 100
GROWTH_BYTES = 100 * 1024 * 1024
ANSWER_SECONDS = 0.2
TOPIC = "fuzz"
VALUE = b"an intact record"
PREPARED = frozenset((0, 1, 3, 8, 12))  # Produce, Fetch, Metadata, OffsetCommit, Heartbeat


class Peer:
    """A well-behaved client on one connection."""

    def __init__(self, port: int) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=60)

    def call(self, key: int, version: int, message: Any) -> Any:
        out: Parts = []
        encode_request(APIS[key], version, 7, "peer", message, out)
        self.sock.sendall(join_parts(out))
        (size,) = struct.unpack(">i", self._read(4))
        reply = self._read(size)
        correlation_id, position = decode_response_header(reply, APIS[key], version)
        assert correlation_id == 7
        return response_class(key).decode(memoryview(reply), position, version)[0]

    def _read(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            chunk = self.sock.recv(size - len(received))
            assert chunk, "the broker closed the connection of a client that did nothing wrong"
            received += chunk
        return bytes(received)

    def close(self) -> None:
        self.sock.close()


class Target:
    """The broker under test and what has to hold."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.watcher = Peer(broker.port)
        reply = self.watcher.call(
            19,
            7,
            CreateTopicsRequest(
                topics=[CreatableTopic(name=TOPIC, num_partitions=1, replication_factor=1)],
                timeout_ms=10_000,
            ),
        )
        assert reply.topics[0].error_code == 0
        self.topic_id: bytes = reply.topics[0].topic_id
        self.resident_bytes: int | None = None
        # A group makes the one topic that may come by itself.
        self.topics = {TOPIC, "__consumer_offsets"}

    def check(self, what: str) -> None:
        """The invariant of the module's text."""
        fresh = Peer(self.broker.port)
        for peer in (self.watcher, fresh):
            everything = peer.call(3, 12, MetadataRequest(topics=None))
            assert {topic.name for topic in everything.topics} <= self.topics, what
        fresh.close()
        resident = _resident_bytes(self.broker.pid)
        if self.resident_bytes is None:
            self.resident_bytes = resident
        assert resident - self.resident_bytes < GROWTH_BYTES, f"{what}: memory grew to {resident}"
        log = self.broker.log_text
        for bad in ("Traceback", "ERROR", "FATAL", "CRITICAL"):
            assert bad not in log, f"{what}: {log[-6000:]}"

    def check_stored(self) -> int:
        """Every record is an intact one; how many there are."""
        offset = 0
        count = 0
        while True:
            part = FetchPartition(
                partition=0, fetch_offset=offset, partition_max_bytes=1 << 20, log_start_offset=-1
            )
            topic = FetchTopic(topic=TOPIC, partitions=[part])
            request = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1 << 20, topics=[topic])
            reply = self.watcher.call(1, 11, request).responses[0].partitions[0]
            assert reply.error_code == 0
            if not reply.records:
                return count
            for header, content in iter_batches(reply.records):
                for record in iter_records(content):
                    assert bytes(record.value or b"") == VALUE
                    assert record.offset >= offset
                    count += 1
                offset = header.last_offset + 1


def _resident_bytes(pid: int) -> int:
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    config = {
        "auto.create.topics.enable": "false",
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.num.partitions": "1",
    }
    with Broker(overrides=config) as broker:
        started = Target(broker)
        yield started
        started.watcher.close()


def throw(port: int, cases: list[bytes], until: Callable[[], object] | None = None) -> None:
    """Send each case on a connection of its own, all at once; wait a moment for what comes.

    With `until`: hang up no sooner than it holds, as what was not read yet is lost then.
    """
    socks: list[socket.socket] = []
    for case in cases:
        sock = socket.create_connection(("127.0.0.1", port), timeout=60)
        try:
            sock.sendall(case)
            sock.shutdown(socket.SHUT_WR)
        except OSError:
            sock.close()  # refused already: that is fine
            continue
        socks.append(sock)
    deadline = time.monotonic() + ANSWER_SECONDS
    while socks and (left := deadline - time.monotonic()) > 0:
        for sock in select.select(socks, [], [], left)[0]:
            try:
                alive = bool(sock.recv(1 << 20))
            except OSError:
                alive = False
            if not alive:
                socks.remove(sock)
                sock.close()
    if until is not None:
        wait_for(until, "the broker to have read it all")
    for sock in socks:  # a long poll, or a group that waits: it may
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()


def test_intact_frames_are_stored(target: Target) -> None:
    before = target.check_stored()
    frames = real_frames(TOPIC, target.topic_id, VALUE)
    versions = APIS[0].max_version - APIS[0].min_version + 1
    throw(target.broker.port, frames, lambda: target.check_stored() >= before + versions)
    target.check("intact frames")
    assert target.check_stored() == before + versions


@pytest.mark.parametrize("seed", [20261128])
def test_mutated_frames(target: Target, seed: int) -> None:
    rng = random.Random(seed)
    frames = real_frames(TOPIC, target.topic_id, VALUE)
    target.check("before")
    for first in range(0, CASES, BATCH):
        throw(target.broker.port, [mutate(rng.choice(frames), rng) for _ in range(BATCH)])
        target.check(f"seed {seed}, cases from {first} on")
    target.check_stored()


@pytest.mark.parametrize("seed", [20261129])
def test_mutated_frames_behind_an_intact_one(target: Target, seed: int) -> None:
    """The node has prepared for more like the intact one, and looks closer at what is different."""
    rng = random.Random(seed)
    of_prepared = [
        frame
        for frame in real_frames(TOPIC, target.topic_id, VALUE)
        if struct.unpack_from(">h", frame, 4)[0] in PREPARED
    ]
    for first in range(0, CASES, BATCH):
        frames = [rng.choice(of_prepared) for _ in range(BATCH)]
        cases = [frame * 2 + mutate(frame, rng) + frame for frame in frames]
        throw(target.broker.port, cases)
        target.check(f"seed {seed}, cases from {first} on")
    target.check_stored()


def test_strangers(target: Target) -> None:
    before = target.check_stored()
    throw(target.broker.port, strangers(random.Random(1)))
    target.check("strangers")
    assert target.check_stored() == before


def test_lengths_that_promise_much(target: Target) -> None:
    target.check("before")
    peers = []
    for _ in range(100):
        sock = socket.create_connection(("127.0.0.1", target.broker.port), timeout=60)
        sock.sendall(struct.pack(">ihhih", 100 * 1024 * 1024, 0, 7, 1, -1) + bytes(100))
        peers.append(sock)
    target.check("a hundred promises of 100 MiB")
    for sock in peers:
        sock.close()


@pytest.mark.parametrize("codec", [1, 3, 4], ids=["gzip", "lz4", "zstd"])
def test_a_bomb(target: Target, codec: int) -> None:
    bomb = build_batch(
        [(None, bytes(200 * 1024 * 1024), 0, ())], base_offset=0, codec=codec
    )  # 200 MiB in some 200 KiB
    assert len(bomb) < 1024 * 1024
    _produce(target, bytes(bomb))
    target.check("a compressed bomb")


def test_a_wrong_crc_and_a_lying_count(target: Target) -> None:
    before = target.check_stored()
    wrong = bytearray(batch(VALUE))
    wrong[-1] ^= 1
    lying = bytearray(batch(VALUE))
    struct.pack_into(">i", lying, 57, 2**31 - 1)
    for content in (wrong, lying, batch(VALUE)[:-1], gzip.compress(VALUE), b"x" * 70):
        error = _produce(target, bytes(content))
        assert error != 0
    target.check("batches that are none")
    assert target.check_stored() == before


def _produce(target: Target, content: bytes) -> int:
    part = PartitionProduceData(index=0, records=memoryview(content))
    topic = TopicProduceData(name=TOPIC, partition_data=[part])
    reply = target.watcher.call(
        0, 8, ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=[topic])
    )
    code: int = reply.responses[0].partition_responses[0].error_code
    return code


def test_metadata_of_a_name_that_is_no_utf8(target: Target) -> None:
    message = MetadataRequest(topics=[MetadataRequestTopic(name="fuzz")])
    out: Parts = []
    encode_request(APIS[3], 4, 7, "peer", message, out)
    frame = join_parts(out).replace(b"fuzz", b"\xff\xfe\xfd\xfc")
    sock = socket.create_connection(("127.0.0.1", target.broker.port), timeout=60)
    sock.sendall(frame)
    (size,) = struct.unpack(">i", sock.recv(4, socket.MSG_WAITALL))
    reply = memoryview(sock.recv(size, socket.MSG_WAITALL))
    answer: Any = response_class(3).decode(reply, 4, 4)[0]
    assert answer.topics[0].error_code == 17  # INVALID_TOPIC_EXCEPTION
    sock.close()
    assert request_class(3) is MetadataRequest
    target.check("no UTF-8")
