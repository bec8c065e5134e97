"""Apache Kafka's own command-line tools and Java clients against the broker."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.harness import apache
from tests.interop.samples import CODECS


def _tool(class_name: str, servers: str, *arguments: str, **options: Any) -> str:
    return apache.run_tool(class_name, "--bootstrap-server", servers, *arguments, **options)


@pytest.mark.parametrize("codec", CODECS)
def test_console_producer_and_consumer(servers: str, name: str, codec: str):
    lines = [f"h:{n},g:x\tkey{n}\tvalue{n}" for n in range(50)]
    _tool(
        apache.CONSOLE_PRODUCER,
        servers,
        *("--topic", name, "--compression-codec", codec),
        *("--reader-property", "parse.key=true", "--reader-property", "parse.headers=true"),
        stdin="\n".join(lines) + "\n",
    )
    output = _tool(
        apache.CONSOLE_CONSUMER,
        servers,
        *("--topic", name, "--from-beginning", "--max-messages", "50", "--group", name),
        *("--formatter-property", "print.key=true", "--formatter-property", "print.headers=true"),
        *("--formatter-property", "print.offset=true"),
    )
    got = [line for line in output.splitlines() if line.startswith("Offset:")]
    assert got == [f"Offset:{n}\th:{n},g:x\tkey{n}\tvalue{n}" for n in range(50)]


def test_kafka_topics(servers: str, name: str):
    create = ("--create", "--topic", name, "--partitions", "2", "--config", "retention.ms=5000")
    assert f"Created topic {name}." in _tool(apache.TOPICS, servers, *create)
    assert "already exists" in _tool(apache.TOPICS, servers, *create, check=False)
    assert name in _tool(apache.TOPICS, servers, "--list").splitlines()
    described = _tool(apache.TOPICS, servers, "--describe", "--topic", name)
    assert re.search(rf"Topic: {name}\tTopicId: \S{{22}}\tPartitionCount: 2", described)
    assert "retention.ms=5000" in described
    assert re.search(r"Partition: 1\tLeader: 1\tReplicas: 1\tIsr: 1", described)
    _tool(apache.TOPICS, servers, "--alter", "--topic", name, "--partitions", "4")
    assert "PartitionCount: 4" in _tool(apache.TOPICS, servers, "--describe", "--topic", name)
    _tool(apache.TOPICS, servers, "--delete", "--topic", name)
    assert name not in _tool(apache.TOPICS, servers, "--list").splitlines()


def test_kafka_configs(servers: str, name: str):
    _tool(apache.TOPICS, servers, "--create", "--topic", name)
    topic = ("--entity-type", "topics", "--entity-name", name)
    change = "cleanup.policy=[compact,delete],max.message.bytes=2000"
    _tool(apache.CONFIGS, servers, "--alter", *topic, "--add-config", change)
    described = _tool(apache.CONFIGS, servers, "--describe", *topic)
    assert "cleanup.policy=compact,delete" in described
    assert "DYNAMIC_TOPIC_CONFIG:max.message.bytes=2000" in described
    everything = _tool(apache.CONFIGS, servers, "--describe", "--all", *topic)
    assert "segment.bytes=1073741824" in everything
    _tool(apache.CONFIGS, servers, "--alter", *topic, "--delete-config", "max.message.bytes")
    assert "max.message.bytes" not in _tool(apache.CONFIGS, servers, "--describe", *topic)
    wrong = ("--alter", *topic, "--add-config", "retention.ms=never")
    refused = _tool(apache.CONFIGS, servers, *wrong, check=False)
    assert "InvalidConfigurationException" in refused
    broker = ("--entity-type", "brokers", "--entity-name", "1", "--describe", "--all")
    assert "log.segment.bytes=1073741824" in _tool(apache.CONFIGS, servers, *broker)


def test_consumer_groups_offsets_and_delete_records(servers: str, name: str, tmp_path: Path):
    _tool(apache.CONSOLE_PRODUCER, servers, "--topic", name, stdin="a\nb\nc\nd\n")
    read = ("--topic", name, "--from-beginning", "--group", name, "--max-messages", "4")
    _tool(apache.CONSOLE_CONSUMER, servers, *read)
    group = ("--group", name)
    described = _tool(apache.CONSUMER_GROUPS, servers, "--describe", *group)
    row = next(line for line in described.splitlines() if line.startswith(name))
    assert row.split()[:6] == [name, name, "0", "4", "4", "0"]
    assert "Empty" in _tool(apache.CONSUMER_GROUPS, servers, "--describe", *group, "--state")
    assert name in _tool(apache.CONSUMER_GROUPS, servers, "--list").splitlines()
    reset = ("--reset-offsets", "--to-offset", "1", "--topic", name, "--execute", *group)
    _tool(apache.CONSUMER_GROUPS, servers, *reset)
    described = _tool(apache.CONSUMER_GROUPS, servers, "--describe", *group)
    row = next(line for line in described.splitlines() if line.startswith(name))
    assert row.split()[3:6] == ["1", "4", "3"]
    _tool(apache.CONSUMER_GROUPS, servers, "--delete-offsets", "--topic", name, *group)
    _tool(apache.CONSUMER_GROUPS, servers, "--delete", *group)
    assert name not in _tool(apache.CONSUMER_GROUPS, servers, "--list").splitlines()

    assert _tool(apache.GET_OFFSETS, servers, "--topic", name).strip() == f"{name}:0:4"
    plan = tmp_path / "plan.json"
    partition = {"topic": name, "partition": 0, "offset": 3}
    plan.write_text(json.dumps({"partitions": [partition], "version": 1}))
    _tool(apache.DELETE_RECORDS, servers, "--offset-json-file", str(plan))
    earliest = _tool(apache.GET_OFFSETS, servers, "--topic", name, "--time", "earliest")
    assert earliest.strip() == f"{name}:0:3"
    described = _tool(apache.LOG_DIRS, servers, "--describe", "--topic-list", name)
    [broker] = json.loads(described.splitlines()[-1])["brokers"]
    [directory] = [d for d in broker["logDirs"] if d["partitions"]]
    assert directory["error"] is None
    assert directory["partitions"][0]["partition"] == f"{name}-0"
    assert directory["partitions"][0]["size"] > 0


def test_producer_and_consumer_performance(servers: str, name: str):
    produced = apache.run_tool(
        apache.PRODUCER_PERFORMANCE,
        *("--topic", name, "--num-records", "20000", "--record-size", "100"),
        *("--throughput", "-1", "--bootstrap-server", servers),
        *("--command-property", "acks=all"),
    )
    assert "20000 records sent" in produced
    consumed = _tool(
        apache.CONSUMER_PERFORMANCE, servers, "--topic", name, "--num-records", "20000"
    )
    assert re.search(r"\b20000\b", consumed.splitlines()[-1])


def _json_lines(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def test_verifiable_producer_and_consumer(servers: str, name: str):
    produced = _tool(
        apache.VERIFIABLE_PRODUCER,
        servers,
        *("--topic", name, "--max-messages", "200", "--acks", "-1"),
    )
    acknowledged = [e for e in _json_lines(produced) if e["name"] == "producer_send_success"]
    assert sorted(int(e["value"]) for e in acknowledged) == list(range(200))
    consumed = _tool(
        apache.VERIFIABLE_CONSUMER,
        servers,
        *("--topic", name, "--group-id", name, "--max-messages", "200"),
        *("--reset-policy", "earliest"),
    )
    events = _json_lines(consumed)
    assert sum(e["count"] for e in events if e["name"] == "records_consumed") == 200
    assert any(e["name"] == "offsets_committed" and e["success"] for e in events)


def test_broker_api_versions(servers: str):
    output = _tool(apache.BROKER_API_VERSIONS, servers)
    assert re.search(r"Produce\(0\): 0 to 13", output)
    assert re.search(r"Fetch\(1\): 4 to 18", output)


def test_a_killed_member_gives_its_partitions_back(servers: str, name: str):
    _tool(apache.TOPICS, servers, "--create", "--topic", name, "--partitions", "2")
    arguments = ("--bootstrap-server", servers, "--topic", name, "--group-id", name)
    command = apache.java_command(
        apache.VERIFIABLE_CONSUMER, *arguments, "--session-timeout", "6000"
    )

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def await_assignment(process: subprocess.Popen[str], count: int) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            if event["name"] == "partitions_assigned" and len(event["partitions"]) == count:
                return
        raise AssertionError(f"the consumer ended without {count} partitions")

    first, second = start(), None
    try:
        await_assignment(first, 2)
        second = start()
        await_assignment(second, 1)
        first.kill()
        await_assignment(second, 2)
    finally:
        for process in (first, second):
            if process is not None:
                process.kill()
                process.communicate()
