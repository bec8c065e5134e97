"""A stock administrator that creates, grows, alters and deletes topics, one after the other."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from tests.chaos.record_load import QUICK
from tests.chaos.topic_history import TopicHistory

PATIENCE_S = 300.0
REQUEST_S = 4.0
PAUSE_S = 0.15
MOST_TOPICS = 12


class Administrator:
    """Works in a thread of its own until it is stopped; the request of that moment is finished."""

    def __init__(self, servers: str, name: str, history: TopicHistory, seed: int) -> None:
        self._name = name
        self._history = history
        self._dice = random.Random(seed)
        self._stop = threading.Event()
        settings = QUICK | {"bootstrap.servers": servers, "client.id": name}
        self._admin = AdminClient(settings)
        self._mine: list[str] = []
        self._made = 0
        self._value = 1_000_000
        self._thread = threading.Thread(target=self._run, name=name)
        self._thread.start()

    def stop(self) -> None:
        """Begin nothing more."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(PAUSE_S):
            if not self._mine:
                self._create()
                continue
            works = [self._create, self._alter, self._alter, self._grow, self._delete]
            if len(self._mine) >= MOST_TOPICS:
                works = [self._delete]
            self._dice.choice(works)()

    # ---------------------------------------------------------------- requests

    def _create(self) -> None:
        name = f"{self._name}-{self._made}"
        self._made += 1
        count = self._dice.randint(1, 4)
        topics = [NewTopic(name, count, self._dice.choice((1, 2, 3)))]
        done = self._ask(
            lambda: self._admin.create_topics(topics, request_timeout=REQUEST_S)[name],
            f"create {name}",
            KafkaError.TOPIC_ALREADY_EXISTS,
        )
        if done is not None:
            self._history.created(name, count, done)
            self._mine.append(name)

    def _grow(self) -> None:
        name = self._dice.choice(self._mine)
        count = self._history.topics[name].partitions + 1
        growth = [NewPartitions(name, count)]
        done = self._ask(
            lambda: self._admin.create_partitions(growth, request_timeout=REQUEST_S)[name],
            f"grow {name}",
            KafkaError.INVALID_PARTITIONS,
        )
        if done is not None:
            self._history.grown(name, count, done)

    def _alter(self) -> None:
        name = self._dice.choice(self._mine)
        self._value += 1
        value = str(self._value)
        entry = ConfigEntry("retention.ms", value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=[entry])

        def ask() -> Future[Any]:
            answers = self._admin.incremental_alter_configs([resource], request_timeout=REQUEST_S)
            future: Future[Any] = answers[resource]
            return future

        done = self._ask(ask, f"alter {name}", None)
        if done is not None:
            self._history.altered(name, value, done)

    def _delete(self) -> None:
        name = self._dice.choice(self._mine)
        done = self._ask(
            lambda: self._admin.delete_topics([name], request_timeout=REQUEST_S)[name],
            f"delete {name}",
            KafkaError.UNKNOWN_TOPIC_OR_PART,
        )
        if done is not None:
            self._mine.remove(name)
            self._history.deleted(name, done)

    def _ask(self, ask: Callable[[], Future[Any]], what: str, done_code: int | None) -> bool | None:
        """Ask until it is done; whether it may have been done more than once.

        `done_code` is the error that says so. None, and a fault, when the answer makes no sense.
        """
        until = time.monotonic() + PATIENCE_S
        may_be_twice = False
        while time.monotonic() < until:
            try:
                ask().result(60)
                return may_be_twice
            except KafkaException as refused:
                error: KafkaError = refused.args[0]
            if error.code() == done_code:
                return True  # also at the first request: brokers and the client repeat it, too
            if error.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.TOPIC_ALREADY_EXISTS):
                self._history.faults.append(f"{what}: {error}")
                return None
            may_be_twice = True
            time.sleep(0.2)
        self._history.faults.append(f"{what}: not completed within {PATIENCE_S} s")
        return None
