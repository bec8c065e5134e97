"""A group goes on when its coordinator is killed, on a node of either kind.

Two Java consumers read what a producer sends all the time, and what they committed never goes back.
(librdkafka crashes when it is asked for committed offsets while their coordinator is killed, and
kafka-python leaves sockets open.)
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.harness.apache import CONSUMER_GROUPS, VERIFIABLE_CONSUMER, java_command, run_tool
from tests.harness.flows import Flow
from tests.harness.mixed_cluster import APACHE, OURS, MixedCluster
from tests.harness.replicated import in_sync, partitions
from tests.harness.waiting import wait_for
from tests.harness.ways import ways

TOPIC, GROUP, OFFSETS = "work", "workers", "__consumer_offsets"
PARTITIONS = 6
KILLS = 3
SETTINGS: dict[str, Any] = {
    "broker_session_timeout_ms": "4000",
    "broker_heartbeat_interval_ms": "500",
    "replica_lag_time_max_ms": "6000",
    "offsets_topic_num_partitions": "1",
    "group_initial_rebalance_delay_ms": "0",
}


class Member:
    """Apache's VerifiableConsumer."""

    def __init__(self, servers: str, directory: Path, name: str) -> None:
        self._told = directory / f"{name}.json"
        command = java_command(
            VERIFIABLE_CONSUMER,
            *("--bootstrap-server", servers, "--topic", TOPIC, "--group-id", GROUP),
            *("--session-timeout", "10000", "--verbose", "--reset-policy", "earliest"),
        )
        with self._told.open("wb") as told, (directory / f"{name}.log").open("wb") as log:
            self._process = subprocess.Popen(command, stdout=told, stderr=log)

    @property
    def read(self) -> list[bytes]:
        lines = self._told.read_text().splitlines()
        events = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
        return [str(at["value"]).encode() for at in events if at["name"] == "record_data"]

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(60)


class Committed:
    """The committed offsets of the group, which never go back."""

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._known: dict[str, int] = {}

    def total(self) -> int:
        """Look again; the sum of all offsets."""
        at = ("--bootstrap-server", self._servers, "--group", GROUP)
        for line in run_tool(CONSUMER_GROUPS, *at, "--describe").splitlines():
            if line.startswith(GROUP):
                _, _, partition, offset, *_ = line.split()
                now = 0 if offset == "-" else int(offset)
                assert now >= self._known.get(partition, 0), line
                self._known[partition] = now
        return sum(self._known.values())


@pytest.mark.parametrize(
    "kinds", ways([(APACHE, OURS, OURS)], [(APACHE, APACHE, OURS)]), ids="-".join
)
def test_a_group_outlives_its_coordinators(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    with MixedCluster(tmp_path, *kinds, **SETTINGS) as cluster:
        servers = cluster.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 3)], request_timeout=60)[TOPIC].result()
        in_sync(servers, TOPIC, 3)
        flow = Flow(servers, TOPIC)
        members = [Member(servers, tmp_path, name) for name in ("first", "second")]
        try:
            await_progress(members)
            committed = Committed(servers)
            for _ in range(KILLS):
                in_sync(servers, OFFSETS, 3)
                assert committed.total() > 0
                coordinator = cluster.node(partitions(servers, OFFSETS)[0].leader)
                coordinator.kill()
                await_progress(members)
                coordinator.start()
                cluster.wait_for_brokers()
            sent = flow.stop()
            wait_for(lambda: committed.total() == len(sent), "everything to be committed")
        finally:
            for member in members:
                member.stop()
        read = [value for member in members for value in member.read]
        assert set(read) == set(sent)


def await_progress(members: list[Member]) -> None:
    """Wait until each member has read something more."""
    before = [len(member.read) for member in members]
    wait_for(
        lambda: all(len(at.read) > count for at, count in zip(members, before, strict=True)),
        "all members to go on",
    )
