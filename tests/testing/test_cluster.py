"""A cluster of processes: it elects, replicates metadata, and survives the loss of its leader."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.testing import Cluster

PATIENCE_SECONDS = 120.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(3) as cluster:
        yield cluster


def admin(servers: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": servers, "socket.timeout.ms": 10_000})


def create(servers: str, name: str) -> None:
    """Create a topic; a controller that is being elected is waited for."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        client = admin(servers)
        topic = NewTopic(name, 1, 1)
        made = client.create_topics([topic], operation_timeout=30, request_timeout=10)
        try:
            made[name].result()
            return
        except Exception as failure:
            code: Any = failure.args[0]
            if code.name() == "TOPIC_ALREADY_EXISTS":
                return  # the answer to an earlier try was lost
            if time.monotonic() > until:
                raise


def topics(servers: str) -> set[str]:
    return set(admin(servers).list_topics(timeout=30).topics)


def wait_for(servers: str, *names: str) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not set(names) <= topics(servers):
        assert time.monotonic() < until, f"{names} are not in {topics(servers)}"


def leader_of(cluster: Cluster) -> int:
    """Which node leads the metadata quorum, by its own log."""
    epochs = {}
    for node in cluster.nodes:
        for line in node.log_text.splitlines():
            if "Becoming the active controller in epoch" in line:
                epochs[node.id] = int(line.split("in epoch")[1].split()[0])
    return max(epochs, key=lambda node_id: epochs[node_id])


@pytest.mark.interop
def test_every_node_takes_changes_and_all_see_them(cluster: Cluster) -> None:
    for node in cluster.nodes:
        create(node.bootstrap_servers, f"via-{node.id}")
    for node in cluster.nodes:
        wait_for(node.bootstrap_servers, "via-1", "via-2", "via-3")


@pytest.mark.interop
def test_the_quorum_goes_on_without_its_leader(cluster: Cluster) -> None:
    for round_number in range(2):
        leader = cluster.node(leader_of(cluster))
        others = [node for node in cluster.nodes if node is not leader]
        leader.kill()
        create(",".join(node.bootstrap_servers for node in others), f"without-{round_number}")
        leader.start()
        wait_for(leader.bootstrap_servers, f"without-{round_number}")


@pytest.mark.interop
def test_a_paused_leader_is_replaced_and_follows_when_it_wakes(cluster: Cluster) -> None:
    leader = cluster.node(leader_of(cluster))
    others = [node for node in cluster.nodes if node is not leader]
    leader.pause()
    try:
        create(",".join(node.bootstrap_servers for node in others), "while-paused")
    finally:
        leader.resume()
    wait_for(leader.bootstrap_servers, "while-paused")


def test_topics_have_a_replica_on_each_of_three_nodes() -> None:
    with Cluster(3) as three:
        three.nodes[0].create_topics({"kept": 1})
        client = admin(three.bootstrap_servers)
        until = time.monotonic() + PATIENCE_SECONDS
        while not (partitions := client.list_topics("kept", timeout=60).topics["kept"].partitions):
            assert time.monotonic() < until  # some node has not heard of it yet
            time.sleep(0.05)
        assert sorted(partitions[0].replicas) == [1, 2, 3]


def test_a_directory_is_used_again_with_one_more_node(tmp_path: Path) -> None:
    with Cluster(1, directory=tmp_path) as first:
        create(first.bootstrap_servers, "kept")
    with Cluster(2, directory=tmp_path, controllers=1) as again:
        assert again.cluster_id == first.cluster_id
        for node in again.nodes:
            found: Any = admin(node.bootstrap_servers).list_topics(timeout=60)
            assert found.cluster_id == first.cluster_id
            assert "kept" in found.topics


def test_more_controllers_than_nodes_are_refused() -> None:
    with pytest.raises(ValueError, match="4 controllers need"):
        Cluster(3, controllers=4)


def test_the_last_voter_waits_for_nobody_when_it_is_told_twice() -> None:
    with Cluster(2) as pair:
        first, second = pair.nodes
        second.kill()
        first.process.terminate()
        until = time.monotonic() + PATIENCE_SECONDS
        while "shutting down" not in first.log_text:
            assert time.monotonic() < until
            time.sleep(0.05)
        first.process.terminate()
        assert first.process.wait(PATIENCE_SECONDS) == 0
        assert "told not to wait for a controller" in first.log_text  # and not that it timed out
