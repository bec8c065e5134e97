"""A real node in a process of its own, by default on a free port and with a temporary directory.

The node is ready when `start` returns. `restart` keeps its data, and its port unless `listeners` is
configured. The node stops when the process that started it is killed; its temporary directory then
remains.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from pykbroker.testing.topic_creation import Topics, create_topics

# Unlike a service, a test does not wait for more members of a group: the first record arrives in
# a fraction of a second, and not after three.
TEST_DEFAULTS: Final = {"group.initial.rebalance.delay.ms": "0"}

READY_TIMEOUT_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 60.0
HOST = "127.0.0.1"

_LISTENERS = "listeners="


class BrokerFailed(Exception):
    """The node failed to start or to stop, and the text ends with the end of its log; or a call
    needs a started node and there is none, or the reverse.
    """


class Broker:
    """A real Kafka broker for tests.

        with Broker(num_partitions=3) as broker:
            producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers)

    Keyword arguments are keys of Kafka's broker configuration with underscores in place of dots;
    `overrides` takes keys as they are. TEST_DEFAULTS apply to keys that are not given. `data_dir`
    names the log directory to use and keep; by default it is temporary.
    """

    def __init__(
        self,
        *,
        data_dir: str | os.PathLike[str] | None = None,
        overrides: Mapping[str, object] | None = None,
        **config: object,
    ) -> None:
        self.overrides: dict[str, str] = TEST_DEFAULTS | config_of(config, overrides or {})
        self._given_dir = None if data_dir is None else Path(data_dir)
        self._work_dir: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._was_ready = False  # the running process
        self.port = 0
        self.ready_line = ""

    # ---------------------------------------------------------------- what tests read

    @property
    def bootstrap_servers(self) -> str:
        """`127.0.0.1:port` of the first listener, once the node was ready."""
        return f"{HOST}:{self.port}"

    @property
    def data_dir(self) -> Path:
        """The log directory of the node, unless `log.dirs` is configured."""
        if self._given_dir is not None:
            return self._given_dir
        return self._own_dir() / "data"

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process that was started, until `stop` or `kill`; it may have ended by itself. Raises
        BrokerFailed if there is none.
        """
        if self._process is None:
            raise BrokerFailed("the broker does not run")
        return self._process

    @property
    def pid(self) -> int:
        """The process id of `process`."""
        return self.process.pid

    @property
    def log_text(self) -> str:
        """The text of the node's log file; "" if there is none."""
        if self._has_no_files():
            return ""
        path = self._log_path()
        return path.read_text("utf-8", errors="replace") if path.exists() else ""

    def create_topics(self, topics: Topics) -> None:
        """Create topics: names, or a dict of names and their numbers of partitions.

        Raises TopicNotCreated if the broker refuses one, OSError if it cannot be reached.
        """
        create_topics((HOST, self.port), topics)

    # ---------------------------------------------------------------- life cycle

    def start(self) -> Self:
        """Start the node and wait until it is ready; see `wait_until_ready`."""
        self.launch()
        return self.wait_until_ready()

    def launch(self) -> None:
        """Start the node's process without waiting for it.

        Raises BrokerFailed if one was started before, and neither stopped nor killed.
        """
        if self._process is not None:
            raise BrokerFailed("the broker runs already")
        with open(self._log_path(), "ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.PIPE,  # closed when our process ends, however it does
                stdout=subprocess.PIPE,
                stderr=log,
                env=self._environment(),
            )

    def wait_until_ready(self) -> Self:
        """Wait until the launched node serves; if it ends or takes too long, kill it and raise
        BrokerFailed. Returns at once if it was ready before.
        """
        if not self._was_ready:
            try:
                self._wait_until_ready(self.process)
            except BaseException:
                self.kill()
                raise
            self._was_ready = True
        return self

    def stop(self) -> None:
        """Stop the node cleanly (SIGTERM); does nothing if it was not started.

        Raises BrokerFailed if its exit code shows a failure, also of a node that ended before, or
        if it does not stop within STOP_TIMEOUT_SECONDS and is killed.
        """
        process = self._process
        if process is None:
            return
        process.terminate()
        try:
            code = process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise BrokerFailed(self._failure("did not stop in time")) from None
        self._forget()
        if code not in (0, -signal.SIGTERM):
            raise BrokerFailed(self._failure(f"stopped with exit code {code}"))

    def kill(self) -> None:
        """Kill the node (SIGKILL) and wait until it is gone: the process crashes, nothing more.

        What the process held in memory is lost, files may end in the middle of a record, and if the
        node was ready, its directory has no mark of a clean stop, so the next start recovers it.
        The operating system
        survives: it keeps what was written and not yet flushed to the disk, and it closes the
        connections, so that clients notice at once. A power cut would lose unflushed writes, and
        a broken network would leave clients waiting; `pykbroker.testing.world` simulates those.
        """
        process = self._process
        if process is not None:
            process.kill()
            process.wait()
            self._forget()

    def pause(self) -> None:
        """Stop the process where it is (SIGSTOP): connections stay open and nothing is answered.

        The operating system still accepts connections for it. `resume` ends it; call that before
        `stop` or `close`, because a paused process does not react to SIGTERM.
        """
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self) -> None:
        """Let a paused process run again (SIGCONT)."""
        self.process.send_signal(signal.SIGCONT)

    def restart(self) -> Self:
        """Stop the node if it was started, and start it again with the same directory."""
        self.stop()
        return self.start()

    def close(self) -> None:
        """Stop the node and remove its temporary directory."""
        try:
            self.stop()
        finally:
            if self._work_dir is not None:
                shutil.rmtree(self._work_dir, ignore_errors=True)
                self._work_dir = None

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = f"pid {self._process.pid}" if self._process is not None else "not running"
        return f"Broker({self.bootstrap_servers}, {state})"

    # ---------------------------------------------------------------- the parts

    def _has_no_files(self) -> bool:
        """Return whether there is no temporary directory: not yet, or no longer."""
        return self._work_dir is None

    def _own_dir(self) -> Path:
        if self._work_dir is None:
            self._work_dir = Path(tempfile.mkdtemp(prefix="pykbroker-"))
        return self._work_dir

    def _log_path(self) -> Path:
        return self._own_dir() / "broker.log"

    def _command(self) -> list[str]:
        command = [sys.executable, "-m", "pykbroker", "start", "--stop-with-stdin"]
        command += ["--data-dir", str(self.data_dir), "--listen", f"{HOST}:{self.port}"]
        for key, value in self.overrides.items():
            command += ["--override", f"{key}={value}"]
        return command

    def _environment(self) -> dict[str, str]:
        """Return our environment; in it, the child finds the package that we run from."""
        environment = dict(os.environ)
        root = str(Path(__file__).resolve().parents[2])
        path = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = root if not path else root + os.pathsep + path
        return environment

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        deadline = time.monotonic() + READY_TIMEOUT_SECONDS
        printed = b""
        while not printed.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                raise BrokerFailed(self._failure("was not ready in time"))
            chunk = os.read(process.stdout.fileno(), 4096)
            if not chunk:
                code = process.wait()
                raise BrokerFailed(self._failure(f"ended with exit code {code}"))
            printed += chunk
        self.ready_line = printed.decode().strip()
        words = self.ready_line.split()
        listeners = [word for word in words if word.startswith(_LISTENERS)]
        if words[:1] != ["ready"] or not listeners:
            raise BrokerFailed(self._failure(f"printed {self.ready_line!r}"))
        first = listeners[0].removeprefix(_LISTENERS).split(",")[0]
        self.port = int(first.rpartition(":")[2])

    def _forget(self) -> None:
        process = self._process
        self._process = None
        self._was_ready = False
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()

    def _failure(self, what: str) -> str:
        return f"the broker {what}; it logged:\n{self.log_text[-4000:]}"


def config_of(config: Mapping[str, object], overrides: Mapping[str, object]) -> dict[str, str]:
    """Return the configuration by key: `config` has underscores for dots, `overrides` real keys."""
    named = {key.replace("_", "."): value for key, value in config.items()}
    return {key: _as_text(value) for key, value in (named | dict(overrides)).items()}


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
