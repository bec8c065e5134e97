"""The two servers of a comparison, behind one interface."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.testing import Broker
from tests.harness.apache import SHIPPED_JVM, ApacheBroker


@dataclass
class Server:
    """One running broker, and how to start another of its kind."""

    name: str
    broker: Any
    make: Callable[[], Any]
    _topics: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def address(self) -> str:
        """`127.0.0.1:PORT`."""
        return str(self.broker.bootstrap_servers)

    def rss_mb(self) -> float:
        """Return the resident memory of the server's process, in MB."""
        status = Path(f"/proc/{self.broker.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024

    def cpu_seconds(self) -> float:
        """Return the processor time of the server's process, in user and in system mode."""
        fields = Path(f"/proc/{self.broker.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def client_config(self) -> dict[str, Any]:
        """Return the configuration of any librdkafka client; does not log broker restarts."""
        return {"bootstrap.servers": self.address, "log_level": 0}

    def name_of_topic(self) -> str:
        """Return a new name each time."""
        return f"bench-{next(self._topics)}"

    def new_topic(self, partitions: int = 1) -> str:
        """Create a topic that is ready to be written to."""
        topic = self.name_of_topic()
        admin = AdminClient(self.client_config())
        admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(30)
        while not admin.list_topics(topic, timeout=10).topics[topic].partitions:
            time.sleep(0.01)
        return topic

    def delete_topic(self, topic: str) -> None:
        """Delete the topic to free disk space."""
        admin = AdminClient(self.client_config())
        admin.delete_topics([topic])[topic].result(30)


@dataclass(frozen=True)
class Servers:
    """The pair."""

    ours: Server
    apache: Server


@contextmanager
def both_servers() -> Iterator[Servers]:
    """Yield both servers, running and empty; the one that is not measured is idle."""
    make_apache = partial(ApacheBroker, jvm=SHIPPED_JVM)
    with Broker() as ours, make_apache() as apache:
        yield Servers(
            Server("pykbroker", ours, Broker),
            Server("Apache Kafka", apache, make_apache),
        )
