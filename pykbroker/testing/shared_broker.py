"""One broker that many tests share, as one of them sees it: every name begins with its prefix."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Final

from pykbroker.testing.broker import Broker
from pykbroker.testing.topic_creation import Topics

_LONGEST: Final = 100  # of 249 characters that the name of a topic may have
_numbers = itertools.count(1)


class SharedBroker:
    """The broker of the whole run, with names that belong to one test.

    `topic` and `group` put the prefix in front of a name, so that two tests may use the same name
    and never meet.
    """

    def __init__(self, broker: Broker, test_name: str) -> None:
        self.broker: Final = broker
        self.prefix: Final = f"{_legal(test_name)}-{next(_numbers)}-"

    @property
    def bootstrap_servers(self) -> str:
        """`host:port`, for any client."""
        return self.broker.bootstrap_servers

    def topic(self, name: str) -> str:
        """The full name of this test's topic `name`."""
        return self.prefix + name

    def group(self, name: str) -> str:
        """The full id of this test's consumer group `name`."""
        return self.prefix + name

    def create_topics(self, topics: Topics) -> None:
        """Create this test's topics: names, or names with their numbers of partitions."""
        if isinstance(topics, Mapping):
            self.broker.create_topics({self.topic(name): topics[name] for name in topics})
        else:
            self.broker.create_topics([self.topic(name) for name in topics])

    def __repr__(self) -> str:
        return f"SharedBroker({self.bootstrap_servers}, prefix={self.prefix!r})"


def _legal(name: str) -> str:
    """`name` with only those characters that Kafka allows in names of topics."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:_LONGEST]
