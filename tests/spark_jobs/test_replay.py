"""Replay sends exactly the original records, in order, at the requested pace."""

from __future__ import annotations

import time
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pandas as pd
import pytest

from pykbroker.offline import ReadOptions, open_log
from pykbroker.protocol.record_batch import build_batch
from pykbroker.spark import plan_tasks
from pykbroker.testing import Broker
from spark_jobs import replay, replica_difference
from spark_jobs.parts.brokers import BrokerRefusal
from spark_jobs.parts.clients import Outgoing, Sender
from spark_jobs.parts.lanes import Wanted, first_time, lanes_of
from spark_jobs.parts.reading import source_options
from spark_jobs.replay import COLUMNS, JOB, pace
from tests.harness.flights import COUNT
from tests.offline.samples import (
    BASE_MS,
    batches_without_a_base,
    partition_directory,
    write_segment,
)
from tests.spark_jobs.conftest import RunJob
from tests.spark_jobs.flight_logs import FlightLogs, bookings_frame

FOR_EVER = ("--topic-config", "retention.ms=-1")


def test_all_flights(run_job: RunJob, ours: FlightLogs, live_broker: Broker):
    words = ("--path", ours.path, "--topics", "flights", *FOR_EVER)
    outcome = run_job(JOB, *words, "--bootstrap-servers", live_broker.bootstrap_servers)
    assert outcome.summary["records"] == COUNT
    assert outcome.summary["errors"] == outcome.exit_code == 0
    words = ("--path", ours.path, "--other", str(live_broker.data_dir), "--topics", "flights")
    again = run_job(replica_difference.JOB, *words, "--by", "records")
    assert again.summary["equal"] == COUNT
    assert again.summary["is_equal"]


@pytest.mark.parametrize("client", ["confluent-kafka", "kafka-python"])
def test_committed_records_at_a_pace(
    run_job: RunJob,
    apache: FlightLogs,
    live_broker: Broker,
    flight_frame: pd.DataFrame,
    client: str,
):
    """Of the time from the first to the last committed record, two seconds are left."""
    rows = bookings_frame(flight_frame)
    committed = rows[rows["state"] == "committed"]
    span_ms = committed["timestamp_ms"].max() - committed["timestamp_ms"].min()
    name = f"again-{client}"
    words = ("--path", apache.path, "--topics", "bookings", "--to", name, *FOR_EVER)
    more = ("--pace", str(span_ms / 2000), "--client", client)
    outcome = run_job(JOB, *words, *more, "--bootstrap-servers", live_broker.bootstrap_servers)
    assert outcome.exit_code == 0
    assert outcome.summary["records"] == len(committed)
    assert 1.9 < outcome.summary["seconds"] < 200
    found = open_log(str(live_broker.data_dir), name).to_pandas()
    for partition, mine in committed.groupby("partition"):
        there = found[found["partition"] == partition]
        assert there["key"].tolist() == mine["key"].tolist()
        times = there["timestamp"].astype("datetime64[ms, UTC]").astype("int64")
        assert times.tolist() == mine["timestamp_ms"].tolist()


