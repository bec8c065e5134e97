"""Broken rules of moves between the log directories of a node."""

from __future__ import annotations

from typing import Any

from pykbroker.testing.world.mutants.mutant import Mutant, Patch, doing_nothing, instead


async def _too_early(original: Any, mover: Any, topic_partition: Any) -> None:
    """One read of the log is taken for all of it."""
    source = mover._manager.get(topic_partition)
    future = mover._manager.future(topic_partition)
    await mover._copy_chunk(source, future)
    mover._promote(topic_partition, source, future)


def _only_forward(original: Any, source: Any, future: Any, now_ms: int) -> None:
    if future.log_end_offset <= source.log_end_offset:
        original(source, future, now_ms)


def _one_way(original: Any, log: Any, aside: str, copy: Any) -> None:
    log.move_to(f"{log.log_directory}/{aside}")
    copy.move_to(f"{copy.log_directory}/{copy.topic_partition}")


def _as_if_synced(original: Any, moves: Any, topic_partition: Any) -> Any:
    future = moves._copies[topic_partition]
    future.mark_flushed(future.log_end_offset)
    return original(moves, topic_partition)


async def _no_sync(original: Any, mover: Any, future: Any) -> None:
    """The copy is complete, and not synced."""


MOVE_MUTANTS = (
    Mutant(
        "truncation-not-carried-over",
        "a log that is truncated has its copy truncated",
        (
            Patch("log.directories.log_mover_driver:cut_what_differs", doing_nothing),
            Patch("log.directories.log_mover_driver:align", instead(_only_forward)),
        ),
        seed=119,
    ),
    Mutant(
        "copy-too-early",
        "a copy takes the place of a log once it has caught up",
        (Patch("log.directories.log_mover_driver:LogMover._copy", instead(_too_early)),),
        seed=1,
    ),
    Mutant(
        "copy-not-synced",
        "a copy that takes the place of a log survives a power failure",
        (
            Patch("log.directories.log_mover_driver:LogMover._sync", instead(_no_sync)),
            Patch("log.directories.log_moves:LogMoves.promote", instead(_as_if_synced)),
        ),
        seed=27,
    ),
    Mutant(
        "log-stays-aside",
        "a log has its name again if its copy cannot take its place",
        (Patch("log.directories.log_moves:put_in_place", instead(_one_way)),),
        seed=29,
    ),
    Mutant(
        "moves-not-cancelled",
        "a request for another directory ends a move",
        (Patch("log.directories.log_mover_driver:LogMover.cancel", doing_nothing),),
        seed=13,
    ),
    Mutant(
        "directories-not-reported",
        "the controller learns in which directory a replica is",
        (Patch("replication.replica_manager:ReplicaManager._tell_placed", doing_nothing),),
        seed=1,
    ),
)
