"""A node's metadata from an empty disk on: start, restart, kill, crash, snapshots."""

from __future__ import annotations

import random

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.metadata_bootstrap import static_voters
from pykbroker.kraft.metadata_snapshot import BOOTSTRAP, Snapshot, SnapshotId, encode_snapshot
from pykbroker.kraft.publisher import UnsupportedCluster
from pykbroker.kraft.raft.initial_voters import local_voter
from pykbroker.kraft.raft.voters import VoterSet
from pykbroker.kraft.storage_format import StorageError, bootstrap_records, ensure_storage
from pykbroker.testing.world.memory_files import SimulatedCrash
from tests.kraft.node_world import NodeWorld


def test_an_empty_disk_becomes_a_cluster_of_one() -> None:
    world = NodeWorld().open()
    assert world.node.finalized_features() == {
        "metadata.version": 33,
        "kraft.version": 1,
        "eligible.leader.replicas.version": 1,
        "transaction.version": 2,
    }
    broker = world.watcher.image.brokers[1]
    assert not broker.fenced
    assert broker.epoch == world.node.broker_epoch
    assert world.watcher.image.controllers[1].listeners["CONTROLLER"].port == 9093
    assert world.metadata_files() == [
        "00000000000000000000-0000000000.checkpoint",
        "00000000000000000000.index",
        "00000000000000000000.log",
        "00000000000000000000.timeindex",
        "leader-epoch-checkpoint",
        "partition.metadata",
        "quorum-state",
    ]


def test_a_reply_comes_when_it_is_on_disk_and_published() -> None:
    world = NodeWorld(inline=False).open()
    reply = world.create("t", 3)
    assert not reply.done
    assert world.watcher.image.topic("t") is None
    world.scheduler.run_jobs()
    assert reply.value.topics[0].error_code == 0
    assert len(world.watcher.image.topic("t").partitions) == 3


def test_what_comes_during_an_fsync_goes_with_the_next_one() -> None:
    world = NodeWorld(inline=False).open()
    replies = [world.create(f"t{number}") for number in range(10)]
    assert len(world.scheduler.jobs) == 1
    assert world.scheduler.run_jobs() == 2
    assert all(reply.done for reply in replies)


def test_a_refusal_waits_for_what_it_tells_of() -> None:
    world = NodeWorld(inline=False).open()
    world.create("t")
    again = world.create("t")
    assert not again.done
    world.scheduler.run_jobs()
    assert again.value.topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS


@pytest.mark.parametrize("clean", [True, False])
def test_a_restart_finds_everything(clean: bool) -> None:
    world = NodeWorld().open()
    world.settle(world.create("t", 2))
    before = world.watcher.image.topic("t")
    cluster_id = world.node.storage.cluster_id
    if clean:
        world.stop()
    else:
        world.files.kill()
    world.open(serve=False)
    assert world.watcher.image.topic("t").id == before.id
    assert world.node.raft.raft.epoch == 2
    assert world.node.storage.cluster_id == cluster_id
    world.open()
    partition = world.watcher.image.topic("t").partitions[0]
    assert partition.leader == 1
    assert partition.leader_epoch >= 2  # led by nobody while the broker was away, then again


def test_controlled_shutdown_leaves_no_leader() -> None:
    world = NodeWorld().open()
    world.settle(world.create("t"))
    world.stop()
    assert world.watcher.image.topic("t").partitions[0].leader == -1
    assert world.watcher.image.brokers[1].fenced


def test_an_idle_node_writes_no_ops() -> None:
    world = NodeWorld().open()
    before = world.node.raft.log.log.next_offset
    world.scheduler.advance(2600)
    assert world.node.raft.log.log.next_offset - before in (4, 5)
    silent = NodeWorld(metadata_max_idle_interval_ms="0").open()
    before = silent.node.raft.log.log.next_offset
    silent.scheduler.advance(2600)
    assert silent.node.raft.log.log.next_offset == before


