"""The flights in log directories of both brokers, written once; one Spark session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pykbroker.testing import Broker
from spark_jobs.parts.job import Job
from spark_jobs.parts.pictures import as_png
from spark_jobs.parts.results import Outcome
from tests.harness.apache import ApacheBroker
from tests.spark.conftest import spark  # noqa: F401
from tests.spark_jobs.flight_logs import (
    FlightLogs,
    frame,
    wait_until_compacted,
    write_bookings,
    write_flights,
)
from tests.spark_jobs.picture_checks import check_texts

RunJob = Callable[..., Outcome]
_QUICK_CLEANER = {"log.cleaner.backoff.ms": "100"}
_MOST_PICTURE_BYTES = 120_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and {"spark", "run_job", "logs"} & set(
            getattr(item, "fixturenames", ())
        ):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.timeout(1200))


@pytest.fixture(scope="session")
def flight_frame() -> pd.DataFrame:
    """What the package itself says."""
    return frame()


@pytest.fixture(scope="session")
def ours(tmp_path_factory: pytest.TempPathFactory) -> FlightLogs:
    """Written by pykbroker."""
    directory = tmp_path_factory.mktemp("ours") / "logs"
    with Broker(data_dir=directory, overrides=_QUICK_CLEANER) as broker:
        write_flights(broker.bootstrap_servers)
        wait_until_compacted(directory)
    return FlightLogs(str(directory), "pykbroker")


@pytest.fixture(scope="session")
def apache(tmp_path_factory: pytest.TempPathFactory) -> FlightLogs:
    """Written by Apache Kafka 4.4; with transactions."""
    directory = tmp_path_factory.mktemp("apache") / "logs"
    with ApacheBroker(directory, features=(), config=_QUICK_CLEANER) as broker:
        write_bookings(broker.bootstrap_servers)
        write_flights(broker.bootstrap_servers)
        wait_until_compacted(directory)
    return FlightLogs(str(directory), "Apache Kafka")


@pytest.fixture(params=["ours", "apache"])
def logs(request: pytest.FixtureRequest) -> FlightLogs:
    """Either."""
    found: FlightLogs = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="session")
def live_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """One to send to."""
    with Broker(data_dir=tmp_path_factory.mktemp("live") / "logs") as broker:
        yield broker


@pytest.fixture
def run_job(spark: Any) -> RunJob:  # noqa: F811
    """Run a job in the session; its picture must come out as well."""

    def run(job: Job, *words: str) -> Outcome:
        arguments = job.parse(words)
        if job.check_more is not None:
            job.check_more(arguments)
        outcome = job.run(spark, arguments)
        drawn = job.draw(outcome) if job.draw is not None else None
        if drawn is not None:
            check_texts(drawn)
            picture = as_png(drawn)
            assert picture.startswith(b"\x89PNG")
            assert len(picture) < _MOST_PICTURE_BYTES
        return outcome

    return run
