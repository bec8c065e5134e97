"""Commits of groups whose coordinator may still be on its way."""

from __future__ import annotations

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from tests.harness.waiting import wait_for

# A node that has just made __consumer_offsets, or was just started, does not coordinate at once.
PASSING = (
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError._WAIT_COORD,
    KafkaError._TIMED_OUT,
)


def commit_offsets(servers: str, group: str, offsets: list[TopicPartition]) -> None:
    """Commit as no member of the group."""

    def committed() -> bool:
        consumer = Consumer({"bootstrap.servers": servers, "group.id": group})
        try:
            done = consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as refused:
            if refused.args[0].code() not in PASSING:
                raise
            return False
        finally:
            consumer.close()
        errors = [at.error for at in done or () if at.error is not None]
        assert all(error.code() in PASSING for error in errors), errors
        return not errors

    wait_for(committed, "the coordinator")