def test_heartbeats_keep_the_broker_unfenced() -> None:
    world = NodeWorld().open()
    world.scheduler.advance(60_000)
    assert not world.watcher.image.brokers[1].fenced


def test_producer_ids_come_in_blocks() -> None:
    world = NodeWorld().open()
    assert world.settle(world.node.allocate_producer_ids()).producer_id_start == 0
    world.stop()
    world.open()
    assert world.settle(world.node.allocate_producer_ids()).producer_id_start == 1000


# Snapshots.


def test_snapshots_by_size_and_a_start_from_one() -> None:
    world = NodeWorld(metadata_log_max_record_bytes_between_snapshots="4000").open()
    for number in range(30):
        world.settle(world.create(f"t{number}"))
    snapshots = world.node.raft.log.snapshots
    assert snapshots[0] == BOOTSTRAP
    assert len(snapshots) > 1
    topics = set(world.watcher.image.topics_by_name)
    world.files.kill()
    world.open()
    assert set(world.watcher.image.topics_by_name) == topics
    assert world.node.kraft_version == 1


def test_snapshots_by_time() -> None:
    world = NodeWorld(metadata_log_max_snapshot_interval_ms="10000").open()
    world.scheduler.advance(11_000)
    assert len(world.node.raft.log.snapshots) == 2


def test_old_snapshots_and_the_log_before_them_go() -> None:
    world = NodeWorld(
        metadata_log_max_record_bytes_between_snapshots="2000", metadata_max_retention_bytes="1"
    ).open()
    for number in range(40):
        world.settle(world.create(f"t{number}"))
    world.scheduler.advance(61_000)
    log = world.node.raft.log
    assert len(log.snapshots) == 1
    assert log.log.log_start_offset == log.snapshots[0].offset
    topics = set(world.watcher.image.topics_by_name)
    world.stop()
    world.open()
    assert set(world.watcher.image.topics_by_name) == topics


# Faults.


def test_cleaning_goes_on_after_a_file_that_cannot_be_deleted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = NodeWorld(
        metadata_log_max_record_bytes_between_snapshots="2000", metadata_max_retention_bytes="1"
    ).open()
    world.files.fail = lambda name, path: (
        OSError(5, "bad disk") if name == "unlink" and path.endswith(".checkpoint") else None
    )
    for number in range(40):
        world.settle(world.create(f"t{number}"))
    world.scheduler.advance(61_000)
    assert "An old file of the metadata log was not deleted: [Errno 5] bad disk" in caplog.text
    world.files.fail = None
    for number in range(40, 80):
        world.settle(world.create(f"t{number}"))
    world.scheduler.advance(61_000)
    assert len(world.node.raft.log.snapshots) == 1
    assert not world.fatal


def test_one_file_that_cannot_be_deleted_keeps_no_other() -> None:
    world = NodeWorld(
        metadata_log_max_record_bytes_between_snapshots="2000",
        metadata_max_retention_bytes="1",
        metadata_log_segment_ms="20000",
    ).open()
    stuck: list[str] = []

    def fail(name: str, path: str) -> OSError | None:
        if name != "unlink" or not path.endswith(".deleted"):
            return None
        if not stuck:
            stuck.append(path)
        return OSError(5, "bad disk") if path in stuck else None

    world.files.fail = fail
    for number in range(40):
        world.settle(world.create(f"t{number}"))
        world.scheduler.advance(10)
    world.scheduler.advance(121_000)
    # The segment's index was deleted.
    assert [name for name in world.metadata_files() if name.startswith(f"{0:020}.")] == [
        "00000000000000000000.log.deleted"
    ]
    assert [path.rpartition("/")[2] for path in stuck] == ["00000000000000000000.log.deleted"]
    assert not world.fatal


def test_a_disk_that_fails_stops_the_node() -> None:
    world = NodeWorld(inline=False).open()
    reply = world.create("t")

    def fail(name: str, path: str) -> OSError | None:
        return OSError(5, "bad disk") if name == "sync" and path.endswith(".log") else None

    world.files.fail = fail
    world.scheduler.run_jobs()
    assert len(world.fatal) == 1
    assert not reply.done or isinstance(reply.value, KafkaError)
    late = world.create("u")
    assert isinstance(late.value, KafkaError)