def test_time_that_passed_before_the_producers_came_is_told(
    run_job: RunJob, apache: FlightLogs, live_broker: Broker, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(replay, "_STARTS_AFTER_SECONDS", -5.0)
    words = ("--path", apache.path, "--topics", "bookings", "--to", "late", *FOR_EVER)
    more = ("--pace", "1e12", "--bootstrap-servers", live_broker.bootstrap_servers)
    summary = run_job(JOB, *words, *more).summary
    assert summary["seconds"] > 5
    assert summary["late_p50_ms"] > 5000


def test_paces():
    assert (pace("max"), pace("original"), pace("60")) == (None, 1.0, 60.0)
    for wrong in ("0", "-1", "fast", "inf"):
        with pytest.raises(ArgumentTypeError):
            pace(wrong)


def test_too_few_partitions(run_job: RunJob, ours: FlightLogs, live_broker: Broker, tmp_path: Path):
    from kafka.admin import NewTopic

    from tests.spark_jobs.flight_logs import create

    create(live_broker.bootstrap_servers, NewTopic("narrow", 1, 1))
    words = ("--path", ours.path, "--topics", "planes", "--to", "narrow")
    with pytest.raises(BrokerRefusal, match="2 are needed"):
        run_job(JOB, *words, "--bootstrap-servers", live_broker.bootstrap_servers)


def test_settings_are_not_for_topics_that_exist(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    create = MagicMock()
    monkeypatch.setattr(replay, "partition_counts", lambda bootstrap: {"b": 2, "other": 1})
    monkeypatch.setattr(replay, "create_topics", create)
    lanes: list[Any] = [MagicMock(topic=name, partition=0) for name in "ab"]
    words = ["--path", "x", "--bootstrap-servers", "h:1"]
    replay._prepare_topics(JOB.parse(words), lanes)
    assert capsys.readouterr().err == ""
    replay._prepare_topics(JOB.parse([*words, *FOR_EVER]), lanes)
    assert capsys.readouterr().err == "replay: --topic-config is not for topics that exist: b\n"
    create.assert_called_with("h:1", {"a": 1}, {"retention.ms": "-1"})


def test_a_target_with_another_name_in_braces(capsys: pytest.CaptureFixture[str]):
    words = ["--path", "x", "--bootstrap-servers", "127.0.0.1:1", "--to"]
    for wrong in ("{x}", "{", "{0}"):
        with pytest.raises(SystemExit) as ended:
            JOB.parse([*words, wrong])
        assert ended.value.code == 2
        assert "only {topic} can stand in braces" in capsys.readouterr().err
    assert JOB.parse([*words, "copy-{topic}"]).to == "copy-{topic}"


MINUTE = 60_000


def one_a_minute(root: Path, times: list[int], **more: Any) -> Path:
    """One batch."""
    rows = [(b"k%d" % n, b"v", at, ()) for n, at in enumerate(times)]
    write_segment(partition_directory(root), [bytes(build_batch(rows, **more))])
    return root


def first_of(root: Path, *words: str) -> int:
    arguments = JOB.parse(["--path", str(root), "--bootstrap-servers", "x", *words])
    tasks = plan_tasks(source_options(arguments, COLUMNS))
    return first_time(lanes_of(tasks), Wanted(tasks[0].read_options, tasks[0].filters))


def test_the_clock_starts_at_the_first_record_that_is_read(tmp_path: Path):
    times = [BASE_MS + n * MINUTE for n in range(500)]
    assert first_of(one_a_minute(tmp_path / "a", times)) == BASE_MS
    since = ("--since", str(times[494]))
    assert first_of(tmp_path / "a", *since) == times[494]
    assert first_of(tmp_path / "a", "--option", "where=key = 'k7'") == times[7]
    write_segment(partition_directory(tmp_path / "b"), batches_without_a_base())
    assert first_of(tmp_path / "b") == BASE_MS + 20
    assert first_of(one_a_minute(tmp_path / "c", [-1, -1, BASE_MS])) == BASE_MS
    assert first_of(one_a_minute(tmp_path / "d", [-1])) == 0


def test_a_pace_since_the_middle_of_a_batch(run_job: RunJob, live_broker: Broker, tmp_path: Path):
    """Six minutes are left of eight hours: three seconds."""
    times = [BASE_MS + n * MINUTE for n in range(500)]
    one_a_minute(tmp_path, times)
    words = ("--path", str(tmp_path), "--to", "the-rest", *FOR_EVER, "--since", str(times[494]))
    more = ("--pace", "100", "--bootstrap-servers", live_broker.bootstrap_servers)
    outcome = run_job(JOB, *words, *more)
    assert outcome.summary["records"] == 6
    assert 2.9 < outcome.summary["seconds"] < 200


def test_records_that_were_refused_were_not_replayed(
    run_job: RunJob, live_broker: Broker, tmp_path: Path
):
    rows = [(b"key", b"value", BASE_MS + n, [("h", None)] if n % 2 else ()) for n in range(10)]
    write_segment(partition_directory(tmp_path), [bytes(build_batch(rows))])
    words = ("--path", str(tmp_path), "--to", "half", *FOR_EVER, "--client", "kafka-python")
    outcome = run_job(JOB, *words, "--bootstrap-servers", live_broker.bootstrap_servers)
    assert (outcome.summary["records"], outcome.summary["errors"]) == (5, 5)
    assert outcome.summary["bytes"] == 5 * 8
    assert outcome.exit_code == 1
    assert open_log(str(live_broker.data_dir), "half").read_all().num_rows == 5
    assert JOB.draw is not None
    assert "5 were refused" in JOB.draw(outcome).get_suptitle()


def test_what_has_no_time_is_never_late(monkeypatch: pytest.MonkeyPatch):
    """It is sent when it is its turn; so is what is older than the start of the clock."""

    class Taking(Sender):
        def _send(self, record: Outgoing, began: float) -> None:
            self._answered(None, began, record)

        def wait(self, seconds: float) -> None:
            time.sleep(seconds)

        def flush(self) -> None:
            assert self.sent == 201

    now_ms = BASE_MS
    records = [Outgoing("t", 0, None, b"", at) for at in (-1, 5, now_ms)] * 67
    monkeypatch.setattr(replay, "sender", lambda *_: Taking())
    monkeypatch.setattr(replay, "_in_order", lambda _: iter(records))
    wanted = Wanted(ReadOptions(columns=COLUMNS), ())
    order = replay.Order(
        task=0,
        lanes=(),
        wanted=wanted,
        bootstrap="",
        settings={},
        client="auto",
        name="t",
        keeps_timestamps=True,
        factor=1.0,
        first_ms=now_ms,
        begins=time.time(),
    )
    (batch,) = replay._replay(order)
    (row,) = batch.to_pylist()
    assert row["records"] == 201
    assert 0 <= max(ms for ms, _ in row["late"]) < 60_000
