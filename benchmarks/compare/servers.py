"""The two servers of a comparison, with one face."""

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
    """One running broker and a way to make more of its kind."""

    name: str
    broker: Any
    make: Callable[[], Any]
    _topics: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def address(self) -> str:
        """`127.0.0.1:PORT`."""
        return str(self.broker.bootstrap_servers)

    def rss_mb(self) -> float:
        """Resident memory of the server's process, in MB."""
        status = Path(f"/proc/{self.broker.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024

    def cpu_seconds(self) -> float:
        """Processor time that the server's process has used, in user and in system mode."""
        fields = Path(f"/proc/{self.broker.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def client_config(self) -> dict[str, Any]:
        """For any librdkafka client; silent about brokers that restart."""
        return {"bootstrap.servers": self.address, "log_level": 0}

    def name_of_topic(self) -> str:
        """Another one each time."""
        return f"bench-{next(self._topics)}"

    def new_topic(self, partitions: int = 1) -> str:
        """A fresh topic, ready to be written to."""
        topic = self.name_of_topic()
        admin = AdminClient(self.client_config())
        admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(30)
        while not admin.list_topics(topic, timeout=10).topics[topic].partitions:
            time.sleep(0.01)
        return topic

    def delete_topic(self, topic: str) -> None:
        """Give the disk its space back."""
        admin = AdminClient(self.client_config())
        admin.delete_topics([topic])[topic].result(30)


@dataclass(frozen=True)
class Servers:
    """The pair."""

    ours: Server
    apache: Server


@contextmanager
def both_servers() -> Iterator[Servers]:
    """Both servers, up and empty; the one that is not measured idles."""
    make_apache = partial(ApacheBroker, jvm=SHIPPED_JVM)
    with Broker() as ours, make_apache() as apache:
        yield Servers(
            Server("pykbroker", ours, Broker),
            Server("Apache Kafka", apache, make_apache),
        )
