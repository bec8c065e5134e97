"""A node comes up and goes down; what forbids a start leaves no trace."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import pytest

from pykbroker.broker.metadata.publisher_steps import ReplicaManagerStep
from pykbroker.broker.node_state import NodeState
from pykbroker.broker.server import BrokerServer
from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.config.topic_keys import TOPIC_KEYS
from pykbroker.deferred import Deferred
from pykbroker.environment.files import LogDirFailure
from pykbroker.environment.real.scheduler import in_asyncio
from pykbroker.environment.real.world import real_environment
from pykbroker.errors import ErrorCode, KafkaError, StartError
from pykbroker.log.directories import directory_loader
from pykbroker.log.directories.log_manager import LogManager
from pykbroker.log.partition.flush import FlushJob
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.protocol.api import APIS, response_class
from pykbroker.protocol.headers import decode_response_header, encode_request
from pykbroker.protocol.messages.api_versions_request import ApiVersionsRequest
from pykbroker.protocol.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from pykbroker.protocol.messages.metadata_request import MetadataRequest
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.purgatory import DelayedOperation
from pykbroker.types import TopicPartition


def make_config(directory: Path, **overrides: str) -> BrokerConfig:
    properties = standalone_properties(directory, port=0)
    return BrokerConfig.from_properties(
        properties | {key.replace("_", "."): value for key, value in overrides.items()}
    )


def make_server(config: BrokerConfig) -> BrokerServer:
    """A node on the running event loop."""
    return BrokerServer(real_environment(asyncio.get_running_loop()), config)


async def start(config: BrokerConfig) -> None:
    """Start a node that has to refuse to."""
    await in_asyncio(make_server(config).start())


def run(config: BrokerConfig, scenario: Callable[[BrokerServer], Coroutine[Any, Any, Any]]) -> Any:
    """Start a node, run the scenario, stop the node."""

    async def whole() -> Any:
        server = make_server(config)
        await in_asyncio(server.start())
        try:
            return await scenario(server)
        finally:
            await in_asyncio(server.stop())

    return asyncio.run(whole())


async def call(port: int, key: int, version: int, message: Any) -> Any:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    out: Parts = []
    encode_request(APIS[key], version, 3, "test", message, out)
    try:
        writer.write(join_parts(out))
        size = int.from_bytes(await reader.readexactly(4), "big")
        reply = await reader.readexactly(size)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
    correlation_id, position = decode_response_header(reply, APIS[key], version)
    assert correlation_id == 3
    return response_class(key).decode(memoryview(reply), position, version)[0]


async def api_versions(port: int) -> Any:
    message = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    return await call(port, 18, 4, message)


def test_a_node_serves_on_both_its_listeners(tmp_path: Path) -> None:
    async def scenario(server: BrokerServer) -> None:
        (listener,) = server.listeners
        assert listener.listener_name == "PLAINTEXT"
        assert listener.port > 0
        (controller,) = [at.port for at in server.network.listeners if at.is_controller]
        on_broker = {api.api_key for api in (await api_versions(listener.port)).api_keys}
        on_controller = {api.api_key for api in (await api_versions(controller)).api_keys}
        assert on_broker == {route.api.key for route in server.routes if route.on_broker}
        assert on_controller == {r.api.key for r in server.routes if r.on_controller}
        assert {0, 1, 18} <= on_broker
        assert 0 not in on_controller

    run(make_config(tmp_path / "d"), scenario)


def test_what_it_registers_is_what_is_advertised(tmp_path: Path) -> None:
    async def scenario(server: BrokerServer) -> None:
        registration = server.image.brokers[server.node_id]
        assert not registration.fenced
        (listener,) = server.listeners
        assert registration.listeners["PLAINTEXT"].port == listener.port
        assert registration.listeners["PLAINTEXT"].host == "127.0.0.1"

    run(make_config(tmp_path / "d"), scenario)


def test_clients_of_a_listener_are_sent_to_that_listener(tmp_path: Path) -> None:
    async def scenario(server: BrokerServer) -> None:
        names = [at.listener_name for at in server.listeners]
        assert names == ["PLAINTEXT", "OUTSIDE", "FAR"]
        for listener in server.listeners:
            reply = await call(listener.port, 3, 12, MetadataRequest(topics=[]))
            (broker,) = reply.brokers
            expected = ("far.example", 4242)
            if listener.listener_name != "FAR":
                expected = ("127.0.0.1", listener.port)
            assert (broker.host, broker.port) == expected

    listeners = "PLAINTEXT://127.0.0.1:0,OUTSIDE://127.0.0.1:0,FAR://127.0.0.1:0"
    properties = standalone_properties(tmp_path / "d") | {
        "listeners": f"{listeners},CONTROLLER://127.0.0.1:0",
        "advertised.listeners": (
            "PLAINTEXT://127.0.0.1:0,OUTSIDE://127.0.0.1:0,FAR://far.example:4242"
        ),
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,OUTSIDE:PLAINTEXT,FAR:PLAINTEXT,CONTROLLER:PLAINTEXT"
        ),
    }
    run(BrokerConfig.from_properties(properties), scenario)


def test_it_stays_who_it_is_over_a_restart(tmp_path: Path) -> None:
    async def identity(server: BrokerServer) -> tuple[str, int, int]:
        return server.cluster_id, server.kraft.broker_epoch, server.image.offset

    config = make_config(tmp_path / "d")
    first = run(config, identity)
    second = run(config, identity)
    assert first[0] == second[0]
    assert first[1] < second[1]
    assert first[2] < second[2]
    assert (tmp_path / "d" / ".kafka_cleanshutdown").exists()


def test_nothing_follows_the_metadata_before_the_node_is_registered_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The metadata of before may say that it leads what its logs have lost."""
    first: list[int] = []
    apply = ReplicaManagerStep.apply

    def noted(step: ReplicaManagerStep, delta: Any, image: Any) -> None:
        first.append(image.brokers[1].epoch)
        apply(step, delta, image)

    async def epoch(server: BrokerServer) -> int:
        return server.kraft.broker_epoch

    monkeypatch.setattr(ReplicaManagerStep, "apply", noted)
    config = make_config(tmp_path)
    for _ in range(2):
        first.clear()
        assert run(config, epoch) == first[0]


