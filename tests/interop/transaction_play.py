"""Whom transaction_script talks to, and what it writes down.

What differs from run to run is named: producer ids <1>, <2> in the order they first appear, topic
ids by their topic, times of now. What may come in any order is sorted.
"""

from __future__ import annotations

import time
from typing import Any

from pykbroker.protocol import control_records
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from pykbroker.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from pykbroker.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from pykbroker.protocol.messages.init_producer_id_request import InitProducerIdRequest
from pykbroker.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from pykbroker.protocol.primitives import Message
from pykbroker.protocol.record_batch import iter_headers, iter_records
from tests.harness.raw_client import RawClient
from tests.harness.waiting import wait_for

T0 = int(time.time() * 1000) // 1000 * 1000 - 60_000
SETTLING = (14, 15, 16)
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""
NOT_FOUND = 105
AT_REST = ("Empty", "CompleteCommit", "CompleteAbort")

TOPICS = {"ledger": 4, "over": 2, "written": 2, "mixed": 1, "marked": 3, "stuck": 1, "slow": 1}
"""One for each part, so that one difference does not shift the offsets of all that follows."""
TIMES = ("transaction_start_time_ms", "last_timestamp", "log_append_time_ms")


class Play:
    """One conversation; `heard` is its transcript."""

    def __init__(self, bootstrap_servers: str, transaction_version: int) -> None:
        # Clients send the others when version 2 is finalised. A log in version 0 has no field for
        # what they say, so that Apache's coordinator fails there and never recovers.
        self.transaction_version = transaction_version
        says_all = transaction_version > 0
        self.add_versions = range(6 if says_all else 4)
        self.end_versions = range(6 if says_all else 5)
        self.offset_versions = range(7 if says_all else 5)
        self.produce_versions = range(3, 14 if says_all else 12)
        self.client = RawClient(bootstrap_servers)
        self.heard: list[tuple[str, Any]] = []
        self.skipped: list[str] = []  # transactional ids whose markers a coordinator never wrote
        self.part = ""
        self.ids: dict[str, bytes] = {}
        self._names: dict[int, str] = {-1: "none"}

    # ---- asking

    def ask(self, label: str, api: str, version: int, message: Message) -> Any:
        """The answer, which goes into the transcript."""
        answer = self._settled(api, version, message)
        self.heard.append((f"{self.part}: {api} v{version} {label}", self.plain(answer)))
        return answer

    def _settled(self, api: str, version: int, message: Message) -> Any:
        """Brokers have the first producers try again until there is a block of ids for them."""
        answer = self.client.ask(api, version, message)
        deadline = time.monotonic() + 120
        while api == "InitProducerId" and answer.error_code in SETTLING:
            assert time.monotonic() < deadline
            time.sleep(0.02)
            answer = self.client.ask(api, version, message)
        return answer

    # ---- before and between

    def prepare(self) -> None:
        """Make the topics and wait for everything that serves transactions."""
        request = CreateTopicsRequest(
            timeout_ms=30_000,
            topics=[
                CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
                for name, partitions in TOPICS.items()
            ],
        )
        made = self.client.ask("CreateTopics", 7, request)
        assert [topic.error_code for topic in made.topics] == [0] * len(TOPICS)
        self.join()

    def join(self) -> None:
        """Learn the ids of the topics; wait until leaders and coordinators serve."""
        asked = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in TOPICS])
        wait_for(self._serves, "the partitions")
        self.ids = {t.name: t.topic_id for t in self.client.ask("Metadata", 12, asked).topics}
        for key_type in (0, 1):
            wait_for(lambda kind=key_type: self._coordinated(kind), f"coordinator {key_type}")  # type: ignore[misc]
        first = InitProducerIdRequest(transactional_id="the first", transaction_timeout_ms=60_000)
        assert self._settled("InitProducerId", 4, first).error_code == 0

    def _serves(self) -> bool:
        topics = [
            ListOffsetsTopic(
                name=name,
                partitions=[
                    ListOffsetsPartition(partition_index=number, timestamp=-1)
                    for number in range(partitions)
                ],
            )
            for name, partitions in TOPICS.items()
        ]
        answer = self.client.ask("ListOffsets", 7, ListOffsetsRequest(topics=topics))
        return all(each.error_code == 0 for topic in answer.topics for each in topic.partitions)

    def _coordinated(self, key_type: int) -> bool:
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["the first"])
        (found,) = self.client.ask("FindCoordinator", 4, request).coordinators
        return bool(found.error_code == 0)

    def state(self, transactional_id: str) -> str:
        """What the coordinator says of a transactional id, outside of the transcript."""
        request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
        (found,) = self.client.ask("DescribeTransactions", 0, request).transaction_states
        return "" if found.error_code == NOT_FOUND else str(found.transaction_state)

    def is_open(self, topic: str, partition: int) -> bool:
        """Whether a transaction is open there: the last stable offset is not the high watermark."""
        stable, high = (self._end(topic, partition, isolation) for isolation in (1, 0))
        return stable < high

    def _end(self, topic: str, partition: int, isolation: int) -> int:
        asked = ListOffsetsPartition(partition_index=partition, timestamp=-1)
        of_topic = ListOffsetsTopic(name=topic, partitions=[asked])
        request = ListOffsetsRequest(replica_id=-1, isolation_level=isolation, topics=[of_topic])
        (found,) = self.client.ask("ListOffsets", 7, request).topics[0].partitions
        assert found.error_code == 0
        return int(found.offset)

    def settle(self, transactional_id: str) -> None:
        """Wait until the markers of an ending transaction are written."""
        wait_for(lambda: self.state(transactional_id) in AT_REST, f"the end of {transactional_id}")

    # ---- writing down

    def name_of(self, producer_id: int) -> str:
        return self._names.setdefault(producer_id, f"<{len(self._names)}>")

    def plain(self, value: Any, name: str = "") -> Any:
        """Dicts, lists and numbers in which nothing depends on the run."""
        if isinstance(value, Message):
            slots: tuple[str, ...] = type(value).__slots__
            fields = {s: self.plain(getattr(value, s), s) for s in slots if s != "unknown_tags"}
            return {"": type(value).__name__} | fields
        if isinstance(value, list):
            items = [self.plain(item) for item in value]
            return sorted(items, key=repr) if items and name != "records" else items
        if name == "producer_id":
            return self.name_of(value)
        if name == "topic_id":
            return {raw: topic for topic, raw in self.ids.items()}.get(value, value.hex())
        if name == "port":
            return value > 0
        if name in TIMES:
            return self._time(value)
        if name == "records":
            return self._batches(b"" if value is None else bytes(value))
        return value.hex() if isinstance(value, bytes) else value

    @staticmethod
    def _time(value: int) -> Any:
        """Before 0 as it is, what this script wrote as its distance from T0, else now."""
        if value < 0:
            return value
        return f"T0 + {value - T0}" if 0 <= value - T0 < 50_000 else "now"

    def _batches(self, raw: bytes) -> list[str]:
        return [
            f"{header.base_offset}: {self.name_of(header.producer_id)} "
            f"epoch {header.producer_epoch} sequence {header.base_sequence} "
            f"transactional {header.is_transactional} {self._contents(raw, position, header)}"
            for position, header in iter_headers(raw)
        ]

    @staticmethod
    def _contents(raw: bytes, position: int, header: Any) -> str:
        records = iter_records(raw[position : position + header.size_bytes], header)
        if header.is_control:
            return str([control_records.decode_marker(r.key, r.value) for r in records])
        return str([record.value for record in records])
