"""Apache's TransactionalMessageCopier, one for each partition, started again whenever it dies."""

from __future__ import annotations

import random
import signal
import subprocess
from pathlib import Path

from tests.harness.apache import java_command

COPIER = "org.apache.kafka.tools.TransactionalMessageCopier"


class Copier:
    """Copies one partition of a topic in transactions, some of which it aborts by chance."""

    def __init__(self, servers: str, source: str, target: str, index: int, logs: Path) -> None:
        self._command = java_command(
            COPIER,
            *("--broker-list", servers, "--input-topic", source, "--output-topic", target),
            *("--input-partition", str(index), "--transactional-id", f"copier-{index}"),
            *("--consumer-group", "copiers", "--transaction-size", "50"),
            *("--transaction-timeout", "20000", "--enable-random-aborts", "--use-group-metadata"),
        )
        self._log = (logs / f"copier-{index}.log").open("ab")
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self.is_done = False

    def tend(self) -> None:
        """Start it, again if it died; done is who ended by itself, with everything copied."""
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return
            self._process = None
            if code == 0:
                self.is_done = True
        if not self.is_done:
            self.starts += 1
            self._process = subprocess.Popen(
                self._command, stdout=self._log, stderr=subprocess.STDOUT
            )

    def kill(self) -> None:
        """kill -9: whatever it has begun is left open."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """Leave nothing running."""
        self.kill()
        self._log.close()


def pause_s(dice: random.Random) -> float:
    """Until the next fault."""
    return dice.uniform(1.0, 5.0)
