"""A move between log directories that one node began is finished by the other.

AlterReplicaLogDirs leaves a `-future` directory; a node that is killed then leaves the rest to
whoever starts on the directories: Apache Kafka after us, we after Apache Kafka.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka.admin import KafkaAdminClient
from kafka.structs import TopicPartitionReplica

from pykbroker.testing import Broker
from tests.harness.apache import LOG_DIRS, ApacheBroker, run_tool
from tests.harness.waiting import wait_for
from tests.interop.cluster_facts import records_of

TOPIC = "wandering"
COUNT = 60_000


def fill(servers: str) -> None:
    topic = NewTopic(TOPIC, 1, 1, config={"segment.bytes": "10485760"})
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([topic])[TOPIC].result(60)
    producer = Producer({"bootstrap.servers": servers, "queue.buffering.max.messages": COUNT})
    for number in range(COUNT):
        producer.produce(TOPIC, b"%d " % number + bytes(2000), b"%d" % number)
        producer.poll(0)
    assert producer.flush(60) == 0


def begin_move(servers: str, target: Path) -> None:
    """Ask for the move; it has begun when this returns."""
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.alter_replica_log_dirs({TopicPartitionReplica(TOPIC, 0, 1): str(target)})
    admin.close()

    def has_begun() -> bool:
        """The replica of a former move may still be there, to be deleted: that is not this one.
        A copy whose topic is not written yet would be set aside, or deleted, by the next node.
        """
        written = target.glob(f"{TOPIC}-0.*-future/partition.metadata")
        return (target / f"{TOPIC}-0").exists() or any(at.stat().st_size for at in written)

    wait_for(has_begun, "the future replica")


def directories_told(servers: str) -> dict[str, list[dict[str, Any]]]:
    """What kafka-log-dirs prints of our topic: directory -> partitions."""
    output = run_tool(LOG_DIRS, "--bootstrap-server", servers, "--describe", "--topic-list", TOPIC)
    (line,) = [text for text in output.splitlines() if text.startswith("{")]
    (broker,) = json.loads(line)["brokers"]
    return {Path(at["logDir"]).name: at["partitions"] for at in broker["logDirs"]}


def intact(servers: str) -> None:
    (records,) = records_of(servers, [TopicPartition(TOPIC, 0)], "read_committed").values()
    assert [record.key for record in records] == [b"%d" % number for number in range(COUNT)]


def test_the_other_node_finishes_a_move(tmp_path: Path) -> None:
    directories = [tmp_path / "one", tmp_path / "two"]
    listed = ",".join(map(str, directories))
    session = {"broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "500"}
    apache = ApacheBroker(directories[0], config={"log.dirs": listed} | session)
    controller = f"127.0.0.1:{apache.controller_port}"
    overrides = {
        "listeners": f"PLAINTEXT://{apache.bootstrap_servers},CONTROLLER://{controller}",
        "controller.quorum.bootstrap.servers": controller,
        "log.dirs": listed,
    }
    node = Broker(data_dir=directories[0], overrides=overrides)
    servers = apache.bootstrap_servers
    try:
        node.start()
        fill(servers)
        home, away = sorted(directories, key=lambda at: not (at / f"{TOPIC}-0").exists())
        size = directories_told(servers)[home.name][0]["size"]
        begin_move(servers, away)
        node.kill()

        apache.start()
        wait_for((away / f"{TOPIC}-0").exists, "Apache to finish the move")
        intact(servers)
        assert directories_told(servers) == {
            home.name: [],
            away.name: [
                {"partition": f"{TOPIC}-0", "size": size, "offsetLag": 0, "isFuture": False}
            ],
        }
        begin_move(servers, home)
        apache.kill()

        node.start()
        wait_for((home / f"{TOPIC}-0").exists, "us to finish the move")
        wait_for(lambda: not (away / f"{TOPIC}-0").exists(), "the old replica to go")
        intact(servers)
        (only,) = directories_told(servers)[home.name]
        assert (only["size"], only["offsetLag"], only["isFuture"]) == (size, 0, False)
        assert "Traceback" not in node.log_text
    finally:
        node.close()
        apache.close()
