"""A node whose metrics are on, asked over HTTP."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from pykbroker.broker.node_state import NodeState
from pykbroker.broker.server import BrokerServer
from pykbroker.environment.real.scheduler import in_asyncio
from pykbroker.environment.real.world import real_environment
from pykbroker.errors import StartError
from tests.broker.test_server import make_config

TIMEOUT_S = 240


def run(directory: Path, script: Callable[[BrokerServer], Coroutine[Any, Any, None]]) -> None:
    """Run a script beside a node that serves."""

    async def main() -> None:
        config = make_config(directory, **{"pykbroker.metrics.listen": "127.0.0.1:0"})
        server = BrokerServer(real_environment(asyncio.get_running_loop()), config)
        await in_asyncio(server.start())
        try:
            await script(server)
        finally:
            await in_asyncio(server.stop())

    asyncio.run(asyncio.wait_for(main(), TIMEOUT_S))


async def get(server: BrokerServer, path: str) -> tuple[int, str, str]:
    """Status, head and body."""
    assert server.monitoring is not None
    port = int(server.monitoring.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    return int(head.split()[1]), head, body


def test_metrics_of_a_node_that_serves(tmp_path: Path) -> None:
    async def script(server: BrokerServer) -> None:
        status, head, body = await get(server, "/metrics")
        assert status == 200
        assert "Content-Type: text/plain; version=0.0.4; charset=utf-8" in head
        for line in (
            "kafka_server_kafkaserver_brokerstate 3.0",
            "kafka_controller_kafkacontroller_activecontrollercount 1.0",
            'kafka_server_raft_metrics_current_state_info{state="leader"} 1.0',
            "kafka_server_replicamanager_partitioncount 0.0",
            "kafka_server_replicamanager_partitionswithlatetransactionscount 0.0",
            "kafka_brokers 1.0",
            'kafka_server_socket_server_metrics_connection_count{listener="PLAINTEXT"} 0.0',
        ):
            assert f"\n{line}\n" in body, line
        names = re.findall(r"^# TYPE (\S+)", body, re.M)
        assert len(names) == len(set(names))
        again = await asyncio.gather(*(get(server, "/metrics") for _ in range(3)))
        assert [each[0] for each in again] == [200] * 3

    run(tmp_path, script)


def test_health_and_readiness(tmp_path: Path) -> None:
    async def script(server: BrokerServer) -> None:
        assert (await get(server, "/healthz"))[::2] == (200, "ok\n")
        assert (await get(server, "/readyz"))[::2] == (200, "serving\n")
        server._states.enter(NodeState.STOPPING)
        assert (await get(server, "/readyz"))[::2] == (503, "stopping\n")
        assert (await get(server, "/healthz"))[0] == 200
        assert (await get(server, "/nothing"))[0] == 404
        assert "/metrics" in (await get(server, "/"))[2]

    run(tmp_path, script)


def test_a_failure_to_collect_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def script(server: BrokerServer) -> None:
        monkeypatch.setattr(server, "counters", None)
        assert (await get(server, "/metrics"))[0] == 500
        monkeypatch.undo()
        assert (await get(server, "/metrics"))[0] == 200  # the next one is not affected

    run(tmp_path, script)
    assert "cannot collect metrics" in caplog.text


def test_a_node_that_reads_its_metadata_has_some_metrics(tmp_path: Path) -> None:
    """Probes and scrapes come while a node starts: what is not there yet is left out."""

    async def main() -> None:
        config = make_config(tmp_path, **{"pykbroker.metrics.listen": "127.0.0.1:0"})
        server = BrokerServer(real_environment(asyncio.get_running_loop()), config)
        server._bind()
        server._states.enter(NodeState.OPENING)
        assert (await get(server, "/readyz"))[::2] == (503, "reading its metadata log\n")
        status, _, body = await get(server, "/metrics")
        assert status == 200
        assert "\nkafka_server_kafkaserver_brokerstate 1.0\n" in body
        assert "kafka_log_" not in body
        await in_asyncio(server.stop())

    asyncio.run(asyncio.wait_for(main(), TIMEOUT_S))


def test_a_port_in_use_leaves_no_trace(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"

        async def main() -> None:
            config = make_config(tmp_path / "d", **{"pykbroker.metrics.listen": address})
            server = BrokerServer(real_environment(asyncio.get_running_loop()), config)
            with pytest.raises(StartError, match=f"Metrics endpoint failed to bind to {address}"):
                await in_asyncio(server.start())

        asyncio.run(asyncio.wait_for(main(), TIMEOUT_S))
    assert not (tmp_path / "d").exists()