def test_a_port_in_use_touches_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        config = BrokerConfig.from_properties(standalone_properties(tmp_path / "d", port=port))
        with pytest.raises(StartError, match=f"bind to 127.0.0.1:{port}: Address already in use"):
            asyncio.run(start(config))
    assert not (tmp_path / "d").exists()


def test_a_directory_of_another_node(tmp_path: Path) -> None:
    run(make_config(tmp_path / "d"), api_versions_of)
    other = standalone_properties(tmp_path / "d", port=0, node_id=7)
    before = {path: path.read_bytes() for path in (tmp_path / "d").rglob("*") if path.is_file()}
    with pytest.raises(StartError, match=r"Stored node id 1 .* the configured node.id 7"):
        asyncio.run(start(BrokerConfig.from_properties(other)))
    after = {path: path.read_bytes() for path in (tmp_path / "d").rglob("*") if path.is_file()}
    assert before == after


async def api_versions_of(server: BrokerServer) -> Any:
    return await api_versions(server.listeners[0].port)


def test_a_directory_in_use(tmp_path: Path) -> None:
    config = make_config(tmp_path / "d")

    async def scenario(server: BrokerServer) -> None:
        with pytest.raises(StartError, match="Failed to acquire lock"):
            await start(config)
        await api_versions_of(server)

    run(config, scenario)


def test_a_directory_that_holds_something_else(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "thesis.txt").write_text("mine")
    with pytest.raises(StartError, match=r"thesis\.txt"):
        asyncio.run(start(make_config(tmp_path / "d")))
    assert [path.name for path in (tmp_path / "d").iterdir()] == ["thesis.txt"]


