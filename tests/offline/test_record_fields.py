"""Fields of the records of some batches at once."""

from __future__ import annotations

import numpy as np
import pytest

from pykbroker.offline.batch_headers import table_of
from pykbroker.offline.record_fields import Span, decode_fields
from pykbroker.offline.varints import PADDING_BYTES, Doubt
from pykbroker.protocol.record_batch import build_batch


def span_of(*batches: bytes) -> Span:
    area = bytearray(b"".join(batches)) + bytes(PADDING_BYTES)
    ends = np.cumsum([len(batch) for batch in batches])
    starts = ends - [len(batch) - 61 for batch in batches]
    return Span(area, starts, ends, table_of(b"".join(batch[:61] for batch in batches)))


def batch(count: int, **fields: object) -> bytes:
    rows = [(b"k%d" % n, b"v" * n, 100 + n, ()) for n in range(count)]
    return bytes(build_batch(rows, **fields))  # type: ignore[arg-type]


def test_dense_batches():
    span = span_of(batch(3), batch(70))
    fields = decode_fields(span, times=True, fields=True)
    assert span.is_dense()
    assert fields.offset_deltas.tolist() == [0, 1, 2, *range(70)]
    assert fields.timestamp_deltas.tolist() == [0, 1, 2, *range(70)]
    lengths = fields.value_ends - fields.value_starts
    assert lengths.tolist() == [0, 1, 2, *range(70)]
    cut = span.area[fields.key_starts[5] : fields.key_ends[5]]
    assert bytes(cut) == b"k2"


def test_batches_with_gaps_and_without_records():
    gaps = batch(3, offset_deltas=[1, 4, 300], last_offset_delta=301)
    empty = batch(0, offset_deltas=[], last_offset_delta=5)
    span = span_of(gaps, empty, batch(2))
    fields = decode_fields(span, times=False, fields=False)
    assert not span.is_dense()
    assert fields.offset_deltas.tolist() == [1, 4, 300, 0, 1]
    nothing = decode_fields(span_of(empty), times=True, fields=True)
    assert nothing.offset_deltas.size == nothing.key_starts.size == 0


def test_only_headers():
    span = span_of(batch(2), batch(3))
    unread = Span(bytearray(), span.starts, span.starts, span.table)
    fields = decode_fields(unread, times=False, fields=False)
    assert fields.offset_deltas.tolist() == [0, 1, 0, 1, 2]


@pytest.mark.parametrize("deltas", [[0, 2, 1], [1, 1, 2], [0, 1, 9], [-1, 0, 1]])
def test_offsets_out_of_order_are_doubted(deltas: list[int]):
    with pytest.raises(Doubt):
        decode_fields(
            span_of(batch(2), batch(3, offset_deltas=deltas, last_offset_delta=5)),
            times=False,
            fields=False,
        )
