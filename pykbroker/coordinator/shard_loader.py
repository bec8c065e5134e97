"""Loads a shard: reads its partition's log from the start and replays its records.

Markers end transactions; the records of a transaction carry its producer id. Records without a key
or of an unknown type are skipped. The log may hold millions of records: `load` is a generator, and
its driver stops between two steps when its slice is used up.
A batch that fails its checksum stops the load, because a coordinator with wrong state is worse than
none.
Source: Kafka's `CoordinatorLoaderImpl.java`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pykbroker.coordinator.coordinator_log import CoordinatorLog
from pykbroker.coordinator.hosted_shard import Shard
from pykbroker.coordinator.record_codecs import RecordCodec
from pykbroker.protocol.control_records import ABORT, COMMIT, decode_marker, decode_type
from pykbroker.protocol.record import CorruptBatch
from pykbroker.protocol.stored_batch import has_right_crc, iter_stored, stored_records

STEP_RECORDS = 100


def load(
    log: CoordinatorLog, partition: int, shard: Shard, codec: RecordCodec, chunk_bytes: int
) -> Iterator[bool]:
    """Replay the log into `shard`, also what is not committed yet; yields every `STEP_RECORDS`
    records and every chunk. Raises CorruptBatch, and what reading, decoding or replaying raises.

    It yields True if the rest is queued and will be written at the end of a round: resume then.
    """
    bounds = log.bounds(partition)
    offset = bounds.start
    replayed = 0
    while offset < bounds.end:
        chunk = log.read(partition, offset, chunk_bytes)
        if not chunk:
            if offset < bounds.written:
                return  # compaction removed the last batches
            yield True
            bounds = log.bounds(partition)
            continue
        before = offset
        for header, batch in iter_stored(chunk, partial_tail=True):
            if header.next_offset <= offset:
                continue
            if not has_right_crc(batch, header):
                raise CorruptBatch(f"the batch at offset {header.base_offset} fails its checksum")
            for record in stored_records(batch, header):
                if record.offset < offset:
                    continue
                if header.is_control:
                    if decode_type(record.key) in (ABORT, COMMIT):
                        marker = decode_marker(record.key, record.value)
                        shard.replay_end_of_transaction(header.producer_id, marker.is_commit)
                elif record.key is not None:
                    producer_id = header.producer_id if header.is_transactional else -1
                    decoded = codec.decode(record.key, record.value)
                    if decoded is not None:
                        shard.replay(decoded, record.offset, producer_id)
                replayed += 1
                if replayed % STEP_RECORDS == 0:
                    yield False
            offset = header.next_offset
        if offset == before:
            raise CorruptBatch(f"no batch in the log continues at offset {offset}")
        yield False
        bounds = log.bounds(partition)
