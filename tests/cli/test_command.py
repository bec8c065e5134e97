from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from pykbroker.cli import command
from pykbroker.cli.command import CommandError
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
    with command.connect(options(file)) as client:
        assert client.timeout_ms == 5000
        assert list(client.nodes()) == [1]


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
        command.connect(options(file))


def test_a_settings_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file or directory"):
        command.connect(options(tmp_path / "none"))


def test_what_a_command_cannot_do_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise CommandError("It cannot.")

    def interrupt() -> int:
        raise KeyboardInterrupt

    assert command.run_guarded(fail) == 1
    assert capsys.readouterr().err == "It cannot.\n"
    assert command.run_guarded(interrupt) == 130
