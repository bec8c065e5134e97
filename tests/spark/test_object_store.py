"""Log directories, side tables and exports in an object store; credentials by environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pykbroker.spark import to_parquet
from pykbroker.spark.target import Target
from tests.offline.samples import odd_batches, partition_directory, simple_batches, write_segment

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def store(spark: Any) -> Iterator[dict[str, str]]:
    """Options that reach a server on a free port, in which there is a bucket `logs`."""
    from moto.server import ThreadedMotoServer
    from pyarrow import fs

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    options = {
        "storage.scheme": "http",
        "storage.endpoint_override": f"{host}:{port}",
        "storage.region": "us-east-1",
    }
    system, _ = fs.FileSystem.from_uri(uri(options, "", "&allow_bucket_creation=true"))
    system.create_dir("logs")
    yield options
    server.stop()


def uri(store: dict[str, str], path: str, more: str = "") -> str:
    query = "&".join(f"{name.partition('.')[2]}={value}" for name, value in store.items())
    return f"s3://testing:testing@logs/{path}?{query}{more}"


def test_the_same_rows_as_from_the_files(spark: Any, store: dict[str, str], tmp_path: Path) -> None:
    from pyarrow import fs

    write_segment(partition_directory(tmp_path, "t", 0), odd_batches(3, 15))
    damaged = write_segment(partition_directory(tmp_path, "t", 1), simple_batches(20, 10))
    payload = bytearray(damaged.read_bytes())
    payload[700] ^= 1
    damaged.write_bytes(payload)
    system, inner = fs.FileSystem.from_uri(uri(store, "node-1"))
    fs.copy_files(str(tmp_path), inner, destination_filesystem=system)

    options = {"subscribe": "t", "mode": "PERMISSIVE", "includeHeaders": "true"}
    local = spark.read.format("pykbroker").options(**options).load(str(tmp_path))
    remote = (
        spark.read.format("pykbroker")
        .options(**options, **store)
        .option("corruptBatchSink", uri(store, "corrupt"))
        .load("s3://logs/node-1")
    )
    expected = sorted(map(tuple, local.drop("key", "value", "headers").collect()))
    assert len(expected) > 200
    assert sorted(map(tuple, remote.drop("key", "value", "headers").collect())) == expected
    assert remote.exceptAll(local.repartition(1)).count() == 0
    sunk = system.get_file_info(fs.FileSelector("logs/corrupt"))
    assert [each.extension for each in sunk] == ["json"]

    report = to_parquet(
        spark,
        {"path": uri(store, "node-1"), "mode": "DROPMALFORMED", "columns": "offset,value"},
        uri(store, "export"),
    )
    assert (report.rows, report.corrupt_batches) == (len(expected), 1)
    files = system.get_file_info(fs.FileSelector("logs/export"))
    assert sorted(each.base_name for each in files) == ["_SUCCESS", *report.files]


def test_only_whole_files_are_seen(store: dict[str, str]) -> None:
    target = Target(uri(store, "whole"))
    target.write("x", b"whole")
    with pytest.raises(ZeroDivisionError):
        _fail_while_writing(target)
    assert target.names() == ["x"]
    assert (target.read("x"), target.size("x")) == (b"whole", 5)


def _fail_while_writing(target: Target) -> None:
    with target.open("y") as stream:
        stream.write(b"half")
        assert target.names() == ["x"]
        stream.write(bytes(1 // 0))
