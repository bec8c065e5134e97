from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from pykbroker.cli import perf_produce
from pykbroker.cli.command import CommandParser
from pykbroker.cli.perf_produce import Payloads, Throttle
from pykbroker.testing import Broker
from tests.cli.conftest import Run
from tests.harness.markers import await_ends

TOTAL = re.compile(
    r"\d+( steady state)? records sent, \d+\.\d{6} records/sec \(\d+\.\d\d MB/sec\), "
    r"\d+\.\d\d ms avg latency, \d+\.\d\d ms max latency, "
    r"\d+ ms 50th, \d+ ms 95th, \d+ ms 99th, \d+ ms 99\.9th\."
)


@pytest.fixture
def perf(run: Run, broker: Broker) -> Run:
    def call(subcommand: str, *arguments: str):
        return run("perf", subcommand, "--bootstrap-server", broker.bootstrap_servers, *arguments)

    return call


def test_a_run(perf: Run, ask: Run, topic: str) -> None:
    outcome = perf(
        *("produce", "--topic", topic, "--num-records", "200", "--record-size", "50"),
        *("--throughput", "-1", "--warmup-records", "150", "--print-metrics"),
        *("--key-distribution", "range", "--record-key-range", "3"),
        *("--reporting-interval", "600000"),
    )
    assert (outcome.code, outcome.err) == (0, "")
    first, total, steady, empty, titles, *metrics = outcome.lines
    assert first.startswith("Warmup first 150 records. Steady state results will print after")
    assert TOTAL.fullmatch(total)
    assert total.startswith("200 records sent")
    assert TOTAL.fullmatch(steady)
    assert steady.startswith("50 steady state records sent")
    assert (empty, titles.split()) == ("", ["Metric", "Name", "Value"])
    assert any(line.startswith("producer-metrics:request-rate") for line in metrics)
    lines = ask("consume", topic, "--show", "key,value", "--quiet").lines
    assert len(lines) == 200
    assert {line.split("\t")[0] for line in lines} == {"0", "1", "2"}
    assert all(re.fullmatch(r"[012]\t[A-Z]{50}", line) for line in lines)


def test_transactions(perf: Run, ask: Run, broker: Broker, topic: str) -> None:
    outcome = perf(
        *("produce", "--topic", topic, "--num-records", "30", "--payload-monotonic"),
        *("--throughput", "1000", "--transaction-duration-ms", "5"),
    )
    assert (outcome.code, outcome.err) == (0, "")
    await_ends(broker.bootstrap_servers)
    lines = ask("consume", topic, "--committed", "--quiet").lines
    assert sorted(map(int, lines)) == list(range(30))


def options_of(*arguments: str) -> argparse.Namespace:
    parser = CommandParser()
    perf_produce.add_arguments(parser)
    fixed = ["--topic", "t", "--num-records", "9", "--throughput", "-1"]
    return parser.parse_args([*fixed, *arguments])


def test_payloads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "payloads"
    file.write_text("one\ntwo\n")
    payloads = Payloads(options_of("--payload-file", str(file)))
    assert capsys.readouterr().out.splitlines() == [
        f"Reading payloads from: {file}",
        "Number of records read: 2",
    ]
    assert {payloads.value(number) for number in range(50)} == {b"one", b"two"}
    assert payloads.key(0) is None
    file.write_text("a|b")
    other = Payloads(options_of("--payload-file", str(file), "--payload-delimiter", "|"))
    assert {other.value(number) for number in range(50)} == {b"a", b"b"}
    assert Payloads(options_of("--payload-monotonic")).value(7) == b"7"


def test_a_seed_repeats_a_run() -> None:
    keys = ("--key-distribution", "random", "--record-key-range", "5")
    runs = [Payloads(options_of("--record-size", "20", *keys)) for _ in range(2)]
    first, second = ([(each.key(n), each.value(n)) for n in range(20)] for each in runs)
    assert first == second
    other = Payloads(options_of("--record-size", "20", "--random-seed", "1"))
    assert other.value(0) != Payloads(options_of("--record-size", "20")).value(0)


def test_throttle(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    class Time:
        now = 0.0

        def monotonic(self) -> float:
            return self.now

        def sleep(self, seconds: float) -> None:
            slept.append(seconds)

    time = Time()
    monkeypatch.setattr(perf_produce, "time", time)
    throttle = Throttle(100)
    throttle.wait(0)
    time.now = 0.5
    throttle.wait(49)
    throttle.wait(99)
    Throttle(-1).wait(1000)
    assert slept == [0.01, 0.5]


@pytest.mark.parametrize(
    "arguments, why",
    [
        (("--record-size", "0"), "--record-size should be greater than zero."),
        (("--record-size", "1", "--warmup-records", "9"), "The value for --warmup-records must"),
        (("--record-size", "1", "--throughput", "0"), "--throughput 0 would send nothing"),
        (("--record-size", "1", "--key-distribution", "range"), "--record-key-range is required"),
        (("--record-size", "1", "--record-key-range", "3"), "--key-distribution must be 'range'"),
        (("--record-size", "1", "--payload-monotonic"), "pykbroker perf produce: argument"),
        (("--payload-file", "/none"), "/none: No such file"),
        ((), "pykbroker perf produce: one of the arguments --record-size"),
    ],
)
def test_wrong_usage(perf: Run, arguments: tuple[str, ...], why: str) -> None:
    fixed = ("--topic", "t", "--num-records", "9", "--throughput", "-1")
    outcome = perf("produce", *fixed, *arguments)
    assert outcome.code == 1
    assert outcome.err.startswith(why)
