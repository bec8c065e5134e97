"""producer_entry: the snapshot file against Apache's bytes, and its damage."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykbroker.log.producers.producer_entry import (
    BatchMetadata,
    CompletedTxn,
    CorruptSnapshot,
    ProducerStateEntry,
    decode_snapshot,
    encode_snapshot,
    stray_snapshots,
)

APACHE = Path(__file__).parents[2] / "fixtures" / "apache"
SNAPSHOT = (APACHE / "00000000000000001300.snapshot").read_bytes()


def test_apaches_snapshot_both_ways() -> None:
    idle, busy = decode_snapshot(SNAPSHOT)
    assert (idle.producer_id, idle.producer_epoch, idle.batches) == (1, 0, [])
    assert (idle.coordinator_epoch, idle.last_timestamp) == (-1, 1700000000000)
    assert (idle.last_sequence, idle.last_offset, idle.last_offset_delta) == (-1, -1, 0)
    assert idle.current_txn_first_offset == -1
    assert (busy.producer_id, busy.producer_epoch, busy.coordinator_epoch) == (4242, 3, 11)
    assert busy.current_txn_first_offset == 1234
    assert busy.last_timestamp == 1700000000999
    (batch,) = busy.batches
    assert (batch.first_offset, batch.last_offset) == (1000, 1299)
    assert (batch.first_sequence, batch.last_sequence) == (17, 316)
    assert encode_snapshot([idle, busy]) == SNAPSHOT


def test_empty() -> None:
    assert decode_snapshot(encode_snapshot([])) == []


@given(st.integers(0, len(SNAPSHOT) - 1), st.integers(1, 255))
def test_any_changed_byte_is_noticed(position: int, change: int) -> None:
    damaged = bytearray(SNAPSHOT)
    damaged[position] ^= change
    with pytest.raises(CorruptSnapshot):
        decode_snapshot(bytes(damaged))


def test_cut_and_prolonged_snapshots() -> None:
    for payload in (b"", SNAPSHOT[:5], SNAPSHOT[:-1], SNAPSHOT + b"\x00"):
        with pytest.raises(CorruptSnapshot):
            decode_snapshot(payload)


@pytest.mark.parametrize(
    "snapshots, segments, strays",
    [
        ([], [0], []),
        ([100, 200], [0, 100, 200], []),
        ([100, 200, 250], [0, 100, 200], []),  # taken when the log was closed
        ([100, 150, 200, 250, 260], [0, 100, 200], [150, 250]),
        ([150], [0, 100, 200], [150]),
        ([5, 7], [], [5]),
    ],
)
def test_strays(snapshots: list[int], segments: list[int], strays: list[int]) -> None:
    assert stray_snapshots(snapshots, segments) == strays


def test_texts() -> None:
    entry = ProducerStateEntry(1, 2, 3, 4, 5, [BatchMetadata(6, 7, 0, 8)])
    assert "last_sequence=6" in repr(entry)
    assert repr(CompletedTxn(1, 2, 3, True)) == "CompletedTxn(1, 2-3 aborted)"
