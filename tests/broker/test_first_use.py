"""What a node imports while it serves: beside its event loop, for the loop must not be held."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from pykbroker.broker.server import BrokerServer
from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.environment.real.scheduler import in_asyncio
from pykbroker.environment.real.world import real_environment
from pykbroker.protocol.api import API_BY_NAME
from pykbroker.protocol.headers import encode_request
from pykbroker.protocol.messages.api_versions_request import ApiVersionsRequest
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from pykbroker.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from pykbroker.protocol.messages.incremental_alter_configs_request import (
    IncrementalAlterConfigsRequest,
)
from pykbroker.protocol.messages.list_groups_request import ListGroupsRequest
from pykbroker.protocol.messages.list_transactions_request import ListTransactionsRequest
from pykbroker.protocol.parts_writer import Parts, join_parts

REQUESTS = {
    "FindCoordinator": FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]),
    "ListGroups": ListGroupsRequest(),
    "ListTransactions": ListTransactionsRequest(),
    "CreateTopics": CreateTopicsRequest(
        topics=[CreatableTopic(name="t", num_partitions=1, replication_factor=1)]
    ),
    "IncrementalAlterConfigs": IncrementalAlterConfigsRequest(),
    "ApiVersions": ApiVersionsRequest(client_software_name="a", client_software_version="1"),
}

CONTROLLER = "pykbroker.kraft.controller."


class ImportRecorder:
    """Finds no module, but records which ones the thread of the event loop looks for."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if threading.current_thread() is threading.main_thread():
            self.names.append(name)
        return None


async def ask(port: int, name: str) -> None:
    """Send one of REQUESTS, and wait for its response."""
    api = API_BY_NAME[name]
    out: Parts = []
    encode_request(api, api.max_version, 1, "first", REQUESTS[name], out)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(join_parts(out))
    await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
    writer.close()
    await writer.wait_closed()


async def serve(directory: str, names: list[str]) -> None:
    """Print the modules of the node that its loop has looked for while it was asked."""
    config = BrokerConfig.from_properties(standalone_properties(directory, port=0))
    server = BrokerServer(real_environment(asyncio.get_running_loop()), config)
    await in_asyncio(server.start())
    recorder: Any = ImportRecorder()
    sys.meta_path.insert(0, recorder)
    for name in names:
        await ask(server.listeners[0].port, name)
    sys.meta_path.remove(recorder)
    loaded = [name for name in sys.modules if name.endswith("_coordinator_driver")]
    loaded += [name for name in sys.modules if name.startswith(CONTROLLER)]
    await in_asyncio(server.stop())
    print(*(name for name in recorder.names if name.startswith("pykbroker.")), flush=True)
    print(*loaded, flush=True)


def imported_by(tmp_path: Path, *names: str) -> tuple[list[str], str]:
    """Of a fresh node that is asked so: modules that its loop imported; all of coordinators and of
    the controller.
    """
    command = [sys.executable, "-m", __name__, str(tmp_path / "data"), *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    on_loop, loaded = done.stdout.splitlines()
    return on_loop.split(), loaded


def heavy(names: list[str]) -> list[str]:
    """The modules that bring many others."""
    starts, end = ("pykbroker.broker.handlers.", CONTROLLER), "_coordinator_driver"
    return [name for name in names if name.startswith(starts) or name.endswith(end)]


def test_the_first_consumer_finds_the_code_of_its_coordinator(tmp_path: Path) -> None:
    on_loop, loaded = imported_by(tmp_path, "ApiVersions", "FindCoordinator", "ListGroups")
    assert "group_coordinator_driver" in loaded
    assert not heavy(on_loop)


def test_so_does_an_administrator_of_a_node_without_coordinators(tmp_path: Path) -> None:
    on_loop, loaded = imported_by(tmp_path, "ListGroups", "ListTransactions")
    assert "group_coordinator_driver" in loaded
    assert "transaction_coordinator_driver" in loaded
    assert not heavy(on_loop)


def test_so_do_changes_of_metadata_the_rules_of_the_controller(tmp_path: Path) -> None:
    on_loop, loaded = imported_by(tmp_path, "CreateTopics", "IncrementalAlterConfigs")
    assert CONTROLLER + "topics" in loaded.split()
    assert CONTROLLER + "configs" in loaded.split()
    assert not heavy(on_loop)


def test_what_nobody_asks_for_is_not_imported(tmp_path: Path) -> None:
    on_loop, loaded = imported_by(tmp_path, "ApiVersions")
    assert "coordinator_driver" not in loaded
    assert not {CONTROLLER + "topics", CONTROLLER + "configs"} & set(loaded.split())
    assert not heavy(on_loop)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2:]))
