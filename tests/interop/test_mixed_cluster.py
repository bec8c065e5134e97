"""One cluster of Apache Kafka's nodes and ours: each leads, each is lost, nothing else is."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from tests.harness.mixed_cluster import APACHE, OURS, MixedCluster
from tests.harness.replicated import Stream, in_sync, log_files, partitions, read_all

TOPIC = "shared"


def test_nodes_of_both_kinds_replicate_and_are_lost_in_turn(tmp_path: Path) -> None:
    with MixedCluster(tmp_path, APACHE, APACHE, OURS) as cluster:
        servers = cluster.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic(TOPIC, 3, 3)], request_timeout=30)[TOPIC].result()
        in_sync(servers, TOPIC, 3)
        assert {at.leader for at in partitions(servers, TOPIC).values()} == {1, 2, 3}
        stream = Stream(servers, TOPIC)
        stream.send(range(500))
        sent = 500
        for lost in (cluster.nodes[0], cluster.nodes[2]):
            lost.kill()
            stream.send(range(sent, sent + 500))
            sent += 500
            in_sync(servers, TOPIC, 2)
            lost.start()
            cluster.wait_for_brokers()
            in_sync(servers, TOPIC, 3)
        assert stream.failed == []
        got = read_all(servers, TOPIC, sent)
        assert sorted(got, key=int) == [b"%d" % number for number in range(sent)]
        for partition in range(3):
            first, *others = log_files(cluster.nodes, TOPIC, partition)
            assert others == [first, first]
