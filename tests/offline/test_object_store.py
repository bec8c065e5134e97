"""Log directories in an object store: the same rows, by URI."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pykbroker.offline import (
    ALL_COLUMNS,
    NotALogDirectory,
    batches,
    open_log,
    segments,
)
from tests.offline.samples import (
    BASE_MS,
    odd_batches,
    partition_directory,
    simple_batches,
    write_segment,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """The URI of an empty bucket (`{}` takes the path) of a server on a free port."""
    from moto.server import ThreadedMotoServer
    from pyarrow import fs

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    options = (
        f"scheme=http&endpoint_override={host}:{port}&region=us-east-1&allow_bucket_creation=true"
    )
    uri = f"s3://key:secret@logs/{{}}?{options}"
    system, _ = fs.FileSystem.from_uri(uri.format(""))
    system.create_dir("logs")
    yield uri
    server.stop()


def upload(bucket: str, root: Path, name: str) -> str:
    from pyarrow import fs

    system, inner = fs.FileSystem.from_uri(bucket.format(name))
    fs.copy_files(str(root), inner, destination_filesystem=system)
    return bucket.format(name)


def test_the_same_rows(bucket: str, tmp_path: Path):
    write_segment(partition_directory(tmp_path, "odd"), odd_batches(3))
    directory = partition_directory(tmp_path, "t")
    write_segment(directory, simple_batches(200, size=400), 0)
    write_segment(directory, simple_batches(200, base_offset=2000, size=400), 2000)
    (tmp_path / "log-start-offset-checkpoint").write_text("0\n1\nt 0 7\n")
    uri = upload(bucket, tmp_path, "all")
    local = open_log(str(tmp_path), columns=ALL_COLUMNS).read_all()
    assert open_log(uri, columns=ALL_COLUMNS).read_all().equals(local)
    assert (
        open_log(uri, columns=ALL_COLUMNS, decoder="plain", topics="t").read_all().num_rows == 3993
    )
    some: dict[str, Any]
    some = {"topics": "t", "start_timestamp_ms": BASE_MS + 3100, "split_bytes": 100_000}
    assert open_log(uri, **some).read_all().equals(open_log(str(tmp_path), **some).read_all())
    assert batches(uri, "t").equals(batches(str(tmp_path), "t"))
    ours, theirs = segments(uri, "t").drop(["path"]), segments(str(tmp_path), "t").drop(["path"])
    assert ours.equals(theirs)


def test_what_is_no_log_directory(bucket: str, tmp_path: Path):
    (tmp_path / "photo.png").write_bytes(b"")
    uri = upload(bucket, tmp_path, "photos")
    with pytest.raises(NotALogDirectory, match=r"but photo.png"):
        open_log(uri)
    with pytest.raises(NotALogDirectory, match="is not a directory"):
        open_log(bucket.format("nowhere"))
