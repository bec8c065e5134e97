"""One metadata quorum of Apache Kafka's controllers and ours: each leads, each is lost in turn.

Java's AdminClient creates, alters and deletes topics while each of the three leads; eligible leader
replicas are kept alike by both kinds of controllers; records that were acknowledged are there; and
Apache's dump-log and ours read the same records in the metadata log of every node.
"""

from __future__ import annotations

import contextlib
import io
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pykbroker.cli.main import main
from pykbroker.protocol.record_batch import iter_batches, iter_records
from tests.harness.apache import DUMP_LOG, run_tool
from tests.harness.java_admin import Described, JavaAdmin
from tests.harness.mixed_cluster import APACHE, OURS, MixedCluster, MixedNode
from tests.harness.replicated import Stream, in_sync, log_files
from tests.harness.waiting import wait_for
from tests.harness.ways import ways

TIMERS: dict[str, Any] = {
    "broker_session_timeout_ms": "3000",
    "broker_heartbeat_interval_ms": "500",
    "controller_quorum_election_timeout_ms": "500",
    "controller_quorum_election_backoff_max_ms": "500",
}
NODES = {1, 2, 3}
NO_LEADER = -1
RECORDS = 200
MOST_ROUNDS = 9
LEDGER = "ledger"
ELIGIBLE = "eligible.leader.replicas.version"