def test_a_disk_that_takes_no_more_answers_everybody_once_and_closes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = NodeWorld(inline=False).open()
    before = world.create("t")
    world.files.fail = lambda name, path: OSError(28, "full") if name == "write" else None
    refused = world.create("u")
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert before.value.code == ErrorCode.NOT_CONTROLLER  # committed or not: look again
    assert len(world.fatal) == 1
    (line,) = [each for each in caplog.records if "cannot be followed" in each.getMessage()]
    assert "full" in line.getMessage()
    assert not line.exc_info  # a disk is no bug of ours
    world.files.fail = None
    world.node.close()
    world.files.kill()
    world.open()
    assert world.watcher.image.topic("u") is None


@pytest.mark.parametrize("call", range(4, 22))
def test_a_disk_that_is_full_forbids_the_start_in_one_line(call: int) -> None:
    world = formatted()
    count = 0

    def fail(name: str, path: str) -> OSError | None:
        nonlocal count
        count += name in ("write", "open", "sync")
        return OSError(28, "No space left on device", path) if count >= call else None

    world.files.fail = fail
    with pytest.raises(StorageError, match="No space left on device"):
        world.open(serve=False)
    world.node.close()
    assert world.fatal == []
    world.files.kill()
    world.open()


@pytest.mark.parametrize("seed", range(8))
def test_a_crash_loses_nothing_that_was_answered(seed: int) -> None:
    dice = random.Random(seed)
    world = NodeWorld(inline=False, metadata_log_max_record_bytes_between_snapshots="1500").open()
    answered: set[str] = set()
    asked: set[str] = set()
    for turn in range(25):
        name = f"t{turn}"
        reply = world.create(name)
        asked.add(name)
        if dice.random() < 0.7:
            world.scheduler.run_jobs()
        if reply.done:
            answered.add(name)
        if dice.random() < 0.15:
            world.files.crash(dice, reorder=dice.random() < 0.5)
            world.open()
            found = set(world.watcher.image.topics_by_name)
            assert answered <= found <= asked
            answered = found
    assert answered


def test_a_crash_while_formatting_leaves_a_disk_that_can_be_formatted() -> None:
    for call in range(1, 100):
        world = NodeWorld()
        world.files.crash_at = call
        try:
            ensure_storage(world.files, world.config, now_ms=0, new_uuid=world.new_uuid)
        except SimulatedCrash:
            world.files.crash(random.Random(call))
            ensure_storage(world.files, world.config, now_ms=0, new_uuid=world.new_uuid)
        else:
            break
    world.files.crash_at = None
    assert 5 < call < 100
    world.open()


# What is refused.


def put_checkpoint(world: NodeWorld, features: dict[str, int]) -> None:
    batches = encode_snapshot(
        BOOTSTRAP,
        bootstrap_records(features),
        kraft_version=0,
        voters=None,
        last_contained_log_timestamp_ms=0,
        now_ms=0,
    )
    path = f"/disk/__cluster_metadata-0/{BOOTSTRAP.file_name}"
    world.files.write_file(path, b"".join(batches))


def test_a_controller_that_waits_for_a_quorum_of_others_is_none_of_its_own() -> None:
    """Formatted with --no-initial-controllers: kraft.version 1, and no voters."""
    world = NodeWorld()
    local = local_voter(world.config, b"\x01" * 16)
    waiting = Snapshot(BOOTSTRAP, 0, 1, None, [])
    assert static_voters(world.config, local, waiting) == VoterSet()
    static = waiting._replace(kraft_version=0)
    for latest in (static, None):
        assert static_voters(world.config, local, latest).ids == [1]


def formatted() -> NodeWorld:
    world = NodeWorld()
    ensure_storage(world.files, world.config, now_ms=0, new_uuid=world.new_uuid)
    return world


