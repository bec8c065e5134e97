"""While the logs of a stopping node are closed, the quorum is served as before."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pykbroker.broker.handlers import Route
from pykbroker.broker.server import BrokerServer
from pykbroker.deferred import Deferred
from pykbroker.environment.real.scheduler import in_asyncio
from pykbroker.errors import ErrorCode
from pykbroker.kraft.controller.requests import MANY_PARTITIONS
from pykbroker.log.directories.log_mover_driver import LogMover
from pykbroker.protocol.api import API_BY_NAME
from pykbroker.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from pykbroker.protocol.messages.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from tests.broker.test_server import call, make_config, make_server

PATIENCE_S = 60
DESCRIBE_QUORUM = API_BY_NAME["DescribeQuorum"]


class Stopping:
    """A node that stops; it waits before it closes its logs, until `go_on` is resolved."""

    def __init__(self, server: BrokerServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.server = server
        self.closes_logs = asyncio.Event()
        self.go_on = Deferred()
        close_logs = server.log_manager.close_logs

        async def late(*arguments: Any) -> None:
            self.closes_logs.set()
            await self.go_on
            await close_logs(*arguments)

        monkeypatch.setattr(server.log_manager, "close_logs", late)

    async def stop_while(self, scenario: Callable[[], Any]) -> None:
        """Stop the node, and run the scenario when it is about to close its logs."""
        stopping = asyncio.ensure_future(in_asyncio(self.server.stop()))
        async with asyncio.timeout(PATIENCE_S):
            await self.closes_logs.wait()
            try:
                await scenario()
            finally:
                self.go_on.resolve(None)
                await stopping


async def started(tmp_path: Path) -> BrokerServer:
    server = make_server(make_config(tmp_path / "d"))
    await in_asyncio(server.start())
    return server


def controller_port(server: BrokerServer) -> int:
    (port,) = [at.port for at in server.network.listeners if at.is_controller]
    return port


def test_a_request_that_waits_for_the_code_of_its_api_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code is imported when the node begins to stop, and for as long as it closes its logs."""
    importing, may_end = threading.Event(), threading.Event()
    load = Route.load

    def slow(route: Route) -> None:
        if route.api is DESCRIBE_QUORUM:
            importing.set()
            may_end.wait(PATIENCE_S)
        load(route)

    async def scenario() -> None:
        monkeypatch.setattr(Route, "load", slow)
        server = await started(tmp_path)
        stopping = Stopping(server, monkeypatch)
        close = server.worker.close

        def ended() -> None:  # whatever waits for the import, the loop must not
            may_end.set()
            close()

        server._undo = [ended if undo == close else undo for undo in server._undo]
        topic = TopicData(topic_name="__cluster_metadata", partitions=[PartitionData()])
        message = DescribeQuorumRequest(topics=[topic])
        asked = asyncio.ensure_future(
            call(controller_port(server), DESCRIBE_QUORUM.key, 2, message)
        )
        async with asyncio.timeout(PATIENCE_S):
            while not importing.is_set():
                await asyncio.sleep(0.001)

        async def answered() -> None:
            may_end.set()
            reply = await asked
            assert reply.error_code == 0
            assert reply.topics[0].partitions[0].leader_id == server.node_id

        await stopping.stop_while(answered)

    asyncio.run(scenario())


def test_the_controller_makes_long_decisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assigned = CreatableReplicaAssignment(partition_index=0, broker_ids=[1])
    topics = [
        CreatableTopic(
            name=f"t-{number}", num_partitions=-1, replication_factor=-1, assignments=[assigned]
        )
        for number in range(MANY_PARTITIONS + 1)
    ]

    async def scenario() -> None:
        server = await started(tmp_path)

        async def decided() -> None:
            controller = server.kraft.controller
            assert controller is not None
            answer = controller.submit(CreateTopicsRequest(topics=topics), 7)
            reply = await in_asyncio(_value(answer))
            # The only broker has left.
            codes = {topic.error_code for topic in reply.topics}
            assert codes == {ErrorCode.INVALID_REPLICA_ASSIGNMENT}

        await Stopping(server, monkeypatch).stop_while(decided)

    asyncio.run(scenario())


async def _value(deferred: Deferred) -> Any:
    return await deferred


def test_logs_are_closed_when_no_publisher_is_in_the_middle_of_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        server = await started(tmp_path)
        stopping = Stopping(server, monkeypatch)
        left = Deferred()
        stop_publishing = server.kraft.stop_publishing

        def in_the_middle() -> Deferred:
            assert stop_publishing() is None
            asyncio.get_running_loop().call_later(0.01, leave)
            return left

        def leave() -> None:
            assert not stopping.closes_logs.is_set()
            left.resolve(None)

        server._undo = [in_the_middle if undo == stop_publishing else undo for undo in server._undo]

        async def nothing() -> None:
            assert left.done

        await stopping.stop_while(nothing)

    asyncio.run(scenario())


def test_a_move_that_a_client_asks_for_while_publishing_ends_is_stopped_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        server = await started(tmp_path)
        stopping = Stopping(server, monkeypatch)
        stop_publishing = server.kraft.stop_publishing
        stopped = []
        stop = LogMover.stop

        async def noted(mover: LogMover) -> None:
            stopped.append(mover)
            await stop(mover)

        monkeypatch.setattr(LogMover, "stop", noted)
        moving = []

        def asked() -> Deferred | None:
            moving.append(server.services.mover)
            return stop_publishing()

        server._undo = [asked if undo == stop_publishing else undo for undo in server._undo]

        async def nothing() -> None:
            assert stopped == moving
            assert len(moving) == 1

        await stopping.stop_while(nothing)

    asyncio.run(scenario())
