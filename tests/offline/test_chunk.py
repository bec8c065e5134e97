"""Batches of a chunk, by index."""

from __future__ import annotations

from pykbroker.offline.batch_headers import walk
from pykbroker.offline.chunk import Chunk
from tests.offline.samples import simple_batches


def test_batches_and_their_places():
    written = [*simple_batches(3), *simple_batches(2, base_offset=30, codec=3)]
    buffer = bytearray(b"".join(written) + b"half a batch")
    chunk = Chunk(buffer, walk(buffer, len(buffer))[0], 7000)
    assert [bytes(chunk.batch(index)) for index in range(5)] == list(map(bytes, written))
    assert chunk.sizes.tolist() == list(map(len, written))
    assert chunk.codecs.tolist() == [0, 0, 0, 3, 3]
    assert (chunk.at, chunk.positions[1]) == (7000, len(written[0]))
