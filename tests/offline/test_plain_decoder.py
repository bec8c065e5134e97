"""The plain decoder against the records that went in: the other decoder is judged by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.offline import ALL_COLUMNS, ReadOptions, Split, read_split
from pykbroker.protocol.record_batch import build_batch
from tests.offline.samples import BASE_MS, write_segment

ROWS = [
    (b"k", b"value", BASE_MS, [("a", b"1"), ("a", None)]),
    (None, b"", BASE_MS - 1, []),
    (b"", None, BASE_MS + 10**6, []),
]


@pytest.mark.parametrize("decoder", ["plain", "numpy"])
@pytest.mark.parametrize("codec", range(5))
def test_every_column(tmp_path: Path, codec: int, decoder: str):
    batch = build_batch(
        ROWS,
        base_offset=50,
        codec=codec,
        leader_epoch=4,
        producer_id=9,
        producer_epoch=2,
        base_sequence=77,
        is_transactional=True,
        offset_deltas=[0, 2, 7],
    )
    path = write_segment(tmp_path, [bytes(batch)])
    split = Split(str(path), "t", 3, 50, 0, len(batch))
    (found,) = read_split(split, ReadOptions(columns=tuple(ALL_COLUMNS), decoder=decoder))
    columns = {name: found.column(name).to_pylist() for name in ALL_COLUMNS}
    assert columns["key"] == [b"k", None, b""]
    assert columns["value"] == [b"value", b"", None]
    assert columns["key_size"] == [1, None, 0]
    assert columns["value_size"] == [5, 0, None]
    assert columns["offset"] == [50, 52, 57]
    assert columns["timestamp_ms"] == [BASE_MS, BASE_MS - 1, BASE_MS + 10**6]
    assert [int(t.timestamp() * 1000) for t in columns["timestamp"]] == columns["timestamp_ms"]
    pairs = [{"key": "a", "value": b"1"}, {"key": "a", "value": None}]
    assert columns["headers"] == [pairs, None, None]
    constant = {
        "topic": "t",
        "partition": 3,
        "timestampType": 0,
        "batch_base_offset": 50,
        "batch_position": 0,
        "segment_base_offset": 50,
        "batch_size": len(batch),
        "codec": ("none", "gzip", "snappy", "lz4", "zstd")[codec],
        "producer_id": 9,
        "producer_epoch": 2,
        "base_sequence": 77,
        "leader_epoch": 4,
        "is_transactional": True,
        "is_control": False,
    }
    assert {name: set(columns[name]) for name in constant} == {
        name: {value} for name, value in constant.items()
    }
    assert set(constant) | {"key", "value", "key_size", "value_size", "offset"} | {
        "timestamp_ms",
        "timestamp",
        "headers",
    } == set(ALL_COLUMNS)


def test_log_append_time(tmp_path: Path):
    batch = build_batch(ROWS, timestamp_type=1, log_append_time=BASE_MS + 5)
    path = write_segment(tmp_path, [bytes(batch)])
    split = Split(str(path), "t", 0, 0, 0, len(batch))
    for decoder in ("plain", "numpy"):
        options = ReadOptions(columns=("timestamp_ms", "timestampType"), decoder=decoder)
        (found,) = read_split(split, options)
        assert found.column("timestamp_ms").to_pylist() == [BASE_MS + 5] * 3
        assert found.column("timestampType").to_pylist() == [1] * 3
