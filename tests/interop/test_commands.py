"""Our commands and Apache's scripts of the same name print the same, asked of the same broker."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.cli.main import main
from tests.harness import apache
from tests.harness.commits import commit_offsets

SCRIPTS = {
    "topics": apache.TOPICS,
    "configs": apache.CONFIGS,
    "groups": apache.CONSUMER_GROUPS,
    "get-offsets": apache.GET_OFFSETS,
    "log-dirs": apache.LOG_DIRS,
}


class Scene(NamedTuple):
    """A broker with two topics and two groups, one of them with a member."""

    servers: str
    topic: str
    idle: str
    live: str


@pytest.fixture(scope="module")
def scene(make_broker: Callable[..., Any]) -> Iterator[Scene]:
    """On a broker of its own: groups of other tests would change their states between two looks."""
    with make_broker({"log.retention.ms": "-1"}) as broker:
        yield from set_up(broker.bootstrap_servers)


def set_up(servers: str) -> Iterator[Scene]:
    scene = Scene(servers, "commands.topic_1", "commands-idle", "commands-live")
    admin = AdminClient({"bootstrap.servers": servers})
    topics = [
        NewTopic(scene.topic, 3, 1, config={"retention.ms": "-1", "cleanup.policy": "delete"}),
        NewTopic("commands-empty", 1, 1),
    ]
    for future in admin.create_topics(topics).values():
        future.result(60)
    producer = Producer({"bootstrap.servers": servers})
    for number in range(30):
        at = 1_600_000_000_000 + number
        producer.produce(scene.topic, b"v", partition=number % 3, timestamp=at)
    assert producer.flush(60) == 0
    offsets = [TopicPartition(scene.topic, number, number + 1) for number in range(2)]
    commit_offsets(servers, scene.idle, offsets)
    live = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": scene.live,
            "client.id": "commands-client",
            "auto.offset.reset": "earliest",
            "max.poll.interval.ms": 86_400_000,  # nobody polls it while the tests look at it
        }
    )
    live.subscribe([scene.topic])
    assert len(live.consume(30, timeout=60)) == 30
    live.commit(asynchronous=False)
    yield scene
    live.close()


@pytest.fixture
def compare(scene: Scene, capsys: pytest.CaptureFixture[str]):
    """Runs a command both ways; the lines that both print."""

    def run(command: str, *arguments: str, ordered: bool = True) -> list[str]:
        both = ("--bootstrap-server", scene.servers, *arguments)
        capsys.readouterr()
        main([command, *both])
        ours = capsys.readouterr().out.splitlines()
        theirs = apache.run_tool(SCRIPTS[command], *both).splitlines()
        if not ordered:
            # Java's hash maps have an order of their own.
            assert sorted(ours) == sorted(theirs)
        else:
            assert ours == theirs
        return ours

    return run


def test_topics(scene: Scene, compare) -> None:
    assert scene.topic in compare("topics", "--list")
    described = compare("topics", "--describe", "--topic", scene.topic)
    assert len(described) == 4
    assert "retention.ms=-1" in described[0]
    compare("topics", "--describe", "--topic", "commands.*")
    compare("topics", "--describe", "--topics-with-overrides", "--topic", "commands.*")
    assert compare("topics", "--describe", "--unavailable-partitions") == []
    assert len(compare("topics", "--describe", "--at-min-isr-partitions", "--topic", scene.topic))
    assert compare("topics", "--describe", "--topic", "nothing", "--if-exists") == []


def test_configs(scene: Scene, compare) -> None:
    topic = ("--entity-type", "topics", "--entity-name", scene.topic)
    assert len(compare("configs", "--describe", *topic)) == 3
    assert len(compare("configs", "--describe", "--all", "--topic", scene.topic)) == 38
    compare("configs", "--describe", "--topic", "nothing")
    compare("configs", "--describe", "--entity-type", "brokers")
    compare("configs", "--describe", "--broker", "1", "--all")
    compare("configs", "--describe", "--broker", "7")


def test_groups(scene: Scene, compare) -> None:
    listed = compare("groups", "--list", ordered=False)
    assert {scene.idle, scene.live} <= set(listed)
    compare("groups", "--list", "--state", "--type", ordered=False)
    compare("groups", "--list", "--state", "Stable", ordered=False)
    described = compare("groups", "--describe", "--group", scene.live)
    assert any("commands-client" in line for line in described)
    for more in (("--verbose",), ("--members",), ("--members", "--verbose"), ("--state",)):
        assert compare("groups", "--describe", "--group", scene.live, *more)
        assert compare("groups", "--describe", "--group", scene.idle, *more)


def test_resets(scene: Scene, compare) -> None:
    scope = ("--reset-offsets", "--dry-run", "--group", scene.idle)
    for way in (
        ("--to-earliest", "--topic", scene.topic),
        ("--to-latest", "--topic", f"{scene.topic}:0,2"),
        ("--shift-by", "3", "--all-topics"),
        ("--shift-by", "-300", "--all-topics"),
        ("--to-offset", "4", "--topic", scene.topic),
        ("--to-offset", "400", "--topic", scene.topic),
        ("--to-current", "--topic", scene.topic),
        ("--to-datetime", "2020-09-13T12:26:40.010", "--topic", scene.topic),
        ("--by-duration", "PT1H", "--topic", scene.topic),
        ("--to-latest", "--all-topics", "--export"),
    ):
        assert len(compare("groups", *scope, *way, ordered=False)) >= 3, way
    compare("groups", "--reset-offsets", "--dry-run", "--group", scene.live, "--to-latest",
            "--all-topics")  # fmt: skip


def test_get_offsets(scene: Scene, compare) -> None:
    assert compare("get-offsets", "--topic", scene.topic) == [
        f"{scene.topic}:{number}:10" for number in range(3)
    ]
    compare("get-offsets", "--topic-partitions", f"{scene.topic}:1-,commands-.*:0")
    for time in ("earliest", "-1", "max-timestamp", "1600000000010", "earliest-local"):
        compare("get-offsets", "--topic", "commands.*", "--time", time)
    compare("get-offsets", "--exclude-internal-topics", "--partitions", "0")


def test_log_dirs(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--bootstrap-server", scene.servers, "--describe", "--topic-list", scene.topic)
    assert main(["log-dirs", *arguments]) == 0
    ours = capsys.readouterr().out.splitlines()
    theirs = apache.run_tool(apache.LOG_DIRS, *arguments).splitlines()
    assert ours[:2] == theirs[:2]
    assert _sorted_dirs(ours[2]) == _sorted_dirs(theirs[2])


def _sorted_dirs(line: str) -> object:
    described = json.loads(line)
    for broker in described["brokers"]:
        for directory in broker["logDirs"]:
            directory["partitions"].sort(key=lambda each: each["partition"])
    return described


def test_delete_records(scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "offsets.json"
    partitions = [
        {"topic": scene.topic, "partition": number, "offset": number + 1} for number in range(2)
    ]
    file.write_text(json.dumps({"partitions": partitions, "version": 1}))
    arguments = ("--bootstrap-server", scene.servers, "--offset-json-file", str(file))
    assert main(["delete-records", *arguments]) == 0
    ours = capsys.readouterr().out.splitlines()
    theirs = apache.run_tool(apache.DELETE_RECORDS, *arguments).splitlines()
    assert sorted(ours) == sorted(theirs)
    assert f"partition: {scene.topic}-1\tlow_watermark: 2" in ours


def test_storage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A directory that ours formatted is one for theirs, and the other way round."""
    outputs = {}
    for kind in ("ours", "theirs"):
        directory = tmp_path / kind
        file = tmp_path / f"{kind}.properties"
        file.write_text(
            "process.roles=broker,controller\nnode.id=4\ncontroller.listener.names=CONTROLLER\n"
            "listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093\n"
            f"controller.quorum.bootstrap.servers=127.0.0.1:9093\nlog.dirs={directory}\n"
        )
        if kind == "ours":
            code = main(["storage", "format", "-t", "5L6g3nShT-eMCtK--X86sw", "-c", str(file)])
            assert code == 0
        else:
            apache.run_tool(
                apache.STORAGE,
                *("format", "-t", "5L6g3nShT-eMCtK--X86sw", "-c", str(file), "--standalone"),
            )
        capsys.readouterr()
        assert main(["storage", "info", "-c", str(file)]) == 0
        outputs[kind] = capsys.readouterr().out
        assert apache.run_tool(apache.STORAGE, "info", "-c", str(file)) == outputs[kind]
    assert "cluster.id=5L6g3nShT-eMCtK--X86sw" in outputs["ours"]
