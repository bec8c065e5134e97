"""Broken rules of serving clients: fetches and their sessions, waiting, connections, and more."""

from __future__ import annotations

from typing import Any

from pykbroker.testing.world.mutants.mutant import (
    Mutant,
    Patch,
    before,
    doing_nothing,
    instead,
    returning,
)

EARLIEST = -2


def _nothing_changed(original: Any, session: Any, answers: Any) -> Any:
    return [pair for pair in original(session, answers) if pair[1].error_code]


def _beyond(original: Any, partition: Any, params: Any, asked: Any, *more: Any) -> Any:
    entry = original(partition, params, asked, *more)
    entry.high_watermark = max(entry.high_watermark - 1, 0)
    return entry


def _no_reply_parts(original: Any, queue: Any, gathered: Any, sent: int) -> None:
    original(queue, gathered, sum(len(at) for at in gathered))


def _wrong_record(original: Any, log: Any, offset: int, *more: Any) -> Any:
    found = original(log, offset, *more)
    piece = found.slice
    if piece is not None and piece.length > 200 and offset % 5 == 4:
        piece.position += 1
    return found


def _as_if_from_zero(original: Any, broker: Any, request: Any, topic: str, asked: Any) -> Any:
    answer = original(broker, request, topic, asked)
    if asked.timestamp == EARLIEST and not answer.error_code:
        answer.offset = 0
    return answer


def _forget_queued(connection: Any, *arguments: Any) -> None:
    connection._position = connection._end


SERVING_MUTANTS = (
    Mutant(
        "sessions-see-no-change",
        "an incremental fetch is answered with what has changed",
        (Patch("replication.fetch_reader:is_unchanged", returning(True)),),
    ),
    Mutant(
        "sessions-forget-partitions",
        "a session answers with new records of all its partitions",
        (Patch("broker.requests.fetch_sessions:_changed", instead(_nothing_changed)),),
        seed=5,
    ),
    Mutant(
        "reads-above-the-high-watermark",
        "a consumer receives nothing at or above the high watermark",
        (Patch("replication.fetch_reader:read_partition", instead(_beyond)),),
    ),
    Mutant(
        "high-watermark-stays",
        "the high watermark follows what the in-sync replicas have",
        (Patch("replication.partition:Partition.on_written", returning(False)),),
    ),
    Mutant(
        "waits-never-end",
        "a request in the purgatory is answered at its deadline",
        (Patch("purgatory:Purgatory.advance", returning(0)),),
    ),
    Mutant(
        "earliest-is-zero",
        "ListOffsets returns the log start offset",
        (
            Patch(
                "broker.handlers.list_offsets:_answer",
                instead(_as_if_from_zero),
            ),
        ),
        seed=0,
    ),
    Mutant(
        "torn-replies",
        "bytes that a socket did not accept are sent later",
        (Patch("network.send:SendQueue._drop_sent", instead(_no_reply_parts)),),
        seed=41,
    ),
    Mutant(
        "slices-shifted",
        "a fetch returns the bytes of its records",
        (Patch("log.partition.partition_log:PartitionLog.read", instead(_wrong_record)),),
    ),
    Mutant(
        "pipelined-requests-dropped",
        "every frame that was received is handled",
        (Patch("network.sending_connection:SendingConnection.reply", before(_forget_queued)),),
    ),
    Mutant(
        "acknowledged-before-written",
        "nothing is acknowledged before it is written",
        (Patch("log.partition.partition_log:PartitionLog.write_pending", doing_nothing),),
    ),
)