def test_features_that_are_not_built_are_refused_by_name() -> None:
    world = formatted()
    put_checkpoint(world, {"metadata.version": 33, "group.version": 1})
    with pytest.raises(UnsupportedCluster, match=r"group\.version is finalised at 1"):
        world.open()
    put_checkpoint(world, {"metadata.version": 34})
    with pytest.raises(UnsupportedCluster, match=r"metadata\.version is finalised at 34"):
        world.open()


def test_the_directory_of_another_voter_is_refused() -> None:
    world = formatted()
    path = "/disk/meta.properties"
    properties = world.files.read_file(path).decode()
    other = [
        "directory.id=AQAAAAAAAAAAAAAAAAAAfw" if line.startswith("directory") else line
        for line in properties.splitlines()
    ]
    world.files.write_file(path, "\n".join(other).encode() + b"\n")
    with pytest.raises(UnsupportedCluster, match=r"directory\.id of /disk is not the one"):
        world.open()


def test_a_directory_without_metadata_is_refused() -> None:
    world = formatted()
    world.files.unlink(f"/disk/__cluster_metadata-0/{BOOTSTRAP.file_name}")
    with pytest.raises(StorageError, match="format the directory again"):
        world.open()


def test_nobody_is_told_to_format_over_partitions() -> None:
    world = formatted()
    world.files.unlink(f"/disk/__cluster_metadata-0/{BOOTSTRAP.file_name}")
    world.files.mkdir("/disk/orders-0")
    with pytest.raises(StorageError, match=r"has lost its records, but /disk holds .*orders-0"):
        world.open()


def test_a_damaged_quorum_state_is_refused() -> None:
    world = NodeWorld().open()
    world.stop()
    world.files.write_file("/disk/__cluster_metadata-0/quorum-state", b"{")
    with pytest.raises(StorageError, match="quorum-state"):
        world.open()


def test_a_damaged_snapshot_is_refused() -> None:
    world = formatted()
    path = f"/disk/__cluster_metadata-0/{BOOTSTRAP.file_name}"
    content = world.files.read_file(path)
    world.files.write_file(path, content[: len(content) // 2])
    with pytest.raises(StorageError, match=BOOTSTRAP.file_name):
        world.open()


def test_a_damaged_batch_in_the_metadata_log_is_refused() -> None:
    world = NodeWorld().open()
    world.settle(world.create("orders"))
    world.stop()
    path = "/disk/__cluster_metadata-0/00000000000000000000.log"
    content = bytearray(world.files.read_file(path))
    content[content.index(b"orders")] ^= 0x55
    world.files.write_file(path, content)
    for is_clean in (True, False):
        with pytest.raises(StorageError, match="is damaged, but committed records follow"):
            world.open(is_clean=is_clean)
    assert world.files.read_file(path) == content


def test_partitions_without_any_metadata_are_not_set_aside() -> None:
    world = NodeWorld().open()
    world.stop()
    world.files.write_file("/disk/__cluster_metadata-0/00000000000000000000.log", b"")
    world.files.mkdir("/disk/gone-0.0123456789abcdef0123456789abcdef-delete")
    world.open(serve=False)  # nothing that is in use would be lost
    world.node.close()
    world.files.write_file("/disk/__cluster_metadata-0/00000000000000000000.log", b"")
    world.files.mkdir("/disk/orders-0")
    with pytest.raises(StorageError, match=r"has lost its records, but /disk holds .*orders-0"):
        world.open()


def test_older_metadata_versions_are_served_in_their_record_versions() -> None:
    world = formatted()
    put_checkpoint(world, {"metadata.version": 14})
    world.open()
    assert world.settle(world.create("t")).topics[0].error_code == 0
    assert world.node.finalized_features() == {"metadata.version": 14}
    assert world.watcher.image.brokers[1].directories == ()
    world.stop()
    world.open()
    assert world.watcher.image.topic("t").partitions[0].leader == 1


def test_snapshot_ids_sort_by_offset() -> None:
    assert SnapshotId(5, 9) < SnapshotId(10, 1)
