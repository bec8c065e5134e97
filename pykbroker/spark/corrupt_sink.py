"""The side table of a task: what had to be left out, as JSON lines or Parquet in a directory.

One file for each task that left something out, named after the first bytes of the task: a task that
runs twice writes the same file twice. A read that is cut into other tasks (by other offsets or
sizes) writes other files beside those of the last one, and the same batch stands in both: give each
read a directory of its own, or count rows by path and position.

The columns are those of `CORRUPTION_SCHEMA`; in JSON the raw bytes are Base64.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging

from pykbroker.offline import Corruption, corruption_table
from pykbroker.offline.split import MAX_CORRUPTIONS, MAX_RAW_TOTAL
from pykbroker.spark.target import Target
from pykbroker.spark.tasks import LogTask

_LOGGER = logging.getLogger(__name__)


class CorruptSink:
    """Collects while a task runs, writes when it ends. Keeps a bounded number of rows and bytes."""

    def __init__(self, task: LogTask) -> None:
        self.batches = 0
        self.size_bytes = 0
        self._task = task
        self._rows: list[Corruption] = []
        self._raw = 0

    def note(self, corruption: Corruption) -> None:
        """One more batch that was left out."""
        self.batches += 1
        self.size_bytes += corruption.size_bytes
        raw = len(corruption.raw or b"")
        if len(self._rows) < MAX_CORRUPTIONS and self._raw + raw <= MAX_RAW_TOTAL:
            self._rows.append(corruption)
            self._raw += raw

    def close(self) -> None:
        """Write the side table, if there is something to write and a place for it."""
        if not self.batches:
            return
        task = self._task
        _LOGGER.warning(
            "left out %d corrupt batches (%d bytes) of %s",
            self.batches,
            self.size_bytes,
            ", ".join(sorted({split.path for split in task.splits})),
        )
        if task.corrupt_sink is None:
            return
        target = Target(task.corrupt_sink)
        name = f"corrupt-{_fingerprint(task)}.{task.corrupt_format}"
        if task.corrupt_format == "json":
            lines = "".join(json.dumps(_node(each)) + "\n" for each in self._rows)
            target.write(name, lines.encode())
            return
        import pyarrow as pa
        import pyarrow.parquet as pq

        payload = pa.BufferOutputStream()
        pq.write_table(corruption_table(self._rows), payload)
        target.write(name, payload.getvalue().to_pybytes())


def _fingerprint(task: LogTask) -> str:
    first = task.splits[0]
    text = f"{first.path}:{first.start_position}:{first.start_offset}"
    return f"{first.topic}-{first.partition}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _node(corruption: Corruption) -> dict[str, object]:
    node = dict(vars(corruption))
    raw = corruption.raw
    node["raw"] = base64.b64encode(raw).decode() if raw is not None else None
    return node
