"""One Spark session for all tests, with Spark's own Kafka connector to compare with.

A session costs about seven seconds: other suites that need one take this fixture into their own
conftest (`from tests.spark.conftest import spark`).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.tools import spark_kafka_jars
from tests.offline.samples import partition_directory, simple_batches, write_segment

#: What the object-store server asks for; workers inherit it from the JVM, that from us.
STORE_CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.timeout(1200))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session on two local cores that knows `pykbroker` and `kafka`."""
    os.environ.update(STORE_CREDENTIALS)
    from pykbroker.spark import register, tuned_builder

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = tuned_builder("pykbroker tests", "local[2]")
        session = (
            builder.config("spark.jars", spark_kafka_jars())
            .config("spark.driver.memory", "1g")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.log.level", "ERROR")
            .getOrCreate()
        )
    register(session)
    yield session
    session.stop()


@pytest.fixture
def small_logs(tmp_path: Path) -> Path:
    """t with three segments of 400 records a partition, u with one."""
    for partition in range(2):
        for base in (0, 400, 800):
            write_segment(
                partition_directory(tmp_path, "t", partition),
                simple_batches(40, 10, base_offset=base, size=200),
                index_every=1000,
            )
    write_segment(partition_directory(tmp_path, "u"), simple_batches(40, 10, size=200))
    return tmp_path
