"""pykbroker.log.directories.checkpoints: Apache's files both ways, and every kind of damage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pykbroker.log.directories import checkpoints as cp
from pykbroker.log.directories.checkpoints import (
    CleanShutdown,
    CorruptCheckpoint,
    MetaProperties,
    PartitionMetadata,
    format_leader_epochs,
    format_offsets,
    parse_leader_epochs,
    parse_offsets,
)
from pykbroker.protocol.primitives import uuid_from_str
from pykbroker.types import TopicPartition

APACHE = Path(__file__).parents[2] / "fixtures" / "apache"
DIRECTORY_ID = uuid_from_str("jD5XP8MdRq2B3pOPzRaOeg")
APACHES_META_PROPERTIES = b"""#
#Sat Nov 28 01:31:37 UTC 2026
node.id=1
directory.id=jD5XP8MdRq2B3pOPzRaOeg
version=1
cluster.id=e62swP6mSqqOBMmGnL4lng
"""


def test_offsets() -> None:
    payload = (APACHE / "replication-offset-checkpoint").read_bytes()
    offsets = {TopicPartition("orders", 0): 17, TopicPartition("a.b_c-d", 12): 9_000_000_000}
    assert parse_offsets(payload, "x") == offsets
    assert format_offsets(offsets) == payload
    assert parse_offsets(b"", "x") == {}
    assert parse_offsets(b"0\n", "x") == {}
    assert format_offsets({}) == b"0\n0\n"


def test_leader_epochs() -> None:
    payload = (APACHE / "leader-epoch-checkpoint").read_bytes()
    assert parse_leader_epochs(payload, "x") == [(0, 0), (3, 1000)]
    assert format_leader_epochs([(0, 0), (3, 1000)]) == payload


def test_partition_metadata() -> None:
    payload = (APACHE / "partition.metadata").read_bytes()
    assert PartitionMetadata.from_bytes(payload) == PartitionMetadata(DIRECTORY_ID)
    assert PartitionMetadata(DIRECTORY_ID).to_bytes() == payload


def test_clean_shutdown() -> None:
    payload = (APACHE / ".kafka_cleanshutdown").read_bytes()
    assert CleanShutdown.from_bytes(payload) == CleanShutdown(12)
    assert CleanShutdown(12).to_bytes() == payload


def test_meta_properties() -> None:
    meta = MetaProperties("e62swP6mSqqOBMmGnL4lng", 1, DIRECTORY_ID)
    assert MetaProperties.from_bytes(APACHES_META_PROPERTIES) == meta
    assert meta.to_bytes(1795829497000) == APACHES_META_PROPERTIES
    assert MetaProperties.from_bytes(meta.to_bytes()) == meta
    odd = MetaProperties("a=b:c#d!e\\", 7, None)
    assert MetaProperties.from_bytes(odd.to_bytes()) == odd
    assert MetaProperties.from_bytes(b"version=0\nbroker.id=3\n") == MetaProperties(
        None, 3, None, 0
    )


@pytest.mark.parametrize(
    "parse, payload, line, reason",
    [
        (parse_offsets, b"1\n0\n", 1, "unknown version 1"),
        (parse_offsets, b"zero\n0\n", 1, "version 'zero'"),
        (parse_offsets, b"0\nx\n", 2, "number of entries"),
        (parse_offsets, b"0\n2\norders 0 17\n", 2, "2 entries announced, 1 found"),
        (parse_offsets, b"0\n1\norders 0 17\nb 0 1\n", 2, "1 entries announced, 2 found"),
        (parse_offsets, b"0\n1\norders 17\n", 3, "not `topic partition offset`"),
        (parse_offsets, b"0\n1\norders 0 1z\n", 3, "offset '1z'"),
        (parse_offsets, b"0\n1\norders o 1\n", 3, "partition 'o'"),
        (parse_offsets, b"0\n1\n\xff 0 1\n", 3, "not UTF-8"),
        (parse_leader_epochs, b"0\n1\n3\n", 3, "not `epoch start_offset`"),
        (parse_leader_epochs, b"0\n1\n3 -1\n", 3, "negative"),
        (PartitionMetadata.from_bytes, b"", 1, "not `version: value`"),
        (PartitionMetadata.from_bytes, b"version: 0\n", 2, "not `topic_id: value`"),
        (PartitionMetadata.from_bytes, b"version: 1\ntopic_id: x", 1, "unknown version"),
        (PartitionMetadata.from_bytes, b"version: 0\ntopic_id: x", 2, "not a UUID"),
        (
            PartitionMetadata.from_bytes,
            b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
            2,
            "the topic id is zero",
        ),
        (MetaProperties.from_bytes, b"cluster.id=x\n", 1, "no version"),
        (MetaProperties.from_bytes, b"#\nversion=2\n", 2, "unknown version 2"),
        (MetaProperties.from_bytes, b"version=1\nnode.id=one\n", 2, "node.id 'one'"),
        (MetaProperties.from_bytes, b"version=1\ncluster.id=x\n", 1, "missing"),
        (MetaProperties.from_bytes, b"version=1\nnode.id\n", 2, "not `key=value`"),
        (
            MetaProperties.from_bytes,
            b"version=1\nnode.id=1\ncluster.id=x\ndirectory.id=x\n",
            4,
            "not a UUID",
        ),
        (CleanShutdown.from_bytes, b"{}", 1, "no broker epoch"),
        (CleanShutdown.from_bytes, b"{", 1, "no broker epoch"),
        (CleanShutdown.from_bytes, b"[1]", 1, "no broker epoch"),
    ],
)
def test_damage_is_named(
    parse: Callable[[bytes, str], object], payload: bytes, line: int, reason: str
) -> None:
    with pytest.raises(CorruptCheckpoint, match=reason) as caught:
        parse(payload, "the-file")
    assert str(caught.value).startswith(f"the-file, line {line}: ")
    assert (caught.value.name, caught.value.line) == ("the-file", line)


def test_file_names_are_kafkas() -> None:
    assert cp.CLEAN_SHUTDOWN == ".kafka_cleanshutdown"
    assert cp.RECOVERY_POINT_CHECKPOINT == "recovery-point-offset-checkpoint"
