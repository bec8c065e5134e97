"""Controllers with very many partitions: three of pykbroker, then three of Apache Kafka 4.4.

    python -m benchmarks.controllers [--partitions N] [--topic-partitions N] [--without-apache]

Controllers alone, and brokers that exist only in their registrations (three replicas of each
partition on six of them). Topics are created one after another. A broker is fenced: half of the
partitions then have fewer replicas in sync than min.insync.replicas, and an eligible leader.
Another value of min.insync.replicas clears these with one record. The broker is unfenced, a voter
starts again on its files, another on an empty directory, so that it loads the leader's snapshot;
last, the leader is killed. Figures: seconds by phase, resident memory for each partition, and, for
pykbroker, what held the event loop of any of the three for longest. Snapshots are written every
4 MiB of records, by each voter.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.command_line import count, parser_for
from benchmarks.controllers.quorum import Quorum, until

PARTITIONS = 100_000
TOPIC_PARTITIONS = 50
HEARTBEAT_S = 5.0
FENCED = 101
SHOWN = 4
OLD_FETCH_MS = 1000
"""A fetch that a voter sent before it was killed may count for half a second."""


def main(words: Sequence[str] | None = None) -> int:
    """Print the figures of both kinds."""
    parser = parser_for("benchmarks.controllers", __doc__)
    parser.add_argument("--partitions", type=count, default=PARTITIONS, help="(%(default)s)")
    parser.add_argument(
        "--topic-partitions", type=count, default=TOPIC_PARTITIONS, help="of a topic (%(default)s)"
    )
    parser.add_argument("--without-apache", action="store_true", help="pykbroker alone")
    asked = parser.parse_args(words)
    rates = []
    for is_ours in (True, False)[: 1 if asked.without_apache else 2]:
        print("pykbroker" if is_ours else "Apache Kafka")
        with (
            tempfile.TemporaryDirectory(prefix="pykbroker-bench-") as directory,
            Quorum(Path(directory), is_ours) as quorum,
        ):
            rates.append(measure(quorum, asked.partitions, asked.topic_partitions))
    if len(rates) > 1:
        print(f"creation, pykbroker / Apache Kafka: {rates[0] / rates[1]:.2f}")
    return 0


def measure(quorum: Quorum, partitions: int, topic_partitions: int) -> float:
    """Print the figures of one quorum; return the partitions created per second."""
    leader = quorum.leader()
    before_mb = [node.rss_mb() for node in quorum.nodes]

    def create() -> None:
        beaten_s = time.monotonic()
        for number in range(0, partitions, topic_partitions):
            name = f"t-{number}"
            code = quorum.create(leader, name, min(topic_partitions, partitions - number))
            if code:
                raise RuntimeError(f"topic {name} was not created: {code}")
            if time.monotonic() - beaten_s > HEARTBEAT_S:
                beaten_s = time.monotonic()
                quorum.heartbeats()

    seconds = phase("creating all", create, quorum)
    print(f"  {partitions / seconds:.0f} partitions/s")
    quorum.await_caught_up()
    grown = [node.rss_mb() - before for node, before in zip(quorum.nodes, before_mb, strict=True)]
    each = ", ".join(f"{mb * 1024 * 1024 / partitions:.0f}" for mb in grown)
    print(f"  resident memory, bytes a partition: {each} (node {leader.id} leads)")
    phase("fencing a broker", lambda: quorum.heartbeat(FENCED, want_fence=True), quorum)
    phase("clearing eligible leaders", lambda: quorum.set_min_insync_replicas(1), quorum)
    phase("unfencing it", lambda: quorum.heartbeat(FENCED), quorum)
    first, second = (node for node in quorum.nodes if node is not leader)

    def restart() -> None:
        first.kill()
        first.start()
        await_back(quorum, first.id)

    phase("a voter starts again", restart, quorum)

    def empty() -> None:
        second.start_empty()
        await_back(quorum, second.id)

    phase("an empty voter starts", empty, quorum)

    def lead() -> None:
        leader.kill()
        until(lambda: quorum.create(quorum.leader(), "last", 1) == 0, "topic")

    phase("another leads", lead, quorum)
    return partitions / seconds


def await_back(quorum: Quorum, voter_id: int) -> None:
    """Wait until the voter has fetched, from now on, all that is committed but the last records,
    of which it may have just been told.
    """
    since_ms = time.time() * 1000 + OLD_FETCH_MS

    def is_back() -> bool:
        partition = quorum.described(quorum.leader())
        return partition is not None and any(
            at.replica_id == voter_id
            and at.last_fetch_timestamp > since_ms
            and at.log_end_offset >= partition.high_watermark - 2
            for at in partition.current_voters
        )

    until(is_back, "voter that is back")


def phase(name: str, work: Callable[[], None], quorum: Quorum) -> float:
    """Do the work; print its seconds, and which units of work held a loop for another longest time
    than before. Return the seconds.
    """
    before = {node.id: node.held_ms() for node in quorum.nodes if node.is_running}
    started_s = time.perf_counter()
    work()
    seconds = time.perf_counter() - started_s
    print(f"  {name}: {seconds:.2f} s", flush=True)
    for node in quorum.nodes:
        held = node.held_ms() if node.is_running else {}
        known = before.get(node.id, {})
        grown = {unit: ms for unit, ms in held.items() if ms != known.get(unit)}
        longest = sorted(grown.items(), key=lambda entry: -entry[1])[:SHOWN]
        if longest:
            units = ", ".join(f"{unit} {ms:.0f} ms" for unit, ms in longest)
            print(f"    node {node.id} held its loop: {units}", flush=True)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
