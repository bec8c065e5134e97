"""Snapshot files: the bytes of Apache Kafka, and what a damaged one gets."""

from __future__ import annotations

import pytest

from pykbroker.kraft.metadata_snapshot import (
    BOOTSTRAP,
    CorruptSnapshot,
    SnapshotId,
    decode_snapshot,
    encode_snapshot,
)
from pykbroker.kraft.raft.voters import ReplicaKey, VoterEndpoint, VoterNode, VoterSet
from pykbroker.kraft.storage_format import bootstrap_records

DIRECTORY = bytes.fromhex("8c3e573fc31d46ad81de938fcd168e7a")
VOTERS = VoterSet(
    [VoterNode(ReplicaKey(1, DIRECTORY), (VoterEndpoint("CONTROLLER", "127.0.0.1", 19093),))]
)
# What `kafka-storage.sh format --standalone` of Apache Kafka 4.4 leaves, but for its three clocks:
# one batch here has the time of the header's batch where Apache's has a later one.
APACHE = bytes.fromhex(
    "00000000000000000000009a0000000002e4a1085c002000000002000001a21fc77f5c000001a21fc77f5cffffffff"
    "ffffffffffffffffffff000000032a00000000080000000316000000000001a21fc77f3d00001e000002080000"
    "00050a00000001000082010000040800000006"
)


def encoded(now_ms: int = 1_795_829_497_692) -> bytes:
    return b"".join(
        encode_snapshot(
            BOOTSTRAP,
            bootstrap_records({"metadata.version": 33, "kraft.version": 1}),
            kraft_version=1,
            voters=VOTERS,
            last_contained_log_timestamp_ms=1_795_829_497_661,
            now_ms=now_ms,
        )
    )


def test_the_first_batch_is_apaches_byte_for_byte() -> None:
    content = encoded()
    # Length, checksum, every field of the header, the first two control records.
    assert content[:60] == APACHE[:60]
    assert len(content) == 332


def test_what_is_written_is_read_again() -> None:
    snapshot = decode_snapshot(BOOTSTRAP, encoded())
    assert (snapshot.kraft_version, snapshot.voters) == (1, VOTERS)
    assert snapshot.last_contained_log_timestamp_ms == 1_795_829_497_661
    (record,) = snapshot.records
    assert (record.message.name, record.message.feature_level) == ("metadata.version", 33)


def test_kraft_version_0_has_no_voters_inside() -> None:
    content = b"".join(
        encode_snapshot(
            SnapshotId(5, 1),
            [],
            kraft_version=0,
            voters=None,
            last_contained_log_timestamp_ms=0,
            now_ms=0,
        )
    )
    snapshot = decode_snapshot(SnapshotId(5, 1), content)
    assert (snapshot.kraft_version, snapshot.voters, snapshot.records) == (0, None, [])


def test_many_records_go_into_batches() -> None:
    features = {f"feature.{number}": 1 for number in range(3000)}
    batches = list(
        encode_snapshot(
            SnapshotId(5, 1),
            bootstrap_records(features),
            kraft_version=0,
            voters=None,
            last_contained_log_timestamp_ms=0,
            now_ms=0,
        )
    )
    assert len(batches) == 5
    assert len(decode_snapshot(SnapshotId(5, 1), b"".join(batches)).records) == 3000


def test_a_snapshot_without_its_end_is_refused() -> None:
    content = encoded()
    with pytest.raises(CorruptSnapshot, match="footer is missing"):
        decode_snapshot(BOOTSTRAP, content[:-75])
    for cut in (1, 60, 100):
        with pytest.raises(CorruptSnapshot):
            decode_snapshot(BOOTSTRAP, content[:-cut])


def test_a_flipped_bit_is_found() -> None:
    content = bytearray(encoded())
    content[200] ^= 1
    with pytest.raises(CorruptSnapshot, match="checksum"):
        decode_snapshot(BOOTSTRAP, bytes(content))


def test_file_names() -> None:
    assert SnapshotId(12345, 7).file_name == "00000000000000012345-0000000007.checkpoint"
    assert SnapshotId.from_file_name("00000000000000012345-0000000007.checkpoint") == (12345, 7)
    for name in ("quorum-state", "1-2.checkpoint", SnapshotId(1, 2).file_name + ".part"):
        assert SnapshotId.from_file_name(name) is None
