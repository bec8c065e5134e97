"""Values that travel, options that are refused, and what a split wants."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from pykbroker.offline.columns import schema_of
from pykbroker.offline.faults import BadOption, CorruptSegment
from pykbroker.offline.split import (
    AbortedRange,
    Corruption,
    FaultReporter,
    ReadOptions,
    Selection,
    Split,
    corruption_table,
)
from pykbroker.protocol.record_batch import build_batch, read_header

SPLIT = Split("/x", "t", 1, 0, 0, 100, aborted=(AbortedRange(7, 5, 9),))


def header(**fields: Any):
    return read_header(build_batch([(None, None, 50, ())], **fields))


def test_old_batches_are_not_wanted():
    split = Split("/x", "t", 1, 0, 0, 100, start_timestamp_ms=51)
    assert not split.is_wanted(header())
    assert not SPLIT.is_wanted(header(is_control=True))
    assert Split("/x", "t", 1, 0, 0, 100, start_timestamp_ms=50).is_wanted(header())


def test_the_reporter():
    noted: list[Corruption] = []
    with pytest.raises(CorruptSegment, match="/x, position 12: broken"):
        FaultReporter(SPLIT, "FAILFAST", noted.append).report(12, 5, "broken")
    FaultReporter(SPLIT, "PERMISSIVE", noted.append).report(12, 5, "broken", header(), b"abc")
    FaultReporter(SPLIT, "DROPMALFORMED", noted.append).report(13, 6, "too", None, b"abc")
    FaultReporter(SPLIT, "DROPMALFORMED", None).report(13, 6, "too")
    first, second = corruption_table(noted).to_pylist()
    assert (first["position"], first["base_offset"], first["raw"]) == (12, 0, b"abc")
    assert (second["size_bytes"], second["base_offset"], second["raw"]) == (6, None, None)


@pytest.mark.parametrize(
    "options",
    [
        {"columns": ()},
        {"columns": ("key", "key")},
        {"columns": ("nope",)},
        {"decoder": "java"},
        {"mode": "failfast"},
        {"chunk_bytes": 0},
        {"max_decompressed_bytes": 0},
        {"max_decompressed_bytes": 1 << 31},
    ],
)
def test_options_that_do_not_exist(options: dict[str, object]):
    with pytest.raises(BadOption):
        ReadOptions(**options)  # type: ignore[arg-type]


def test_bounds_that_do_not_exist():
    with pytest.raises(BadOption, match="end_bound must be one of hw, leo"):
        Selection(("x",), end_bound="lso")


def test_errors_travel():
    fault = CorruptSegment("/x", 3, "broken")
    again = pickle.loads(pickle.dumps(fault))
    assert (again.path, again.position, again.reason) == ("/x", 3, "broken")
    assert str(again) == str(fault)


def test_the_schema_is_the_one_of_sparks_kafka_source():
    names = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")
    types = ["binary", "binary", "string", "int32", "int64", "timestamp[us, tz=UTC]", "int32"]
    assert list(map(str, schema_of(names).types)) == types
    headers = schema_of(["headers"]).field(0).type
    assert str(headers) == "list<element: struct<key: string, value: binary>>"
