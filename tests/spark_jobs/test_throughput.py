"""All that is produced is acknowledged, consumed and scanned; the figures fit together."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import MagicMock

import pyarrow.compute as pc
import pytest

from pykbroker.testing import Broker
from spark_jobs import throughput
from spark_jobs.parts.brokers import BrokerRefusal, partition_counts
from spark_jobs.parts.clients import SAMPLE_EVERY
from spark_jobs.parts.console import as_text
from spark_jobs.parts.consumers import ConsumerFault
from spark_jobs.throughput import JOB
from tests.offline.samples import partition_directory, simple_batches, write_segment
from tests.spark_jobs.conftest import RunJob

RECORDS, SIZE = 5000, 100


@pytest.mark.parametrize("client", ["confluent-kafka", "kafka-python"])
def test_three_phases(run_job: RunJob, live_broker: Broker, client: str):
    words = ("--bootstrap-servers", live_broker.bootstrap_servers, "--client", client)
    more = ("--path", str(live_broker.data_dir), "--records", str(RECORDS), "--codec", "lz4")
    outcome = run_job(JOB, *words, *more, "--topic", f"measured-{client}")
    rows = outcome.tables["throughput"].to_pylist()
    assert [row["phase"] for row in rows] == ["produce", "consume", "scan"]
    for row in rows:
        assert row["records"] == RECORDS
        assert row["bytes"] == RECORDS * SIZE
        assert row["errors"] == 0
        assert row["records_per_second"] == pytest.approx(RECORDS / row["seconds"])
        assert row["mb_per_second"] == pytest.approx(RECORDS * SIZE / row["seconds"] / 1e6)
        assert 0 <= row["p50_ms"] <= row["p95_ms"] <= row["p99_ms"] <= row["max_ms"]
    samples = outcome.tables["latencies"].filter(pc.field("phase") == "produce")
    assert pc.sum(samples["samples"]).as_py() == RECORDS // SAMPLE_EVERY
    assert f"measured-{client}" not in partition_counts(live_broker.bootstrap_servers)


def test_bytes_that_were_refused_are_no_throughput(run_job: RunJob, live_broker: Broker):
    words = ("--bootstrap-servers", live_broker.bootstrap_servers, "--records", "10")
    outcome = run_job(JOB, *words, "--size", "5000", "--topic-config", "max.message.bytes=1000")
    row = outcome.tables["throughput"].to_pylist()[0]
    assert (row["records"], row["errors"], row["bytes"], row["mb_per_second"]) == (0, 10, 0, 0)
    assert outcome.exit_code == 1
    assert outcome.summary["produce_errors"] == 10
    told = "first error of produce: Broker: Message size too large"
    assert told in as_text(outcome).splitlines()


def test_the_directories_of_another_broker(
    run_job: RunJob, live_broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Told before the work; the topic does not stay."""
    monkeypatch.setattr(throughput, "_DIRECTORY_SECONDS", 0.2)
    write_segment(partition_directory(tmp_path), simple_batches(1))
    produce = MagicMock()
    monkeypatch.setattr(throughput, "_loads", produce)
    words = ("--bootstrap-servers", live_broker.bootstrap_servers, "--topic", "elsewhere")
    with pytest.raises(BrokerRefusal, match="is not in"):
        run_job(JOB, *words, "--path", str(tmp_path), "--records", "10")
    produce.assert_not_called()
    assert "elsewhere" not in partition_counts(live_broker.bootstrap_servers)


def test_what_went_wrong_is_told_not_that_the_topic_stays(
    live_broker: Broker, monkeypatch: pytest.MonkeyPatch
):
    def gone(*_: object) -> None:
        raise BrokerRefusal("no broker answers")

    def failing(*_: object) -> None:
        raise ConsumerFault("nothing more came")

    monkeypatch.setattr(throughput, "delete_topics", gone)
    monkeypatch.setattr(throughput, "_phases", failing)
    arguments = JOB.parse(["--bootstrap-servers", live_broker.bootstrap_servers])
    with pytest.raises(ConsumerFault, match="nothing more came"):
        throughput.run(MagicMock(), arguments)
