"""Reads from the log the earlier batches of a producer whose state comes from a snapshot.

A snapshot holds the last batch of each producer, but a client may repeat any of its last five. If
an earlier one is refused as out of order, as Kafka does, a client may begin a new epoch and store
it a second time.

In: a producer's state and its log. Out: the state with up to five batches.
Invariants: at most about MOST_HEADERS headers and MOST_BYTES of the log are read, because this
happens on the event loop. The batches are one sequence without a gap: what is before a gap may be
from an earlier life of the producer, which an expired one may begin anew in the same epoch.
"""

from __future__ import annotations

import contextlib

from pykbroker.errors import KafkaError
from pykbroker.log.partition.local_log import LocalLog
from pykbroker.log.producers.producer_entry import (
    KNOWN_BATCHES,
    BatchMetadata,
    ProducerStateEntry,
)
from pykbroker.protocol.record_batch import (
    CONTROL_BIT,
    LOG_OVERHEAD,
    BatchHeader,
    increment_sequence,
)

MOST_HEADERS = 5_000
MOST_BYTES = 16 << 20
FIRST_WINDOW = 500
"""In offsets; each earlier window is four times as long."""


def with_earlier_batches(local: LocalLog, entry: ProducerStateEntry) -> ProducerStateEntry:
    """Return the state with up to five batches: its own, and those before them without a gap that
    the log still has, as far as the limits of this module reach.

    The producer has a batch. What damage hides stays unknown. Raises LogDirFailure.
    """
    batches = entry.batches
    end = batches[0].first_offset
    window = FIRST_WINDOW
    headers_left, bytes_left = MOST_HEADERS, MOST_BYTES
    with contextlib.suppress(KafkaError):
        while end > local.log_start_offset and len(batches) < KNOWN_BATCHES:
            start = max(local.log_start_offset, end - window)
            headers = local.guarded(
                "reading", _headers, local, start, end, headers_left, bytes_left
            )
            headers_left -= len(headers)
            bytes_left -= _size_of(headers)
            if headers_left <= 0 or bytes_left <= 0:
                break  # what is between these batches and the known ones was not looked at
            found, is_whole = _batches_of(entry, headers, batches[0].first_sequence)
            batches = [*found, *batches][-KNOWN_BATCHES:]
            if not is_whole:
                break
            end = min(start, headers[0].base_offset) if headers else start
            window *= 4
    return ProducerStateEntry(
        entry.producer_id,
        entry.producer_epoch,
        entry.coordinator_epoch,
        entry.last_timestamp,
        entry.current_txn_first_offset,
        batches,
    )


def _headers(
    local: LocalLog, start: int, end: int, most: int, most_bytes: int
) -> list[BatchHeader]:
    """Return the headers of the batches that have offsets of [start, end), up to `most`, or up to
    the batch with which `most_bytes` are reached.
    """
    headers: list[BatchHeader] = []
    size = 0
    for segment in local.segments.within(start, end):
        position = segment.translate(start)
        if position is None:
            continue
        for _, header in segment.headers_from(position):
            if header.base_offset >= end or len(headers) == most or size >= most_bytes:
                return headers
            headers.append(header)
            size += LOG_OVERHEAD + header.batch_length
    return headers


def _size_of(headers: list[BatchHeader]) -> int:
    return sum(LOG_OVERHEAD + header.batch_length for header in headers)


def _batches_of(
    entry: ProducerStateEntry, headers: list[BatchHeader], next_sequence: int
) -> tuple[list[BatchMetadata], bool]:
    """Return the batches of the producer in its epoch that lead up to `next_sequence` without a
    gap, and whether others may come before them.
    """
    found: list[BatchMetadata] = []
    for header in reversed(headers):
        if header.producer_id != entry.producer_id or header.attributes & CONTROL_BIT:
            continue
        if (
            header.producer_epoch != entry.producer_epoch
            or increment_sequence(header.last_sequence, 1) != next_sequence
        ):
            return found[::-1], False
        next_sequence = header.base_sequence
        delta = header.last_offset_delta
        found.append(
            BatchMetadata(header.last_sequence, header.last_offset, delta, header.max_timestamp)
        )
    return found[::-1], True
