"""The driver's requests to a broker before and after the work, by kafka-python's admin client.

check_reachable                                  BrokerRefusal in one line if none responds
partition_counts, create_topics, delete_topics   the same, and for what the broker rejects
"""

from __future__ import annotations

import ast
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

_CONNECT_SECONDS: Final = 5
#: What the broker says, within kafka-python's account of request and response.
_MESSAGE: Final = re.compile(r"""error_message=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")


class BrokerRefusal(OSError):
    """No broker responds, or it rejects the request."""


def check_reachable(bootstrap: str) -> None:
    """Raise BrokerRefusal if no server accepts a connection, each within five seconds; the clients
    would retry for half a minute.
    """
    faults = []
    for server in bootstrap.split(","):
        host, _, port = server.strip().rpartition(":")
        if not host or not port.isdecimal():
            faults.append(f"{server.strip()!r} is not HOST:PORT")
            continue
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
        except (OSError, OverflowError) as fault:  # OverflowError: a port above 65535
            faults.append(str(fault))
        else:
            return
    raise BrokerRefusal(f"no broker answers at {bootstrap}: {faults[0]}")


@contextmanager
def _admin(bootstrap: str) -> Iterator[Any]:
    """Yield an admin client; errors of kafka-python become a BrokerRefusal in one line."""
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
        raise BrokerRefusal(f"the broker at {bootstrap} refuses: {_sentence(fault)}") from None
    finally:
        admin.close()


def _sentence(fault: Exception) -> str:
    """Return the broker's own message, if kafka-python prints both messages in full; else all of
    the error.
    """
    found = _MESSAGE.search(str(fault))
    return str(ast.literal_eval(found[1])) if found is not None else str(fault)


def partition_counts(bootstrap: str) -> dict[str, int]:
    """Return the number of partitions of every topic."""
    with _admin(bootstrap) as admin:
        return {each["name"]: len(each["partitions"]) for each in admin.describe_topics()}


def create_topics(
    bootstrap: str, partitions: Mapping[str, int], configs: Mapping[str, str]
) -> None:
    """Create topics, and wait until they can be written to."""
    from kafka.admin import NewTopic

    new = [
        NewTopic(name, num_partitions=count, replication_factor=-1, topic_configs=dict(configs))
        for name, count in partitions.items()
    ]
    with _admin(bootstrap) as admin:
        admin.create_topics(new, wait_for_metadata=True)


def delete_topics(bootstrap: str, names: Sequence[str]) -> None:
    """Delete topics."""
    with _admin(bootstrap) as admin:
        admin.delete_topics(list(names))
