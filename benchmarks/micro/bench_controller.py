"""The cost of the controller in a large cluster: brokers that register, leave and report.

    python -m benchmarks.micro.bench_controller [--partitions N] [--brokers N] [--rounds N]

The machine alone: each decision and the replay of its records, without log and network. Partitions
have three replicas. Figures are the median and the best of several rounds, except those of creating
the partitions and of memory. Goal: only decisions that change partitions cost more in a cluster of
100,000 partitions than in a small one.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmarks.command_line import count, parser_for
from pykbroker.broker.process_settings import settle_collector
from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.decision import Decision, MetadataRecord
from pykbroker.environment.real.randomness import Entropy
from pykbroker.kraft.controller.controller import Controller
from pykbroker.kraft.controller.partition_index import PartitionIndex
from pykbroker.kraft.controller_driver import PIECE_RECORDS
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_replay import MetadataReplay
from pykbroker.kraft.metadata_version import FORMATTED_FEATURES, SUPPORTED_FEATURES
from pykbroker.kraft.storage_format import bootstrap_records
from pykbroker.protocol.messages import broker_registration_request as registration
from pykbroker.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord

ROUNDS = 5
PARTITIONS = 100_000
BROKERS = 30
PARTITIONS_PER_TOPIC = 50
REPLICAS = 3
CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAQA"
NOW_MS = 1_000_000


class Cluster:
    """A controller and the log of its decisions, of which only the length is kept."""

    def __init__(self, brokers: int) -> None:
        dice = Entropy()
        self.next_offset = 0
        self.breathed_at = time.thread_time()
        self.longest = 0.0
        self.controller = Controller(
            node_id=0,
            cluster_id=CLUSTER_ID,
            config=BrokerConfig.from_properties(standalone_properties("/nowhere")),
            new_uuid=dice.new_uuid,
            random=dice,
            committed=MetadataReplay(MetadataImage()),
            next_offset=0,
            breathe=self.breathe,
        )
        self.commit(self.controller.activate(bootstrap_records(FORMATTED_FEATURES), NOW_MS))
        for broker_id in range(1, brokers + 1):
            self.register(broker_id, b"first life")
            self.heartbeat(broker_id)

    def commit(self, decision: Decision[MetadataRecord]) -> Any:
        records = decision.records
        size = max(len(records), 1) if decision.atomic else PIECE_RECORDS
        for at in range(0, len(records), size):
            self.breathe()
            piece = records[at : at + size]
            self.controller.replay(piece, self.next_offset, 1, NOW_MS)
            self.next_offset += len(piece)
        return decision.reply

    def breathe(self) -> None:
        """Measure how long the event loop was blocked before this possible turn."""
        now = time.thread_time()
        self.longest = max(self.longest, now - self.breathed_at)
        self.breathed_at = now

    def register(self, broker_id: int, life: bytes) -> None:
        request = registration.BrokerRegistrationRequest(
            broker_id=broker_id,
            cluster_id=CLUSTER_ID,
            incarnation_id=life.ljust(16),
            features=[
                registration.Feature(
                    name=name, min_supported_version=low, max_supported_version=high
                )
                for name, (low, high) in SUPPORTED_FEATURES.items()
            ],
            rack=None,
            log_dirs=[(1000 + broker_id).to_bytes(16, "big")],
        )
        self.controller.state.sessions.forget(broker_id)
        self.commit(self.controller.register_broker(request, request.MAX_VERSION, NOW_MS))

    def heartbeat(self, broker_id: int, **fields: Any) -> None:
        request = BrokerHeartbeatRequest(
            broker_id=broker_id,
            broker_epoch=self.controller.image.brokers[broker_id].epoch,
            current_metadata_offset=self.next_offset,
            **fields,
        )
        self.commit(self.controller.heartbeat(request, NOW_MS))

    def create(self, partitions: int) -> None:
        """Create topics with this many partitions in total, one request each."""
        for number in range(0, partitions, PARTITIONS_PER_TOPIC):
            topic = CreatableTopic(
                name=f"topic-{number}",
                num_partitions=min(PARTITIONS_PER_TOPIC, partitions - number),
                replication_factor=REPLICAS,
            )
            reply = self.commit(
                self.controller.create_topics(CreateTopicsRequest(topics=[topic], timeout_ms=1000))
            )
            if reply.topics[0].error_code:
                raise RuntimeError(reply.topics[0].error_message)


def spent_ms(step: Callable[[], object]) -> float:
    started = time.thread_time()  # other processes do not count
    step()
    return (time.thread_time() - started) * 1000


def print_row(name: str, taken: list[float], note: str = "") -> None:
    taken = sorted(taken)
    print(f"{name:44} {taken[len(taken) // 2]:10.4f} ms (best {taken[0]:.4f}{note})")


def bench_size(partitions: int, brokers: int, rounds: int) -> None:
    """Measure the rows of a cluster of this size."""
    cluster = Cluster(brokers)
    size = f"{partitions} partitions"
    spent = spent_ms(lambda: cluster.create(partitions))
    print(f"{f'creating {size}':44} {spent / partitions * 1000:10.3f} us each")
    steps: dict[str, list[float]] = {}

    def measured(name: str, step: Callable[[], object]) -> None:
        steps.setdefault(name, []).append(spent_ms(step))

    fenced, held = 0, 0.0
    for number in range(rounds):
        measured("a heartbeat that changes nothing", lambda: cluster.heartbeat(2))
        before = cluster.next_offset
        cluster.breathe()
        cluster.longest = 0.0
        measured("fencing a broker", lambda: cluster.heartbeat(1, want_fence=True))
        cluster.breathe()
        held = max(held, cluster.longest * 1000)
        fenced = cluster.next_offset - before - 1
        register = partial(cluster.register, 1, f"life {number}".encode())
        measured("its registration", register)
        measured("unfencing it", lambda: cluster.heartbeat(1))
        cluster.commit(cluster.controller.balance_leaders())
        measured("elections by the clock, none needed", cluster.controller.elect_unclean_leaders)
        rejoin(cluster)
    for name, taken in steps.items():
        note = ""
        if name == "fencing a broker":
            note = f"; {fenced} partitions changed, {held:.4f} ms without a breath"
        print_row(f"{name}, {size}", taken, note)
    image = cluster.controller.image
    print_row(
        f"the index at the begin of a term, {size}",
        [spent_ms(lambda: PartitionIndex(image)) for _ in range(rounds)],
    )
    tracemalloc.start()
    index = PartitionIndex(image)
    taken_bytes = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    if not next(index.in_sync(2), None):
        raise RuntimeError("the index is empty")
    print(f"{f'the index, {size}':44} {taken_bytes / partitions:10.1f} bytes each")


def rejoin(cluster: Cluster) -> None:
    """Put all replicas in sync again, as their leaders request."""
    state = cluster.controller.state
    records = []
    for topic in state.image.topics_by_id.values():
        for number, partition in topic.partitions.items():
            if len(partition.isr) < REPLICAS:
                change = PartitionChangeRecord(
                    topic_id=topic.id,
                    partition_id=number,
                    isr=list(partition.replicas),
                    leader=partition.replicas[0],
                    eligible_leader_replicas=[],
                )
                records.append(MetadataRecord(change, 2))
    cluster.commit(Decision(records=records))


def main(words: Sequence[str] | None = None) -> None:
    """Print the rows of a small cluster, and of a large one."""
    parser = parser_for("benchmarks.micro.bench_controller", __doc__)
    for name, default, what in (
        (
            "partitions",
            PARTITIONS,
            "partitions of the large cluster; the small one has a hundredth",
        ),
        ("brokers", BROKERS, "brokers of both clusters"),
        ("rounds", ROUNDS, "number of rounds of each row"),
    ):
        parser.add_argument(
            f"--{name}", type=count, default=default, help=f"{what} (default {default})"
        )
    arguments = parser.parse_args(words)
    settle_collector()  # as a node does
    for partitions in (max(arguments.partitions // 100, 1), arguments.partitions):
        bench_size(partitions, arguments.brokers, arguments.rounds)


if __name__ == "__main__":
    main()
