"""pykbroker.log.validation.record_runs: a run is what it says, and ends where the shape changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykbroker.log.validation.record_runs import equal_run
from pykbroker.protocol.record import encode_record


def payload_of(records: list[bytes]) -> tuple[bytes, list[int]]:
    starts = [0]
    for record in records:
        starts.append(starts[-1] + len(record))
    return b"".join(records), starts


@pytest.mark.parametrize("first", [0, 1, 62, 64, 100, 8190, 8192, 8193, 16383, 16384, 20_000])
def test_a_run_ends_where_offset_deltas_change_their_width(first: int) -> None:
    records = [encode_record(first + i, 5, b"key", b"v" * 70) for i in range(300)]
    payload, starts = payload_of(records)
    taken, largest = equal_run(payload, 0, starts[1], first + 1, 299)
    bounds = [bound for bound in (64, 8192, 16384) if first + 1 < bound]
    if first + 1 in (64, 8192):
        assert (taken, largest) == (0, -1)  # the template has another width
    else:
        assert taken == min([299] + [bound - first - 1 for bound in bounds])
        assert largest == (10 if taken else -1)


@given(st.lists(st.integers(-3, 20_000), min_size=2, max_size=40))
def test_timestamp_deltas(deltas: list[int]) -> None:
    payload, starts = payload_of(
        [encode_record(i, delta, None, b"v") for i, delta in enumerate(deltas)]
    )
    taken, largest = equal_run(payload, 0, starts[1], 1, len(deltas) - 1)
    width = len(encode_record(0, deltas[0], None, b"v"))
    expected = []
    for delta in deltas[1:]:
        if delta < 0 or len(encode_record(0, delta, None, b"v")) != width:
            break
        expected.append(delta)
    assert taken == len(expected)
    assert largest == (max(expected) * 2 if expected else -1)


@pytest.mark.parametrize(
    "odd",
    [
        encode_record(10, 5, b"key", b"v" * 71),
        encode_record(10, 5, b"ke", b"v" * 71),
        encode_record(10, 5, None, b"v" * 73),
        encode_record(10, 5, b"key", b"v" * 66, [("a", b"b")]),
    ],
)
def test_a_run_ends_at_another_shape(odd: bytes) -> None:
    records = [encode_record(i, 5, b"key", b"v" * 70) for i in range(20)]
    records[10] = odd
    payload, starts = payload_of(records)
    assert equal_run(payload, 0, starts[1], 1, 19) == (9, 10)


def test_no_run() -> None:
    headers = [encode_record(i, 5, b"key", b"v", [("a", b"b")]) for i in range(20)]
    payload, starts = payload_of(headers)
    assert equal_run(payload, 0, starts[1], 1, 19) == (0, -1)
    gaps = [encode_record(2 * i, 5, b"key", b"v") for i in range(20)]
    payload, starts = payload_of(gaps)
    assert equal_run(payload, 0, starts[1], 1, 19) == (0, -1)
    alone = encode_record(0, 5, b"key", b"v")
    assert equal_run(alone, 0, len(alone), 1, 0) == (0, -1)
