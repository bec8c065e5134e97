"""Transactional producers in processes of their own: kafkajs and the Java client.

They have the interface of `transaction_clients`. Their `Fenced` holds the client's name of the
error: its type in kafkajs, its class in Java.
"""

from __future__ import annotations

import os
import select
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.harness.apache import java_command
from tests.harness.tools import node_modules
from tests.interop.transaction_clients import TIMEOUT_MS, Fenced

HERE = Path(__file__).parent
PATIENCE_S = 180.0
ENV = {"KAFKAJS_NO_PARTITIONER_WARNING": "1"}


class Program:
    """A process that takes a call as a line of words, and answers each with a line."""

    def __init__(self, command: list[str], env: dict[str, str] | None = None) -> None:
        self._files = ExitStack()
        self._log = self._files.enter_context(
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        )
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
            env={**os.environ, **(env or {})},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in = self._files.enter_context(self._process.stdin)
        self._out = self._files.enter_context(self._process.stdout)
        try:
            self._expect_ok("the start")
        except BaseException:
            self.close()
            raise

    def _answer(self) -> str:
        """The next line; AssertionError, with what was logged, when the process has ended."""
        ready, _, _ = select.select([self._out], [], [], PATIENCE_S)
        line = self._out.readline().decode() if ready else ""
        assert line, f"no answer: {self._logged()}"
        return line.rstrip("\n")

    def _logged(self) -> str:
        self._log.seek(0)
        return self._log.read()[-8000:]

    def _tell(self, *words: object) -> None:
        self._in.write(("\t".join(map(str, words)) + "\n").encode())

    def _expect_ok(self, what: str) -> None:
        answer = self._answer()
        assert answer == "ok", f"{what}: {answer}: {self._logged()}"

    def _call(self, *words: object) -> None:
        self._tell(*words)
        self._expect_ok(str(words))

    def begin(self) -> None:
        self._call("begin")

    def send(self, topic: str, partition: int, value: str) -> None:
        self._call("send", topic, partition, value)

    def send_offset(self, group: str, topic: str, partition: int, offset: int) -> None:
        self._call("offset", group, topic, partition, offset)

    def commit(self) -> None:
        self._tell("commit")
        answer = self._answer()
        if answer != "ok":
            raise Fenced(answer.removeprefix("failed\t"))

    def abort(self) -> None:
        self._call("abort")

    def close(self) -> None:
        """kill -9: the client says no word to the broker. It may be closed again."""
        self._process.kill()
        self._process.wait()
        self._files.close()


class Kafkajs(Program):
    """kafkajs, in Node."""

    def __init__(self, servers: str, transactional_id: str, timeout_ms: int = TIMEOUT_MS) -> None:
        script = str(HERE / "js" / "transactional.js")
        command = ["node", script, servers, transactional_id, str(timeout_ms)]
        super().__init__(command, ENV | {"NODE_PATH": str(node_modules())})


class Java(Program):
    """Apache's own producer."""

    def __init__(self, servers: str, transactional_id: str, timeout_ms: int = TIMEOUT_MS) -> None:
        script = str(HERE / "java" / "Transactional.java")
        super().__init__(java_command(script, servers, transactional_id, str(timeout_ms)))


PROGRAMS: dict[str, type[Kafkajs | Java]] = {"kafkajs": Kafkajs, "java": Java}
