"""Formatting: what it writes, what it leaves alone, what it refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.environment.real.files import RealFiles
from pykbroker.kraft.metadata_snapshot import BOOTSTRAP, decode_snapshot
from pykbroker.kraft.raft.initial_voters import default_voters, local_voter
from pykbroker.kraft.raft.voters import ReplicaKey, VoterSet
from pykbroker.kraft.storage_format import (
    Formatted,
    Storage,
    StorageError,
    UnreadableDirectory,
    ensure_storage,
    format_storage,
    read_meta_properties,
)
from pykbroker.protocol.primitives import uuid_to_str

CLUSTER_ID = "e62swP6mSqqOBMmGnL4lng"


class Disk:
    def __init__(self, root: Path, **overrides: str) -> None:
        self.root = root
        self.files = RealFiles()
        self.uuids = 0
        properties = standalone_properties(str(root / "a"))
        properties |= {key.replace("_", "."): value for key, value in overrides.items()}
        self.config = BrokerConfig.from_properties(properties)

    def new_uuid(self) -> bytes:
        self.uuids += 1
        return b"\x01" + self.uuids.to_bytes(15, "big")

    def format(
        self,
        *,
        ignore_formatted: bool = False,
        cluster_id: str = CLUSTER_ID,
        voters: VoterSet | None = None,
    ) -> Formatted:
        return format_storage(
            self.files,
            self.config,
            cluster_id,
            now_ms=1000,
            new_uuid=self.new_uuid,
            voters=voters or default_voters(self.config, self.new_uuid),
            ignore_formatted=ignore_formatted,
        )

    def ensure(self, new_cluster_id: str | None = None) -> Storage:
        return ensure_storage(
            self.files,
            self.config,
            now_ms=1000,
            new_uuid=self.new_uuid,
            new_cluster_id=new_cluster_id,
        )


def two(root: Path, **overrides: str) -> Disk:
    return Disk(root, log_dirs=f"{root}/a,{root}/b", **overrides)


def test_format_writes_identity_and_bootstrap(tmp_path: Path) -> None:
    disk = two(tmp_path)
    assert disk.format() == ([f"{tmp_path}/a", f"{tmp_path}/b"], [], {})
    a = read_meta_properties(disk.files, f"{tmp_path}/a")
    b = read_meta_properties(disk.files, f"{tmp_path}/b")
    assert a is not None
    assert b is not None
    assert (a.cluster_id, a.node_id, a.version) == (CLUSTER_ID, 1, 1)
    assert a.directory_id != b.directory_id
    path = tmp_path / "a" / "__cluster_metadata-0" / BOOTSTRAP.file_name
    assert path.stat().st_mode & 0o777 == 0o400
    assert not (tmp_path / "b" / "__cluster_metadata-0").exists()
    snapshot = decode_snapshot(BOOTSTRAP, path.read_bytes())
    assert snapshot.voters is not None
    assert snapshot.voters.nodes[1].key.directory_id == a.directory_id
    # A listener on port 0 has no port to name yet.
    assert snapshot.voters.nodes[1].endpoints[0].port == 9093


def test_static_voters_are_kraft_version_0(tmp_path: Path) -> None:
    disk = Disk(
        tmp_path,
        listeners="PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
        controller_quorum_voters="1@127.0.0.1:9093",
        controller_quorum_bootstrap_servers="",
    )
    disk.format()
    path = tmp_path / "a" / "__cluster_metadata-0" / BOOTSTRAP.file_name
    snapshot = decode_snapshot(BOOTSTRAP, path.read_bytes())
    assert (snapshot.kraft_version, snapshot.voters) == (0, None)


def test_formatting_twice(tmp_path: Path) -> None:
    disk = two(tmp_path)
    disk.format()
    with pytest.raises(StorageError, match="already formatted"):
        disk.format()
    assert disk.format(ignore_formatted=True) == ([], [], {})
    with pytest.raises(StorageError, match=r"Invalid cluster\.id"):
        disk.format(ignore_formatted=True, cluster_id="AAAAAAAAAAAAAAAAAAAAAQ")


def contents(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_directory_that_comes_later_joins_the_cluster(tmp_path: Path) -> None:
    Disk(tmp_path).format()
    before = contents(tmp_path)
    disk = two(tmp_path)
    disk.uuids = 10
    with pytest.raises(StorageError, match="already formatted"):
        disk.format()
    assert contents(tmp_path) == before
    assert disk.format(ignore_formatted=True) == ([f"{tmp_path}/b"], [], {})
    assert before.items() <= contents(tmp_path).items()
    found = disk.ensure()
    assert (found.cluster_id, found.formatted) == (CLUSTER_ID, [])
    assert len(set(found.directory_ids.values())) == 2


@pytest.mark.parametrize("bad", ["a", "b"])
def test_a_directory_that_cannot_be_read_is_left_out(tmp_path: Path, bad: str) -> None:
    good = {"a": "b", "b": "a"}[bad]
    (tmp_path / bad).write_text("a file in its place")
    disk = two(tmp_path)
    assert disk.format() == ([f"{tmp_path}/{good}"], [f"{tmp_path}/{bad}"], {})
    before = contents(tmp_path)
    with pytest.raises(StorageError, match=f"{good} is already formatted"):
        disk.format()
    assert disk.format(ignore_formatted=True) == ([], [f"{tmp_path}/{bad}"], {})
    assert contents(tmp_path) == before
    (tmp_path / bad).unlink()
    assert disk.format(ignore_formatted=True) == ([f"{tmp_path}/{bad}"], [], {})
    assert disk.ensure().formatted == []


def test_no_directory_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    disk = Disk(tmp_path, log_dirs=f"{tmp_path}/file/a,{tmp_path}/file/b")
    with pytest.raises(StorageError, match="No available log directories to format"):
        disk.format(ignore_formatted=True)


def test_a_directory_that_cannot_be_made_does_not_cost_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(tmp_path, log_dirs=",".join(f"{tmp_path}/{name}" for name in "abc"))
    mkdir = disk.files.mkdir

    def broken(path: str) -> None:
        if path == f"{tmp_path}/b":
            raise OSError(30, "Read-only file system", path)
        mkdir(path)

    with monkeypatch.context() as patch:
        patch.setattr(disk.files, "mkdir", broken)
        outcome = disk.format()
    assert outcome.formatted == [f"{tmp_path}/a", f"{tmp_path}/c"]
    assert outcome.failed == {f"{tmp_path}/b": f"{tmp_path}/b: Read-only file system"}
    assert disk.format(ignore_formatted=True) == ([f"{tmp_path}/b"], [], {})
    assert len(disk.ensure().directory_ids) == 3


def test_nothing_is_written_when_one_belongs_to_another_cluster(tmp_path: Path) -> None:
    Disk(tmp_path, log_dirs=f"{tmp_path}/b").format(cluster_id="AAAAAAAAAAAAAAAAAAAAAQ")
    with pytest.raises(StorageError, match=r"Invalid cluster\.id"):
        two(tmp_path).format(ignore_formatted=True)
    assert not (tmp_path / "a").exists()


def test_a_cluster_id_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="does not appear to be a valid UUID"):
        Disk(tmp_path).format(cluster_id="x")


def test_a_start_formats_an_empty_directory_once(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    first = disk.ensure()
    assert first.formatted == [f"{tmp_path}/a"]
    again = disk.ensure()
    assert again == first._replace(formatted=[])


def test_a_start_formats_for_the_cluster_that_is_asked_for(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    assert disk.ensure(CLUSTER_ID).cluster_id == CLUSTER_ID
    # Later starts find it: what is asked for then has no effect, as in Apache's container image.
    assert disk.ensure("AAAAAAAAAAAAAAAAAAAAAQ").cluster_id == CLUSTER_ID
    assert disk.ensure("").cluster_id == CLUSTER_ID


def test_a_start_formats_for_no_cluster_without_an_id(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="Cluster ID string x does not appear to be a valid"):
        Disk(tmp_path).ensure("x")
    assert os.listdir(tmp_path) == []
    assert len(Disk(tmp_path).ensure("").cluster_id) == 22


def test_a_new_directory_joins_the_others(tmp_path: Path) -> None:
    first = Disk(tmp_path).ensure()
    storage = two(tmp_path).ensure()
    assert storage.cluster_id == first.cluster_id
    assert storage.formatted == [f"{tmp_path}/b"]
    assert len(set(storage.directory_ids.values())) == 2


def test_directories_of_before_kip_858_get_ids(tmp_path: Path) -> None:
    two(tmp_path).ensure()
    for name in "ab":
        path = tmp_path / name / "meta.properties"
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if not line.startswith("directory.id")))
    storage = two(tmp_path).ensure()
    assert storage.formatted == []
    assert len(set(storage.directory_ids.values())) == 2
    assert two(tmp_path).ensure() == storage


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("node.id=1|node.id=2", "Stored node id 2"),
        ("version=1|version=7", "unknown version 7"),
        ("cluster.id=|cluster", "not `key=value`"),
    ],
)
def test_another_owner_is_refused(tmp_path: Path, change: str, message: str) -> None:
    disk = Disk(tmp_path)
    disk.ensure()
    path = tmp_path / "a" / "meta.properties"
    old, _, new = change.partition("|")
    text = path.read_text()
    path.write_text(text.replace(old, new))
    with pytest.raises(StorageError, match=message):
        disk.ensure()


def test_two_clusters_in_one_node_are_refused(tmp_path: Path) -> None:
    disk = two(tmp_path)
    disk.ensure()
    path = tmp_path / "b" / "meta.properties"
    cluster_id = disk.ensure().cluster_id
    path.write_text(path.read_text().replace(cluster_id, uuid_to_str(b"x" * 16)))
    with pytest.raises(StorageError, match=r"Invalid cluster\.id"):
        disk.ensure()


def test_a_copied_directory_is_refused(tmp_path: Path) -> None:
    disk = two(tmp_path)
    disk.ensure()
    copy = (tmp_path / "a" / "meta.properties").read_text()
    (tmp_path / "b" / "meta.properties").write_text(copy)
    with pytest.raises(StorageError, match=r"the directory\.id of another"):
        disk.ensure()


def test_somebody_elses_directory_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "thesis.txt").write_text("mine")
    with pytest.raises(StorageError, match=r"thesis\.txt"):
        Disk(tmp_path).ensure()
    assert os.listdir(tmp_path / "a") == ["thesis.txt"]


def test_a_lost_metadata_directory_is_refused(tmp_path: Path) -> None:
    disk = two(tmp_path)
    disk.ensure()
    (tmp_path / "a" / "meta.properties").unlink()
    path = tmp_path / "a" / "__cluster_metadata-0" / BOOTSTRAP.file_name
    path.unlink()
    with pytest.raises(StorageError, match="was it replaced"):
        disk.ensure()


def test_a_metadata_log_without_an_owner_is_not_formatted_over(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.ensure()
    (tmp_path / "a" / "meta.properties").unlink()
    (tmp_path / "a" / "__cluster_metadata-0" / "00000000000000000000.log").write_bytes(b"")
    with pytest.raises(StorageError, match="a metadata log"):
        disk.format()
    with pytest.raises(StorageError, match="not empty"):
        disk.ensure()


def test_an_unwritable_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    disk = Disk(tmp_path, log_dirs=f"{tmp_path}/file/a")
    with pytest.raises(StorageError, match="Not a directory"):
        disk.ensure()


def test_a_directory_that_cannot_be_read_does_not_cost_the_others(tmp_path: Path) -> None:
    disk = two(tmp_path)
    disk.ensure()
    (tmp_path / "b" / "meta.properties").unlink()
    (tmp_path / "b" / "meta.properties").mkdir()  # read(2) fails, as on a broken disk
    storage = disk.ensure()
    assert list(storage.directory_ids) == [f"{tmp_path}/a"]
    assert storage.formatted == []
    with pytest.raises(UnreadableDirectory, match=r"b/meta\.properties: Is a directory"):
        two(tmp_path, metadata_log_dir=f"{tmp_path}/b").ensure()


def test_a_directory_that_fails_after_the_survey_does_not_cost_the_others(tmp_path: Path) -> None:
    """What is formatted is read once: the log manager takes the directory offline."""
    disk = two(tmp_path)
    first = disk.ensure()
    read: list[str] = []

    class Reading(RealFiles):
        def read_file(self, path: str) -> bytes:
            read.append(path)
            return super().read_file(path)

    disk.files = Reading()
    assert disk.ensure().directory_ids == first.directory_ids
    assert sorted(read) == [f"{tmp_path}/{name}/meta.properties" for name in "ab"]


def test_voters_that_are_given(tmp_path: Path) -> None:
    """The metadata directory gets the id that they say; a node that is none of them its own."""
    disk = two(tmp_path)
    local = local_voter(disk.config, b"\x07" * 16)
    other = local._replace(key=ReplicaKey(5, b"\x08" * 16))
    given = VoterSet([local, other])
    disk.format(voters=given)
    directory_ids = {
        name: getattr(read_meta_properties(disk.files, f"{tmp_path}/{name}"), "directory_id", None)
        for name in ("a", "b")
    }
    assert directory_ids["a"] == b"\x07" * 16
    assert directory_ids["b"] not in (None, b"\x07" * 16)
    path = tmp_path / "a" / "__cluster_metadata-0" / BOOTSTRAP.file_name
    written = decode_snapshot(BOOTSTRAP, path.read_bytes())
    assert (written.kraft_version, written.voters) == (1, given)
    outside = Disk(tmp_path / "outside")
    outside.format(voters=VoterSet([other]))
    found = read_meta_properties(outside.files, f"{tmp_path}/outside/a")
    assert found is not None
    assert found.directory_id == b"\x01" + (1).to_bytes(15, "big")


def test_voters_that_others_know(tmp_path: Path) -> None:
    disk = Disk(tmp_path, controller_quorum_bootstrap_servers="127.0.0.1:1")
    disk.ensure()
    path = tmp_path / "a" / "__cluster_metadata-0" / BOOTSTRAP.file_name
    written = decode_snapshot(BOOTSTRAP, path.read_bytes())
    assert (written.kraft_version, written.voters) == (1, None)


def test_a_broker_without_a_controller_gets_no_bootstrap_records(tmp_path: Path) -> None:
    disk = Disk(
        tmp_path,
        process_roles="broker",
        listeners="PLAINTEXT://127.0.0.1:9092",
        controller_quorum_bootstrap_servers="127.0.0.1:9093",
    )
    disk.ensure()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["meta.properties"]


def test_a_controller_that_is_formatted_without_voters_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Disk(tmp_path / "alone").ensure()
    assert caplog.text == ""
    servers = "127.0.0.1:9093,c2:9093,c3:9093"
    Disk(tmp_path / "other", controller_quorum_bootstrap_servers=servers).ensure()
    assert "is formatted without voters: this controller looks for the quorum of" in caplog.text
