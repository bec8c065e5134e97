"""A real process that appends to a real log is killed with -9, again and again.

The child prints the log end offset after every turn that it acknowledged. After each kill the log
must hold all of that, be readable to its end, and know the sequence of its idempotent producer.

PYKBROKER_KILL_ROUNDS=50 runs more rounds.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

from pykbroker.config import TopicConfig
from pykbroker.environment.real.files import RealFiles
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.recovery.opening import open_log
from pykbroker.protocol.record_batch import iter_batches, iter_records
from pykbroker.types import TopicPartition
from tests.log.log_makers import NOW_MS, batch_of

ROUNDS = int(os.environ.get("PYKBROKER_KILL_ROUNDS", "3"))
ROOT = Path(__file__).parent.parent.parent
PRODUCER_ID = 5


def open_at(directory: str) -> PartitionLog:
    config = TopicConfig.default(segment_bytes="1048576", index_interval_bytes="512")
    return open_log(
        RealFiles(), directory, TopicPartition("k", 0), config, now_ms=NOW_MS, is_clean=False
    )


def append_for_ever(directory: str, seed: int) -> None:
    """The child: turns of a few batches, each acknowledged on standard output."""
    dice = random.Random(seed)
    log = open_at(directory)
    entry = log.producers.producers.get(PRODUCER_ID)
    sequence = 0 if entry is None else entry.last_sequence + 1
    while True:
        for _ in range(dice.randint(1, 5)):
            value = b"%d" % sequence + b"." * dice.randint(0, 20_000)
            batch = batch_of(value, producer=(PRODUCER_ID, 0, sequence))
            assert log.append_as_leader(batch, 1, NOW_MS).queued
            sequence += 1
        log.write_pending()
        os.write(1, b"%d\n" % log.log_end_offset)


def sequences(log: PartitionLog) -> list[int]:
    found = []
    offset = 0
    while offset < log.log_end_offset:
        outcome = log.read(offset, 1 << 20, log.log_end_offset)
        assert outcome.slice is not None
        for header, batch in iter_batches(outcome.slice.read(), partial_tail=True):
            assert header.base_offset == offset
            found += [int((r.value or b"").split(b".")[0]) for r in iter_records(batch)]
            offset = header.next_offset
    return found


def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    directory = str(tmp_path / "k-0")
    acknowledged = 0
    for number in range(ROUNDS):
        seed = random.randrange(1 << 32)
        code = "from tests.simulation.test_log_kill import append_for_ever as f; "
        code += f"f({directory!r}, {seed})"
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT)
        assert child.stdout is not None
        turns = random.randint(1, 300)
        for _ in range(turns):
            line = child.stdout.readline()
            assert line, f"the child of round {number} ended by itself"
            acknowledged = int(line)
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read().split(b"\n")
        child.wait()
        child.stdout.close()
        whole = rest[:-1]  # the last line may be cut
        acknowledged = int(whole[-1]) if whole else acknowledged
        log = open_at(directory)
        assert log.log_end_offset >= acknowledged
        assert sequences(log) == list(range(log.log_end_offset))
        assert log.producers.producers[PRODUCER_ID].last_sequence == log.log_end_offset - 1
        log.release()