@pytest.mark.parametrize(
    "kinds",
    ways([(APACHE, OURS, OURS)], [(APACHE, APACHE, OURS)]),
    ids=lambda kinds: f"{kinds.count(OURS)}-of-ours",
)
def test_each_voter_leads_and_each_is_lost(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    cluster = MixedCluster(tmp_path, *kinds, **TIMERS)
    with JavaAdmin(cluster.bootstrap_servers) as admin, cluster:
        admin.call("create", LEDGER, 3, 3)
        stream = Stream(cluster.bootstrap_servers, LEDGER)
        have_led, lost = set[int](), set[int]()
        while True:
            leader = leader_of(admin)
            round_trip(admin, leader)
            have_led.add(leader)
            if have_led == lost == NODES:
                break
            assert len(stream.acknowledged) < MOST_ROUNDS * 2 * RECORDS, (have_led, lost)
            change_leader(cluster, admin, stream, min((NODES - have_led) or (NODES - {leader})))
            lost.add(leader)
        left = ["kept-1", "kept-2", "kept-3", LEDGER]
        wait_for(lambda: admin.call("topics").split() == left, f"the topics {left}")
    assert stream.failed == []
    assert sorted(stored_values(cluster)) == sorted(stream.acknowledged)
    metadata_logs_agree(cluster)


def leader_of(admin: JavaAdmin) -> int:
    """The leader of the quorum, as soon as one is known."""
    found: list[int] = []

    def is_known() -> bool:
        found.append(int(admin.call("quorum")))
        return found[-1] != NO_LEADER

    wait_for(is_known, "a leader of the quorum")
    return found[-1]


def round_trip(admin: JavaAdmin, leader: int) -> None:
    """Create, alter and delete topics under this leader."""
    kept, gone = f"kept-{leader}", f"gone-{leader}"
    admin.ask("delete", kept)  # of a former term, if any
    admin.call("create", kept, 2, 3)
    admin.call("create", gone, 1, 2)
    admin.call("set", kept, "retention.ms", 100_000 + leader)
    admin.call("set", kept, "min.insync.replicas", 1)
    admin.call("grow", kept, 4)
    admin.call("delete", gone)
    # Any broker answers that, when it sees what the controller has committed.
    wait_for(lambda: len(admin.describe(kept)) == 4, f"four partitions of {kept}")
    admin.call("feature", ELIGIBLE, 0, "SAFE_DOWNGRADE")
    admin.call("feature", ELIGIBLE, 1, "UPGRADE")
    assert admin.ask("create", kept, 1, 1).startswith("error TopicExistsException")
    assert admin.ask("set", kept, "min.insync.replicas", 0).startswith("error InvalidConfig")


def change_leader(
    cluster: MixedCluster, admin: JavaAdmin, stream: Stream, next_leader: int
) -> None:
    """Kill the leader of the quorum so that `next_leader` leads, and start it again.

    The third node is paused meanwhile, so that it misses records and cannot be elected. (A slow
    machine may elect once more.)
    """
    old = leader_of(admin)
    (third,) = NODES - {old, next_leader}
    pair, lone = f"pair-{old}", f"lone-{old}"
    admin.call("assign", pair, f"{old},{next_leader}")
    admin.call("assign", lone, f"{old}")
    send(cluster, stream)
    cluster.node(third).pause()
    wait_for_records(cluster.node(next_leader))
    cluster.node(old).kill()
    cluster.node(third).resume()
    wait_for(lambda: leader_of(admin) != old, "another leads the quorum")
    # Fenced: the partition below min.insync.replicas remembers who has all its records.
    waits = Described(None, [old], [], [old], [old])
    wait_for(lambda: admin.describe(lone) == [waits], f"{old} is fenced")
    led = Described(next_leader, [old, next_leader], [next_leader], [old], [])
    wait_for(lambda: admin.describe(pair) == [led], f"{pair} is led by {next_leader} alone")
    send(cluster, stream)
    cluster.node(old).start()
    cluster.wait_for_brokers()
    # It did not stop cleanly: it is eligible no more, and leads as the last known leader only.
    leads = Described(old, [old], [old], [], [])
    wait_for(lambda: admin.describe(lone) == [leads], f"{old} leads {lone}")
    wait_for(partial(is_whole, admin, pair), f"{old} is in sync again")
    in_sync(cluster.bootstrap_servers, LEDGER, 3)
    for topic in (pair, lone):
        admin.call("delete", topic)


def is_whole(admin: JavaAdmin, pair: str) -> bool:
    """Whether both replicas are in sync, and none is remembered as eligible."""
    found = admin.describe(pair)
    return [(len(each.isr), each.elr) for each in found] == [(2, [])]


def send(cluster: MixedCluster, stream: Stream) -> None:
    sent = len(stream.acknowledged)
    stream.send(range(sent, sent + RECORDS))


def wait_for_records(node: MixedNode) -> None:
    """Until its metadata log has grown by more than one answer to a fetch may hold."""
    sizes: set[int] = set()

    def has_grown() -> bool:
        sizes.add(sum(path.stat().st_size for path in node.metadata_files))
        return len(sizes) > 3

    wait_for(has_grown, f"records for node {node.id}")


def stored_values(cluster: MixedCluster) -> list[bytes]:
    """Of all records of the ledger, which are the same on every node."""
    values = []
    for partition in range(3):
        log, *others = log_files(cluster.nodes, LEDGER, partition)
        assert others == [log, log]
        for header, batch in iter_batches(memoryview(log)):
            values += [bytes(record.value or b"") for record in iter_records(batch, header)]
    return values


def metadata_logs_agree(cluster: MixedCluster) -> None:
    """Both tools read the same in every node's log, and the nodes have the same records."""
    texts = []
    for node in cluster.nodes:
        assert len(node.metadata_files) == 1
        texts.append(dumped(node.metadata_files[0]))
    shortest = min(map(len, texts))
    assert shortest > 100
    assert all(text[:shortest] == texts[0][:shortest] for text in texts)
    for record, count in (("CLEAR_ELR", 4), ("FEATURE_LEVEL", 8), ("PARTITION_CHANGE", 20)):
        assert sum(f"{record}_RECORD" in line for line in texts[0]) >= count


def dumped(path: Path) -> list[str]:
    """The lines of both dump-logs on this file, without its name."""
    arguments = ("--cluster-metadata-decoder", "--files", str(path))
    theirs = run_tool(DUMP_LOG, *arguments).splitlines()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(["dump-log", *arguments]) == 0
    assert printed.getvalue().splitlines() == theirs
    return theirs[1:]
