"""Files of this machine and behind pyarrow.fs give the same bytes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pykbroker.offline import OfflineError, open_log, storage
from tests.offline.samples import partition_directory, simple_batches, write_segment


@pytest.fixture(params=["local", "file", "remote"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> storage.SegmentFile:
    from pyarrow import fs

    path = tmp_path / "content"
    path.write_bytes(bytes(range(256)) * 100)
    if request.param == "remote":
        file = fs.LocalFileSystem().open_input_file(str(path))
        return storage.RemoteFile(str(path), file)
    prefix = "file://" if request.param == "file" else ""
    return storage.open_file(prefix + str(path))


def test_reading(opened: storage.SegmentFile, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(storage, "_WINDOW_BYTES", 100)
    content = bytes(range(256)) * 100
    with opened:
        assert opened.size == len(content)
        for length, position in ((10, 0), (300, 5), (1, 25_599), (50, 25_590), (5, 30_000), (0, 3)):
            assert opened.read(length, position) == content[position : position + length]
            buffer = bytearray(length)
            filled = opened.read_into(memoryview(buffer), position)
            assert bytes(buffer[:filled]) == content[position : position + length]


def test_names():
    assert storage.join("/a/b/", "c") == "/a/b/c"
    assert storage.join("s3://bucket/a?region=x", "c") == "s3://bucket/a/c?region=x"
    assert storage.split_name("/a/b-0/") == ("/a", "b-0")
    assert storage.split_name("b-0/") == (".", "b-0")
    assert storage.split_name("/b-0") == ("/", "b-0")
    assert storage.split_name("s3://bucket/a/b-0?region=x") == ("s3://bucket/a?region=x", "b-0")
    assert storage.is_remote("hdfs://host/logs")
    assert not storage.is_remote("file:///logs")


@pytest.mark.parametrize(
    "path,place",
    [
        ("/logs/a%20b", "/logs/a%20b"),
        ("logs", "logs"),
        ("file:/logs", "/logs"),
        ("file:///logs/a%20b", "/logs/a b"),
        ("file://localhost/logs", "/logs"),
        ("FILE:///logs", "/logs"),
        ("file:///logs#2?x=1%23", "/logs#2?x=1#"),
    ],
)
def test_paths_of_this_machine(path: str, place: str):
    assert not storage.is_remote(path)
    assert storage.local_path(path) == place


def test_places_that_there_are_not():
    with pytest.raises(OfflineError, match="file://elsewhere/logs is on another machine"):
        open_log("file://elsewhere/logs")
    with pytest.raises(OfflineError, match="Unrecognized filesystem type in URI: nowhere://host"):
        open_log("nowhere://host/logs")


@pytest.mark.parametrize(
    "uri,inner",
    [
        ("s3://bucket/logs/t-0?region=x", "bucket/logs/t-0"),
        ("s3://key:secret@bucket/logs?region=x", "bucket/logs"),
        ("s3://bucket?region=x", "bucket"),
        ("gs://anonymous@bucket/logs/", "bucket/logs"),
        ("abfs://container@account.dfs.core.windows.net/logs", "container/logs"),
        ("abfs://account.blob.core.windows.net/container/logs", "container/logs"),
        ("abfs://account@container/logs", "container/logs"),
    ],
)
def test_places_in_object_stores(uri: str, inner: str):
    _, found = storage.remote_place(uri)
    assert found == inner


def test_places_below_a_root(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(storage, "file_system", lambda uri: (uri, "/"))
    assert storage.remote_place("hdfs://host:1/a/b?x=1") == ("hdfs://host:1/?x=1", "/a/b")
    assert storage.remote_place("hdfs://host") == ("hdfs://host/", "/")


def test_what_a_file_system_needs_is_not_here(monkeypatch: pytest.MonkeyPatch):
    class Without:
        @staticmethod
        def from_uri(uri: str) -> None:
            raise OSError("Unable to load libhdfs")

    monkeypatch.setattr("pyarrow.fs.FileSystem", Without)
    storage.file_system.cache_clear()
    with pytest.raises(OfflineError, match=r"^s3: Unable to load libhdfs$"):
        open_log("s3://key:secret@bucket/logs")


def test_a_quoted_path(tmp_path: Path):
    write_segment(partition_directory(tmp_path / "a b"), simple_batches(2))
    assert open_log((tmp_path / "a b").as_uri()).read_all().num_rows == 20


def test_what_is_not_there(tmp_path: Path):
    assert storage.list_directory(str(tmp_path / "nothing")) is None
    (tmp_path / "file").write_bytes(b"")
    assert storage.list_directory(str(tmp_path / "file")) is None
    assert storage.read_small_file(str(tmp_path / "nothing")) is None
    with pytest.raises(FileNotFoundError):
        storage.open_file(str(tmp_path / "nothing"))
    (tmp_path / "going.deleted").write_bytes(b"x")
    assert storage.read_small_file(str(tmp_path / "going")) == b"x"


def test_listing(tmp_path: Path):
    (tmp_path / "b").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "file").write_bytes(b"123")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "through").symlink_to(tmp_path / "file" / "nowhere")
    (tmp_path / "ring").symlink_to("ring")
    os.mkfifo(tmp_path / "a pipe")
    odd = ["a pipe", "dangling", "ring", "through"]
    expected = ({"file": 3, "link": 3}, ["a", "b"], odd)
    assert storage.list_directory(str(tmp_path)) == expected
    assert storage.is_dangling(str(tmp_path / "dangling"))
    assert not storage.is_dangling(str(tmp_path / "link"))
    assert not storage.is_dangling(str(tmp_path / "nothing"))
