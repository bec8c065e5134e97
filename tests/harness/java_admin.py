"""Apache's AdminClient in one process of its own, called line by line: see AdminCalls.java."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from tests.harness.apache import java_command

SOURCE = Path(__file__).parent.parent / "interop" / "java" / "AdminCalls.java"
UNKNOWN = "error UnknownTopicOrPartitionException"


class Described(NamedTuple):
    """A partition as DescribeTopicPartitions has it; `leader` is None while it has none."""

    leader: int | None
    replicas: list[int]
    isr: list[int]
    elr: list[int]
    last_known_elr: list[int]


class JavaAdmin:
    """A context manager; `call` raises AssertionError with Apache's words when a call fails."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._process = subprocess.Popen(
            java_command(str(SOURCE), bootstrap_servers),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def call(self, *words: object) -> str:
        """What the answer holds besides `ok`."""
        told = self.ask(*words)
        assert told.startswith("ok"), f"{words}: {told}"
        return told.removeprefix("ok").strip()

    def ask(self, *words: object) -> str:
        """The whole answer, also of a call that fails."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(" ".join(map(str, words)) + "\n")
        stdin.flush()
        return stdout.readline().rstrip("\n")

    def describe(self, topic: str) -> list[Described]:
        """The topic's partitions, in their order; none while the broker that is asked does not see
        the topic."""
        told = self.ask("describe", topic)
        if told.startswith(UNKNOWN):
            return []
        assert told.startswith("ok"), f"describe {topic}: {told}"
        described = []
        for text in told.removeprefix("ok").split():
            leader, *lists = text.split(";")
            described.append(
                Described(None if leader == "none" else int(leader), *map(_numbers, lists))
            )
        return described


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number]
