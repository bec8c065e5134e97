"""What the driver asks a broker before the work, and after it: by kafka-python's admin client.

partition_counts, create_topics, delete_topics   BrokerRefusal in one line if it does not answer
check_clients                                    whether the workers' clients take their settings
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from spark_jobs.clients import is_confluent, sender
from spark_jobs.consumers import confluent_consumer, kafka_python_consumer

_CONNECT_SECONDS: Final = 5


class BrokerRefusal(OSError):
    """No broker answers, or it refuses."""


def check_reachable(bootstrap: str) -> None:
    """The clients would try for half a minute."""
    faults = []
    for server in bootstrap.split(","):
        host, _, port = server.strip().rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
        except (OSError, ValueError) as fault:
            faults.append(str(fault))
        else:
            return
    raise BrokerRefusal(f"no broker answers at {bootstrap}: {faults[0]}")


@contextmanager
def _admin(bootstrap: str) -> Iterator[Any]:
    """An admin client; BrokerRefusal in one line in place of whatever kafka-python raises."""
    from kafka import KafkaAdminClient
    from kafka.errors import KafkaError

    check_reachable(bootstrap)
    try:
        admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    except KafkaError as fault:
        raise BrokerRefusal(f"no broker answers at {bootstrap}: {fault}") from None
    try:
        yield admin
    except KafkaError as fault:
        raise BrokerRefusal(f"the broker at {bootstrap} refuses: {fault}") from None
    finally:
        admin.close()


def partition_counts(bootstrap: str) -> dict[str, int]:
    """Partitions of every topic."""
    with _admin(bootstrap) as admin:
        return {each["name"]: len(each["partitions"]) for each in admin.describe_topics()}


def create_topics(
    bootstrap: str, partitions: Mapping[str, int], configs: Mapping[str, str]
) -> None:
    """Make the topics that are not there, and wait until they can be written to."""
    from kafka.admin import NewTopic

    new = [
        NewTopic(name, num_partitions=count, replication_factor=-1, topic_configs=dict(configs))
        for name, count in partitions.items()
    ]
    with _admin(bootstrap) as admin:
        admin.create_topics(new)


def delete_topics(bootstrap: str, names: Sequence[str]) -> None:
    """Delete topics."""
    with _admin(bootstrap) as admin:
        admin.delete_topics(list(names))


# -- the clients of the workers ------------------------------------------------------------------


class ClientRefusal(OSError):
    """A client does not take its settings, or is not there."""


def check_clients(
    bootstrap: str,
    client: str,
    producer: Mapping[str, str],
    consumer: Mapping[str, str] | None = None,
) -> None:
    """ClientRefusal, or BrokerRefusal, in the driver: before the work, not in each worker."""
    check_reachable(bootstrap)
    with _refused_as("producer"):
        sender(bootstrap, producer, client).flush()
    if consumer is not None:
        made = confluent_consumer if is_confluent(client) else kafka_python_consumer
        with _refused_as("consumer"):
            made(bootstrap, consumer).close()


@contextmanager
def _refused_as(what: str) -> Iterator[None]:
    try:
        yield
    except Exception as fault:  # KafkaException, AssertionError, ValueError, ImportError ...
        told = fault.args[0] if fault.args else ""
        reason = told.str() if hasattr(told, "str") else str(told)
        raise ClientRefusal(f"{what}: {reason or type(fault).__name__}") from None
