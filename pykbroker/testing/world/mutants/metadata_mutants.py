"""Broken rules of metadata, of its log, and of what a node does with it."""

from __future__ import annotations

from typing import Any

from pykbroker.testing.world.mutants.mutant import (
    Mutant,
    Patch,
    doing_nothing,
    instead,
    returning,
)


def _without_sync(original: Any, driver: Any) -> None:
    """Committed as soon as it is written."""
    job = driver.log.prepare_flush()
    driver._step_appended(driver.log.end)
    if job is not None:
        driver._flushed(job)


def _first_block_again(original: Any, state: Any, request: Any) -> Any:
    decision = original(state, request)
    decision.reply.producer_id_start = 0
    return decision


def _one_partition_less(original: Any, delta: Any, record: Any) -> None:
    if record.partition_id == 0 or record.partition_id % 2:
        original(delta, record)


def _configs_of_topics(original: Any, delta: Any, record: Any) -> None:
    if record.name != "segment.ms":
        original(delta, record)


def _without_topics(original: Any, image: Any) -> Any:
    for record in original(image):
        if type(record.message).__name__ not in ("TopicRecord", "PartitionRecord"):
            yield record


def _grown_in_place(original: Any, hosting: Any, topic: Any, number: int, *more: Any) -> Any:
    return None if number == 1 else original(hosting, topic, number, *more)


def _without_records(original: Any, *arguments: Any) -> Any:
    decision = original(*arguments)
    decision.records.clear()
    return decision


METADATA_MUTANTS = (
    Mutant(
        "metadata-not-synced",
        "metadata is on disk before it is committed",
        (Patch("kraft.raft.raft_driver:RaftDriver._start_flush", instead(_without_sync)),),
        seed=3,
    ),
    Mutant(
        "same-block-of-ids",
        "a producer id is assigned only once",
        (
            Patch(
                "kraft.controller.producer_ids:allocate_producer_ids",
                instead(_first_block_again),
            ),
        ),
        seed=1,
    ),
    Mutant(
        "partitions-missing",
        "a topic has all its partitions",
        (
            Patch(
                "kraft.delta:MetadataDelta._HANDLERS[PartitionRecord]", instead(_one_partition_less)
            ),
        ),
        seed=2,
    ),
    Mutant(
        "configs-ignored",
        "a configuration value that was set stays set",
        (Patch("kraft.delta:MetadataDelta._HANDLERS[ConfigRecord]", instead(_configs_of_topics)),),
    ),
    Mutant(
        "snapshot-without-topics",
        "a metadata snapshot is complete",
        (Patch("kraft.image:MetadataImage.records", instead(_without_topics)),),
    ),
    Mutant(
        "deleted-partitions-stay",
        "a node drops the partitions of a deleted topic",
        (Patch("replication.hosting:Hosting._drop_topic", returning(())),),
    ),
    Mutant(
        "partition-not-hosted",
        "a node hosts every partition that has a replica on it",
        (Patch("replication.hosting:Hosting._host", instead(_grown_in_place)),),
    ),
    Mutant(
        "publisher-skips-replicas",
        "every publisher is notified of a change",
        (Patch("broker.metadata.publisher_steps:ReplicaManagerStep.apply", doing_nothing),),
    ),
    Mutant(
        "deletion-answered-only",
        "a topic whose deletion was acknowledged no longer exists",
        (Patch("kraft.controller.topic_deletion:delete_topics", instead(_without_records)),),
        seed=1,
    ),
)
