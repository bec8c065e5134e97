"""`pykbroker.testing.Broker`: a real node, quickly, and nothing left of it."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from pykbroker.testing import Broker, BrokerFailed
from pykbroker.testing import pytest_plugin as plugin
from pykbroker.testing.broker import TEST_DEFAULTS
from tests.harness.waiting import wait_for


def api_versions(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as sock:
        sock.sendall(struct.pack(">ihhih", 10, 18, 0, 5, -1))
        return sock.recv(65536)


def test_it_serves_and_leaves_nothing() -> None:
    with Broker() as broker:
        assert broker.bootstrap_servers == f"127.0.0.1:{broker.port}"
        assert api_versions(broker.port)[4:10] == b"\0\0\0\x05\0\0"
        data_dir, process = broker.data_dir, broker.process
        assert (data_dir / "meta.properties").exists()
        assert "started" in broker.log_text
        assert broker.wait_until_ready().process is process  # ready once is enough
    assert not data_dir.exists()
    assert process.poll() is not None
    with pytest.raises(BrokerFailed):
        _ = broker.pid


def test_it_keeps_port_and_directory_over_restart_and_kill() -> None:
    with Broker() as broker:
        port, pid = broker.port, broker.pid
        identity = (broker.data_dir / "meta.properties").read_text()
        broker.restart()
        assert broker.port == port
        assert broker.pid != pid
        broker.kill()
        broker.start()
        assert broker.port == port
        assert (broker.data_dir / "meta.properties").read_text() == identity
        assert api_versions(port)


def test_a_directory_of_ones_own_is_left_behind(tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path / "kept", num_partitions=3) as broker:
        assert broker.overrides == TEST_DEFAULTS | {"num.partitions": "3"}
    assert (tmp_path / "kept" / ".kafka_cleanshutdown").exists()


def test_values_are_written_as_kafka_reads_them() -> None:
    broker = Broker(auto_create_topics_enable=False, overrides={"num.partitions": 2})
    given = {"auto.create.topics.enable": "false", "num.partitions": "2"}
    assert broker.overrides == TEST_DEFAULTS | given


def test_defaults_for_tests_can_be_overridden() -> None:
    assert Broker().overrides == {"group.initial.rebalance.delay.ms": "0"}
    key = "group.initial.rebalance.delay.ms"
    assert Broker(group_initial_rebalance_delay_ms=3000).overrides == {key: "3000"}


def test_the_log_of_a_broker_without_files() -> None:
    broker = Broker()
    assert broker.log_text == ""
    with broker:
        assert broker.log_text
    assert broker.log_text == ""
    assert broker._work_dir is None, "reading the log made a directory"


def test_a_failed_start_tells_why(tmp_path: Path) -> None:
    with (
        Broker(data_dir=tmp_path / "d"),
        pytest.raises(BrokerFailed, match=r"exit code 1.*\n.*Failed to acquire lock"),
    ):
        Broker(data_dir=tmp_path / "d").start()


def test_the_plugin_has_its_fixtures() -> None:
    assert plugin.pykbroker.__name__ == "pykbroker"
    assert plugin.pykbroker_session.__name__ == "pykbroker_session"
    assert plugin.pykbroker_shared.__name__ == "pykbroker_shared"


def test_it_does_not_outlive_a_test_process_that_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pykbroker.testing import Broker; "
        "broker = Broker(data_dir=sys.argv[1]).start(); print(broker.port, flush=True); "
        "time.sleep(600)"
    )
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", program, str(tmp_path / "kept")]
    owner = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)
    assert owner.stdout is not None
    port = int(owner.stdout.readline())
    with socket.create_connection(("127.0.0.1", port), timeout=120) as sock:
        owner.kill()
        owner.wait()
        owner.stdout.close()
        assert sock.recv(1) == b""  # the node has gone
    wait_for((tmp_path / "kept" / ".kafka_cleanshutdown").exists, "a clean stop")
