"""A node for tests: a replica manager over real logs on a disk in memory, fed metadata records.

Node 1 leads what `create_topic` makes. Nothing runs by itself: the test says when a turn ends.
"""

from __future__ import annotations

from typing import Any

from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import TOPIC_RESOURCE, MetadataImage, Provenance
from pykbroker.kraft.publisher import delta_of_all
from pykbroker.log.directories.log_manager import LogManager
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.fetch_response import PartitionData
from pykbroker.protocol.messages.register_broker_record import RegisterBrokerRecord
from pykbroker.protocol.messages.remove_topic_record import RemoveTopicRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.protocol.record_batch import build_batch
from pykbroker.purgatory import Purgatory
from pykbroker.replication.fetch_reader import read_all_partitions
from pykbroker.replication.fetch_request import FetchParams, FetchPartition
from pykbroker.replication.partition import Partition
from pykbroker.replication.replica_manager import ReplicaManager
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.harness.records import partition_record

NOW_MS = 1_700_000_000_000
NODE_ID = 1


def topic_id_of(number: int) -> bytes:
    return number.to_bytes(16, "big")


def batch(*values: bytes, timestamp_ms: int = NOW_MS, **options: Any) -> memoryview:
    """One batch with a record per value, as a producer sends it."""
    records = [(None, value, timestamp_ms, ()) for value in values or (b"v",)]
    return memoryview(build_batch(records, **options))


class Node:
    """See the module's text."""

    def __init__(self, overrides: dict[str, str] | None = None, node_id: int = NODE_ID) -> None:
        self.files = MemoryFiles()
        self.now_ms = NOW_MS
        self.node_id = node_id
        properties = standalone_properties("/data", port=0, node_id=node_id) | (overrides or {})
        self.config = BrokerConfig.from_properties(properties)
        self.image = MetadataImage()
        self.open()

    def open(self) -> None:
        """Start on what the disk holds."""
        self.log_manager = LogManager(self.config.log_directories, self.config, self.files)
        self.log_manager.load(self.now_ms)
        self.purgatory = Purgatory(self.now_ms)
        self.manager = ReplicaManager(self.node_id, self.log_manager, self.purgatory, self.config)

    def restart(self, cleanly: bool = True) -> None:
        """Stop and start on the same disk, then publish the whole image."""
        if cleanly:
            for directory in self.log_manager.directories:
                self.log_manager.checkpoint_high_watermarks(
                    directory, self.manager.high_watermarks()
                )
            self.log_manager.shutdown(self.now_ms)
        else:
            self.files.kill()
        self.open()
        self.manager.apply(delta_of_all(self.image), self.image, self.now_ms)

    def apply(self, *records: Any) -> None:
        """Replay metadata records and publish."""
        delta = MetadataDelta(self.image)
        for record in records:
            delta.replay(record)
        self.image = delta.apply(Provenance(self.image.offset + len(records), 1, self.now_ms))
        self.manager.apply(delta, self.image, self.now_ms)

    def create_topic(
        self,
        name: str = "t",
        partitions: int = 1,
        number: int = 7,
        replicas: tuple[int, ...] = (NODE_ID,),
        isr: tuple[int, ...] | None = None,
        leader: int = NODE_ID,
        **config: str,
    ) -> Partition:
        """Make a topic; its first partition."""
        topic_id = topic_id_of(number)
        self.apply(
            TopicRecord(name=name, topic_id=topic_id),
            *(
                ConfigRecord(
                    resource_type=TOPIC_RESOURCE,
                    resource_name=name,
                    name=key.replace("_", "."),
                    value=value,
                )
                for key, value in config.items()
            ),
            *(
                partition_record(
                    topic_id,
                    p,
                    replicas=list(replicas),
                    isr=list(replicas if isr is None else isr),
                    leader=leader,
                )
                for p in range(partitions)
            ),
        )
        partition = self.manager.find(name, 0)
        assert partition is not None or NODE_ID not in replicas
        return partition  # type: ignore[return-value]

    def register(self, broker_id: int, epoch: int = 10, **fields: Any) -> None:
        """A broker registers, unfenced."""
        self.apply(
            RegisterBrokerRecord(
                broker_id=broker_id,
                broker_epoch=epoch,
                incarnation_id=bytes(15) + bytes([broker_id]),
                **({"fenced": False} | fields),
            )
        )

    def follower_fetch(
        self,
        partition: Partition,
        offset: int,
        replica_id: int = 2,
        broker_epoch: int = 10,
        last_fetched_epoch: int = -1,
        log_start_offset: int = 0,
    ) -> PartitionData:
        """A follower fetches one partition; the entry of its answer."""
        asked = FetchPartition(
            partition.topic,
            ZERO_UUID,
            partition.index,
            offset,
            1 << 20,
            partition.leader_epoch,
            last_fetched_epoch,
            log_start_offset,
        )
        params = FetchParams(replica_id=replica_id, replica_epoch=broker_epoch)
        result = read_all_partitions(self.manager, params, [asked])
        self.manager.note_follower_fetch(params, result, self.now_ms)
        return result.answers[0][1]

    def delete_topic(self, number: int = 7) -> None:
        self.apply(RemoveTopicRecord(topic_id=topic_id_of(number)))

    def append(self, partition: Partition, *values: bytes, acks: int = -1, **options: Any) -> int:
        """Append one batch and end the turn; its base offset."""
        outcome = self.manager.append(partition, batch(*values, **options), acks, self.now_ms)
        assert outcome.error == 0, outcome.error_message
        self.end_turn()
        return outcome.base_offset

    def end_turn(self) -> None:
        self.manager.end_turn(self.now_ms)

    def fail_writes(self) -> None:
        """Every write to a log fails from now on."""

        def fail(call: str, path: str) -> OSError | None:
            if call == "write" and path.endswith(".log"):
                return OSError(5, "the disk is broken")
            return None

        self.files.fail = fail
