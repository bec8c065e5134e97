"""One broker that many tests share, as seen by one of them: its names begin with a prefix."""

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
    """A broker that tests share, with names that belong to one of them.

    `topic` and `group` add the prefix to a name, so that two tests can use the same name without
    interfering.
    """

    def __init__(self, broker: Broker, test_name: str) -> None:
        self.broker: Final = broker
        self.prefix: Final = f"{_legal(test_name)}-{next(_numbers)}-"

    @property
    def bootstrap_servers(self) -> str:
        """`host:port`, for any client."""
        return self.broker.bootstrap_servers

    def topic(self, name: str) -> str:
        """Return the full name of this test's topic `name`."""
        return self.prefix + name

    def group(self, name: str) -> str:
        """Return the full id of this test's consumer group `name`."""
        return self.prefix + name

    def create_topics(self, topics: Topics) -> None:
        """Create this test's topics, which get the prefix; see `Broker.create_topics`."""
        if isinstance(topics, Mapping):
            self.broker.create_topics({self.topic(name): topics[name] for name in topics})
        else:
            self.broker.create_topics([self.topic(name) for name in topics])

    def __repr__(self) -> str:
        return f"SharedBroker({self.bootstrap_servers}, prefix={self.prefix!r})"


def _legal(name: str) -> str:
    """Return the start of `name`, with `-` for what Kafka does not allow in topic names."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:_LONGEST]
