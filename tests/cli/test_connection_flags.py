"""The settings that a command connects with."""

from __future__ import annotations

import argparse
import socket
from pathlib import Path

import pytest

from pykbroker.cli.command import CommandError
from pykbroker.cli.connection_flags import connect
from pykbroker.testing import Broker


def options(file: Path | None, servers: str | None = None) -> argparse.Namespace:
    name = None if file is None else str(file)
    return argparse.Namespace(bootstrap_server=servers, command_config=name)


def test_settings_of_the_connection(broker: Broker, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        f"bootstrap.servers={broker.bootstrap_servers}\ndefault.api.timeout.ms=5000\n"
        "security.protocol=PLAINTEXT\n"
    )
    with connect(options(file)) as client:
        assert client.timeout_ms == 5000
        assert list(client.nodes()) == [1]


def test_the_wait_for_one_response_is_bounded(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("request.timeout.ms=50\ndefault.api.timeout.ms=600000\n")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        servers = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(CommandError, match=r"no answer from 127\.0\.0\.1:[0-9]+ in time"):
            connect(options(file, servers))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "ssl.key.password=x\n",
            r"client\.properties, line 1: ssl\.key\.password is not supported",
        ),
        ("security.protocol=SSL\n", r"only security\.protocol=PLAINTEXT is built yet"),
        ("\nrequest.timeout.ms=x\n", r"line 2: request\.timeout\.ms must be a number"),
    ],
)
def test_settings_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "client.properties"
    file.write_text(text)
    with pytest.raises(CommandError, match=message):
        connect(options(file))


def test_a_settings_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file or directory"):
        connect(options(tmp_path / "none"))
