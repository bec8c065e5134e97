"""What is replayed is what there was: every record, in order, at the pace that was asked for."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pandas as pd
import pytest

from pykbroker.offline import open_log
from pykbroker.testing import Broker
from spark_jobs import replica_difference
from spark_jobs.clients import BrokerRefusal
from spark_jobs.replay import JOB, pace
from tests.harness.flights import COUNT
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
    assert 1.9 < outcome.summary["seconds"] < 30
    found = open_log(str(live_broker.data_dir), name).to_pandas()
    for partition, mine in committed.groupby("partition"):
        there = found[found["partition"] == partition]
        assert there["key"].tolist() == mine["key"].tolist()
        times = there["timestamp"].astype("datetime64[ms, UTC]").astype("int64")
        assert times.tolist() == mine["timestamp_ms"].tolist()


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


def test_a_target_with_another_name_in_braces(capsys: pytest.CaptureFixture[str]):
    words = ["--path", "x", "--bootstrap-servers", "127.0.0.1:1", "--to"]
    for wrong in ("{x}", "{", "{0}"):
        with pytest.raises(SystemExit) as ended:
            JOB.parse([*words, wrong])
        assert ended.value.code == 2
        assert "only {topic} can stand in braces" in capsys.readouterr().err
    assert JOB.parse([*words, "copy-{topic}"]).to == "copy-{topic}"
