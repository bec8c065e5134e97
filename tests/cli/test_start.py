"""`pykbroker start` as a process: what it says, and what it leaves alone when it cannot start."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from pykbroker.broker.server import BrokerServer
from pykbroker.cli import start
from pykbroker.cli.admin import AdminClient
from pykbroker.config import BrokerConfig, Endpoint
from pykbroker.deferred import Deferred
from pykbroker.errors import StartError
from pykbroker.testing import Broker
from tests.cli.conftest import Run


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pykbroker", "start", *arguments]


def options(*arguments: str) -> argparse.Namespace:
    from pykbroker.cli.command import CommandParser

    parser = CommandParser(prog="start")
    start.add_arguments(parser)
    return parser.parse_args(arguments)


def config(*arguments: str, **environment: str) -> BrokerConfig:
    return BrokerConfig.from_properties(start.gather(options(*arguments), environment))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ready_line_logs_and_a_clean_stop(tmp_path: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        command("--data-dir", str(tmp_path / "d"), "--listen", "127.0.0.1:0", "--node-id", "7"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.fullmatch(
            rf"ready node=7 listeners=PLAINTEXT://127\.0\.0\.1:(\d+) log\.dirs={tmp_path}/d\n", line
        )
        assert match is not None, line
        socket.create_connection(("127.0.0.1", int(match[1])), timeout=60).close()
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out == ""
    assert f"Terminating process due to {number.name}" in err
    assert re.search(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] INFO .* \(pykbroker\.", err, re.M)
    assert re.search("Transitioning from RECOVERY to RUNNING", err)
    assert (tmp_path / "d" / ".kafka_cleanshutdown").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--override", "num.partition=3"), ("--override: num.partition: unknown configuration. "
         "Did you mean num.partitions?")),
        (("--override", "x"), "--override x: expected KEY=VALUE"),
        (("--listen", "nowhere"), "--listen nowhere: expected HOST:PORT"),
        (("--node-id", "x"), ("--node-id: Invalid value x for configuration node.id: Not a number"
         " of type INT")),
        (("--config", "/nope"), "/nope: No such file or directory"),
    ],
)  # fmt: skip
def test_bad_configuration_is_one_line(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    directory = tmp_path / "data"
    outcome = run("start", "--data-dir", str(directory), *arguments)
    assert (outcome.code, outcome.out, outcome.err) == (1, "", f"pykbroker start: {message}\n")
    assert not directory.exists()


def test_it_stops_with_its_standard_input(tmp_path: Path) -> None:
    process = subprocess.Popen(
        command("--data-dir", str(tmp_path), "--listen", "127.0.0.1:0", "--stop-with-stdin"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"ready ")
    process.stdin.write(b"not the end")
    _, log = process.communicate(timeout=120)
    assert process.returncode == 0
    assert b"Terminating process: standard input was closed" in log


def test_a_standard_input_that_is_no_pipe_is_refused(tmp_path: Path) -> None:
    words = command("--data-dir", str(tmp_path / "d"), "--stop-with-stdin")
    with open(os.devnull) as nothing:
        done = subprocess.run(words, stdin=nothing, capture_output=True, text=True, timeout=120)
    expected = "pykbroker start: --stop-with-stdin: standard input is not a pipe\n"
    assert (done.returncode, done.stderr) == (1, expected)
    assert not (tmp_path / "d").exists()


def test_a_port_in_use(run: Run, broker: Broker, tmp_path: Path) -> None:
    directory = tmp_path / "data"
    outcome = run("start", "--data-dir", str(directory), "--listen", broker.bootstrap_servers)
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1] == (
        f"pykbroker start: Socket server failed to bind to {broker.bootstrap_servers}: "
        "Address already in use."
    )
    assert not directory.exists()


def test_a_directory_in_use(run: Run, tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path) as broker:
        broker.pause()  # its own checkpoints would change the directory
        try:
            before = contents(tmp_path)
            outcome = run("start", "--data-dir", str(tmp_path), "--listen", "127.0.0.1:0")
            after = contents(tmp_path)
        finally:
            broker.resume()
    assert outcome.code == 1
    assert "Failed to acquire lock on file .lock" in outcome.err.splitlines()[-1]
    assert after == before


def contents(directory: Path) -> dict[Path, int]:
    """All files and directories, and when each was changed."""
    return {path: path.stat().st_mtime_ns for path in directory.rglob("*")}


def test_a_directory_of_another_node(run: Run, tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path):
        pass
    (tmp_path / ".lock").unlink(missing_ok=True)
    before = contents(tmp_path)
    outcome = run("start", "--data-dir", str(tmp_path), "--listen", "127.0.0.1:0", "--node-id", "2")
    assert outcome.code == 1
    assert "doesn't match the configured node.id 2" in outcome.err.splitlines()[-1]
    assert contents(tmp_path) == before


def test_a_directory_that_cannot_be_locked_is_one_line(run: Run) -> None:
    outcome = run("start", "--data-dir", "/proc/nobody", "--listen", "127.0.0.1:0")
    assert outcome.code == 1
    (line,) = outcome.err.splitlines()
    assert "None of the log directories /proc/nobody can be used: " in line


def test_a_directory_that_holds_something_else(run: Run, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    outcome = run("start", "--data-dir", str(tmp_path), "--listen", "127.0.0.1:0")
    assert outcome.code == 1
    assert "is not empty (it holds thesis.txt)" in outcome.err.splitlines()[-1]
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_a_cluster_id_that_is_none(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLUSTER_ID", "cluster-1")
    directory = tmp_path / "data"
    outcome = run("start", "--data-dir", str(directory), "--listen", "127.0.0.1:0")
    assert (outcome.code, outcome.err.splitlines()[-1]) == (
        1,
        "pykbroker start: Cluster ID string cluster-1 does not appear to be a valid UUID",
    )


@pytest.mark.parametrize("text", ["pykbroker.request", "=DEBUG", "pykbroker=loud", "a=INFO,b=2"])
def test_levels_of_loggers_that_are_none(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("PYKBROKER_LOG", text)
    outcome = run("start", "--data-dir", str(tmp_path / "data"))
    wanted = "expected LOGGER=LEVEL, with a level of DEBUG, INFO, WARN, ERROR"
    wrong = text.rpartition(",")[2]
    assert (outcome.code, outcome.err) == (
        1,
        f"pykbroker start: PYKBROKER_LOG: {wrong}: {wanted}\n",
    )


def test_variables_of_the_environment(tmp_path: Path) -> None:
    """CLUSTER_ID names the cluster, PYKBROKER_LOG shows every request and its reply."""
    cluster_id = "5L6g3nShT-eMCtK--X86sw"
    process = subprocess.Popen(
        command("--data-dir", str(tmp_path), "--listen", "127.0.0.1:0", "--log-level", "debug"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ
        | {"CLUSTER_ID": cluster_id, "PYKBROKER_LOG": "asyncio=ERROR, pykbroker.request=debug"},
    )
    with process:
        assert process.stdout is not None
        ready = re.search(r"//(\S+:\d+)", process.stdout.readline())
        assert ready is not None
        with AdminClient(ready[1], client_id="curious") as client:
            assert client.nodes()[1].id == 1
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert f"cluster.id={cluster_id}\n" in (tmp_path / "meta.properties").read_text()
    lines = [
        re.sub(r"^\[.*?\] |:\d+(?=:)|\d+ us", "", line)
        for line in err.splitlines()
        if line.endswith("(pykbroker.request)")
    ]
    asked = "DEBUG DescribeCluster v2 correlation_id=2 client_id='curious' of 127.0.0.1: "
    size = len("DC") + 2 + 4 + 2 + len("curious") + 1  # header: key, version, id, client id, tags
    body = 1 + 1 + 1 + 1  # authorized operations, endpoint type, fenced brokers, tags
    assert lines[2] == f"{asked}{4 + size + body} bytes (pykbroker.request)"
    assert re.fullmatch(
        re.escape(asked) + r"reply of \d+ bytes in  \(pykbroker\.request\)", lines[3]
    )
    assert len(lines) == 4


# --- where values come from ---------------------------------------------------------------------


def test_defaults() -> None:
    node = config()
    assert node.node_id == 1
    assert [str(each) for each in node.endpoints] == ["PLAINTEXT://127.0.0.1:9092"]
    assert node.log_directories == ("./pykbroker-data",)


def test_flags_stand_above_the_file(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    sample = Path(__file__).resolve().parents[2] / "config" / "server.properties"
    file.write_text(sample.read_text())
    node = config(
        *("--config", str(file), "--listen", ":19092", "--node-id", "5", "--data-dir", "/d"),
        *("--override", "num.partitions=9"),
        KAFKA_NUM_PARTITIONS="8",
    )
    assert node.node_id == node.broker_id == 5
    assert [str(each) for each in node.endpoints] == ["PLAINTEXT://:19092"]
    assert [each.port for each in node.controller_endpoints] == [9093]
    assert [str(each) for each in node.advertised_endpoints] == ["PLAINTEXT://:19092"]
    assert node.log_directories == ("/d",)
    assert node.num_partitions == 9


def test_a_file_that_says_nothing_of_a_quorum_is_of_a_node_alone(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("num.partitions=3\n")
    node, without = config("--config", str(file)), config()
    changed = {
        entry.name
        for entry, other in zip(node.describe(), without.describe(), strict=True)
        if entry.value != other.value
    }
    assert changed == {"num.partitions"}
    file.write_text("num.partitions=3\nlisteners=PLAINTEXT://:1,CONTROLLER://:2\n")
    node = config("--config", str(file), "--listen", ":7")
    assert [str(each) for each in node.endpoints] == ["PLAINTEXT://:7"]
    assert [each.port for each in node.controller_endpoints] == [2]


def test_a_file_of_a_quorum_stands_for_itself(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("process.roles=broker\nnode.id=2\n")
    missing = (
        "Missing required configurations: controller.listener.names, "
        "controller.quorum.bootstrap.servers (or controller.quorum.voters)."
    )
    outcome = run("start", "--config", str(file))
    assert (outcome.code, outcome.err) == (1, f"pykbroker start: {file}: {missing}\n")


def test_levels_in_any_case() -> None:
    assert options("--log-level", "debug").log_level == "DEBUG"


def test_metrics_are_asked_for_by_a_flag() -> None:
    assert config().pykbroker_metrics_listen == ""
    assert config("--metrics-listen", ":9404").pykbroker_metrics_listen == ":9404"


def test_parts_of_the_defaults_may_be_replaced() -> None:
    listeners = "PLAINTEXT://127.0.0.1:1,INSIDE://127.0.0.1:2"
    protocols = "PLAINTEXT:PLAINTEXT,INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT"
    node = config(
        *("--override", f"listeners={listeners}"),
        *("--override", f"listener.security.protocol.map={protocols}"),
    )
    assert [each.port for each in node.endpoints] == [1, 2]
    voters = config(
        KAFKA_CONTROLLER_QUORUM_VOTERS="1@localhost:9093",
        KAFKA_LISTENERS="PLAINTEXT://:9092,CONTROLLER://:9093",
    )
    assert voters.controller_quorum_bootstrap_servers == ()
    named = config(KAFKA_LISTENERS="PLAINTEXT://:9092,CONTROLLER://:9093")
    assert named.controller_quorum_bootstrap_servers == ("localhost:9093",)


def test_what_is_advertised_by_the_environment_stays() -> None:
    node = config(
        "--listen", "0.0.0.0:1", KAFKA_ADVERTISED_LISTENERS="PLAINTEXT://broker.example.org:2"
    )
    assert [str(each) for each in node.advertised_endpoints] == ["PLAINTEXT://broker.example.org:2"]


def test_environment_of_the_container_image() -> None:
    file = (Path(__file__).resolve().parents[2] / "Dockerfile").read_text("utf-8")
    environment = dict(re.findall(r"^ENV (KAFKA_\w+)=(\S+)$", file, re.M))
    node = config(**environment)
    assert node.log_directories == ("/var/lib/kafka/data",)
    assert [str(each) for each in node.endpoints] == ["PLAINTEXT://:9092"]
    changed = config(
        **environment
        | {
            "KAFKA_NODE_ID": "3",
            "KAFKA_LISTENERS": "INSIDE://:29092,OUTSIDE://:9092,CTRL://:9093",
            "KAFKA_ADVERTISED_LISTENERS": "INSIDE://kafka:29092,OUTSIDE://localhost:9092",
            "KAFKA_CONTROLLER_LISTENER_NAMES": "CTRL",
            "KAFKA_INTER_BROKER_LISTENER_NAME": "INSIDE",
            "KAFKA_CONTROLLER_QUORUM_VOTERS": "3@kafka:9093",
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": (
                "CTRL:PLAINTEXT,INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT"
            ),
        }
    )
    assert [each.port for each in changed.advertised_endpoints] == [29092, 9092]
    assert changed.inter_broker_listener == "INSIDE"


def test_levels_are_named_as_in_kafka() -> None:
    import logging

    formatter = start.KafkaFormatter()
    record = logging.LogRecord("kafka.x", logging.WARNING, "f", 1, "told %s", ("you",), None)
    assert re.fullmatch(
        r"\[[-\d]+ [:\d]+,\d{3}\] WARN told you \(kafka\.x\)", formatter.format(record)
    )


def test_text_of_clients_makes_no_lines_of_its_own() -> None:
    formatter = start.KafkaFormatter()
    group = "a\nb\r\x1b[31m\u2028c\u00e9"
    record = logging.LogRecord("kafka.x", logging.INFO, "", 0, "group %s", (group,), None)
    line = formatter.format(record)
    assert line.splitlines() == [line]
    assert line.endswith("group a\\x0ab\\x0d\\x1b[31m\\x2028c\u00e9 (kafka.x)")
    try:
        raise ValueError("bug")
    except ValueError:
        record.exc_info = sys.exc_info()
    assert "\nTraceback" in formatter.format(record)  # those lines are ours


# --- the life of a node, with a node that does nothing ------------------------------------------


class QuietServer:
    """The face of a BrokerServer that `start` sees."""

    def __init__(self) -> None:
        self.on_fatal: Callable[[str], None] = lambda message: None
        self.listeners = (Endpoint("PLAINTEXT", "127.0.0.1", 4711, "PLAINTEXT"),)
        self.monitoring = None
        self.after_start: Callable[[], None] = lambda: None
        self.started = False
        self.stopped = False
        self.haste = Deferred()

    def follow_fatal(self, on_fatal: Callable[[str], None]) -> None:
        self.on_fatal = on_fatal

    def leave_at_once(self) -> None:
        self.haste.resolve(None)

    async def start(self) -> None:
        self.started = True
        asyncio.get_running_loop().call_soon(self.after_start)

    async def stop(self) -> None:
        self.stopped = True


class SlowServer(QuietServer):
    """Asks to be ended while it starts, which would take forever."""

    async def start(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        await Deferred()


class LoneServer(QuietServer):
    """Waits for a controller that does not come, until a second signal."""

    async def stop(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await self.haste
        self.stopped = True


def serve(server: QuietServer) -> int:
    return asyncio.run(start._serve(cast(BrokerServer, server), config(), None))


def test_a_node_that_cannot_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    server = QuietServer()
    server.after_start = lambda: server.on_fatal("the last log directory failed")
    assert serve(server) == 1
    assert server.stopped
    assert capsys.readouterr().out == (
        "ready node=1 listeners=PLAINTEXT://127.0.0.1:4711 log.dirs=./pykbroker-data\n"
    )


def test_ended_while_it_starts(capsys: pytest.CaptureFixture[str]) -> None:
    server = SlowServer()
    assert serve(server) == 0
    assert server.stopped
    assert capsys.readouterr().out == ""


def test_a_second_signal_ends_the_wait() -> None:
    server = LoneServer()
    server.after_start = lambda: os.kill(os.getpid(), signal.SIGTERM)
    assert serve(server) == 0
    assert server.stopped


def test_a_start_that_fails_is_told() -> None:
    class Failing(QuietServer):
        async def start(self) -> None:
            raise StartError("The port is taken.")

    with pytest.raises(StartError, match=r"The port is taken\."):
        serve(Failing())