def test_deadlines_of_the_purgatory_pass_without_traffic(tmp_path: Path) -> None:
    class Waiting(DelayedOperation):
        def __init__(self, deferred: Deferred) -> None:
            super().__init__()
            self.deferred = deferred

        def try_complete(self) -> bool:
            return False

        def expire(self) -> None:
            self.deferred.resolve("expired")

    async def scenario(server: BrokerServer) -> None:
        deferred = Deferred()
        begun_ms = server.now_ms()
        server.purgatory.watch(Waiting(deferred), ["key"], begun_ms + 30)
        server.wake()
        async with asyncio.timeout(60):
            assert await in_asyncio(server.settled(deferred)) == "expired"
        assert server.now_ms() >= begun_ms + 30

    run(make_config(tmp_path / "d"), scenario)


def test_settled_raises_a_kafka_error(tmp_path: Path) -> None:
    async def scenario(server: BrokerServer) -> None:
        deferred = Deferred()
        deferred.resolve(KafkaError(ErrorCode.NOT_CONTROLLER))
        with pytest.raises(KafkaError):
            await in_asyncio(server.settled(deferred))

    run(make_config(tmp_path / "d"), scenario)


def test_halt_tells_whoever_runs_the_node(tmp_path: Path) -> None:
    async def scenario(server: BrokerServer) -> None:
        told: list[str] = []
        server.follow_fatal(told.append)
        server.halt(ValueError("in doubt"))
        assert told == ["this node cannot continue: ValueError('in doubt')"]

    run(make_config(tmp_path / "d"), scenario)
    assert not (tmp_path / "d" / ".kafka_cleanshutdown").exists()  # the next start checks all


def test_a_lost_directory_is_no_bug(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(server: BrokerServer) -> None:
        told: list[str] = []
        server.follow_fatal(told.append)
        server.halt(LogDirFailure("/d", "fsync", OSError(5, "Input/output error")))
        assert len(told) == 1
        assert "Input/output error" in told[0]

    run(make_config(tmp_path / "d"), scenario)
    assert "Traceback" not in caplog.text
    assert (tmp_path / "d" / ".kafka_cleanshutdown").exists()


def test_the_last_directory_lost_on_the_way_up_ends_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = LogManager.open_logs

    async def load_and_lose(manager: LogManager, now_ms: int) -> None:
        await load(manager, now_ms)
        path = manager.directories[0].path
        failure = LogDirFailure(path, "creating the log t-0", OSError(17, "File exists"))
        manager.on_dir_failure(path, failure)

    async def scenario(server: BrokerServer) -> None:
        pytest.fail("it serves")

    monkeypatch.setattr(LogManager, "open_logs", load_and_lose)
    with pytest.raises(StartError, match=r"the metadata log is in .*creating the log t-0"):
        run(make_config(tmp_path / "d"), scenario)


def test_a_bug_when_something_expires_ends_the_node(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(DelayedOperation):
        def try_complete(self) -> bool:
            return False

        def expire(self) -> None:
            raise ValueError("cannot expire")

    async def scenario(server: BrokerServer) -> None:
        ended = asyncio.Event()
        server.follow_fatal(lambda message: ended.set())
        server.purgatory.watch(Broken(), [], server.now_ms() + 1)
        server.wake()
        await asyncio.wait_for(ended.wait(), 60)

    run(make_config(tmp_path / "d"), scenario)
    assert "cannot expire" in caplog.text


def test_a_step_down_that_fails_does_not_keep_the_others_from_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(server: BrokerServer) -> None:
        def fails() -> None:
            raise ValueError("cannot stop")

        server._undo.append(fails)

    run(make_config(tmp_path / "d"), scenario)
    assert "cannot stop" in caplog.text
    assert (tmp_path / "d" / ".kafka_cleanshutdown").exists()


def test_a_slash_behind_the_directory_means_nothing(tmp_path: Path) -> None:
    async def create(server: BrokerServer) -> None:
        reply = await call(server.listeners[0].port, 19, 7, topic)
        assert reply.topics[0].error_code == 0

    async def look(server: BrokerServer) -> None:
        log = server.log_manager.get(TopicPartition("t", 0))
        assert log is not None
        assert log.directory == f"{tmp_path}/d/t-0"

    topic = CreateTopicsRequest(
        topics=[CreatableTopic(name="t", num_partitions=1, replication_factor=1)], timeout_ms=5000
    )
    config = make_config(tmp_path, log_dirs=f"{tmp_path}/d//")
    run(config, create)
    run(config, look)


def test_a_topic_with_limits_of_an_older_kafka_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def create(server: BrokerServer) -> None:
        small = CreatableTopicConfig(name="segment.bytes", value="1000")
        topic = CreatableTopic(name="old", num_partitions=1, replication_factor=1, configs=[small])
        request = CreateTopicsRequest(topics=[topic], timeout_ms=5000)
        reply = await call(server.listeners[0].port, 19, 7, request)
        assert reply.topics[0].error_code == 0

    with monkeypatch.context() as patch:
        patch.setattr(TOPIC_KEYS["segment.bytes"], "validator", None)
        run(make_config(tmp_path / "d"), create)
    with pytest.raises(StartError, match=r"^topic old: Invalid value 1000 .* segment\.bytes"):
        asyncio.run(start(make_config(tmp_path / "d")))


@pytest.mark.parametrize("is_late", [False, True])
def test_stopping_in_haste(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, is_late: bool
) -> None:
    """No controller answers; haste may come before the node waits for one, or while it waits."""

    async def scenario(server: BrokerServer) -> None:
        server.kraft.controlled_shutdown = Deferred  # type: ignore[method-assign]
        if is_late:
            asyncio.get_running_loop().call_later(0.1, server.leave_at_once)
        else:
            server.leave_at_once()
            server.leave_at_once()

    run(make_config(tmp_path), scenario)
    assert "without a controlled shutdown: was told not to wait for a controller" in caplog.text


def test_a_bug_while_the_logs_are_closed_leaves_no_clean_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The quorum is served meanwhile."""

    async def scenario(server: BrokerServer) -> None:
        high_watermarks = server.replica_manager.high_watermarks

        def halting() -> Mapping[TopicPartition, int]:
            asyncio.get_running_loop().call_soon(server.halt, ValueError("a bug"))
            return high_watermarks()

        monkeypatch.setattr(server.replica_manager, "high_watermarks", halting)

    run(make_config(tmp_path / "d"), scenario)
    assert not (tmp_path / "d" / ".kafka_cleanshutdown").exists()


def test_the_loop_has_turns_while_many_logs_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 20
    topic = CreatableTopic(name="t", num_partitions=count, replication_factor=1)
    turns = 0
    closed_in: list[int] = []
    finish_close = PartitionLog.finish_close

    def finish(log: PartitionLog, job: FlushJob | None) -> None:
        closed_in.append(turns)
        finish_close(log, job)

    async def scenario(server: BrokerServer) -> None:
        request = CreateTopicsRequest(topics=[topic], timeout_ms=60_000)
        await call(server.listeners[0].port, 19, 7, request)
        loop = asyncio.get_running_loop()

        def turn() -> None:
            nonlocal turns
            turns += 1
            if server.state is not NodeState.STOPPED:
                loop.call_soon(turn)

        turn()

    monkeypatch.setattr(directory_loader, "SLICE_NS", 0)
    monkeypatch.setattr(PartitionLog, "finish_close", finish)
    run(make_config(tmp_path), scenario)
    assert len(closed_in) == count + 1  # the last one is the metadata log
    assert closed_in[:count] == sorted(set(closed_in[:count]))
