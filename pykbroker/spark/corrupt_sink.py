"""The side table of a task: skipped batches, as JSON lines or Parquet in a directory.

There is one for each task that skipped something, named after where the task begins: a task that
runs twice writes the same file twice. A read with other tasks (because of other offsets or sizes)
writes other files beside those of the last one, and the same batch is in both. Use a separate
directory for each read, or count rows by path and position.

    corrupt-X.json (or .parquet)   a row a batch, by CORRUPTION_SCHEMA; in JSON raw is Base64
    counts-X.json                  beside it where not all batches have a row:
                                   {"rows": , "row_bytes": , "batches": , "bytes": }
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
from collections.abc import Sequence

from pykbroker.offline import Corruption, corruption_table
from pykbroker.offline.left_out import LeftOut
from pykbroker.spark.target import Target
from pykbroker.spark.tasks import LogTask

_LOGGER = logging.getLogger(__name__)


class CorruptSink:
    """Collects skipped batches while a task runs, and writes them at its end."""

    def __init__(self, task: LogTask) -> None:
        self._task = task
        self._left_out = LeftOut()

    @property
    def batches(self) -> int:
        """How many batches were skipped."""
        return self._left_out.batches

    def note(self, corruption: Corruption) -> None:
        """Record a skipped batch."""
        self._left_out.note(corruption)

    def close(self) -> None:
        """Write the side table, if it is not empty and has a destination."""
        left_out, task = self._left_out, self._task
        if not left_out.batches:
            return
        _LOGGER.warning(
            "left out %d corrupt batches (%d bytes) of %s",
            left_out.batches,
            left_out.bytes,
            ", ".join(sorted({split.path for split in task.splits})),
        )
        if task.corrupt_sink is None:
            return
        target = Target(task.corrupt_sink)
        name = _name_part(task)
        rows = _as_json if task.corrupt_format == "json" else _as_parquet
        target.write(f"corrupt-{name}.{task.corrupt_format}", rows(left_out.kept))
        if left_out.batches > len(left_out.kept):
            target.write(f"counts-{name}.json", _counts(left_out))


def _as_json(corruptions: Sequence[Corruption]) -> bytes:
    return "".join(json.dumps(_node(each)) + "\n" for each in corruptions).encode()


def _as_parquet(corruptions: Sequence[Corruption]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    payload = pa.BufferOutputStream()
    pq.write_table(corruption_table(corruptions), payload)
    whole: bytes = payload.getvalue().to_pybytes()
    return whole


def _counts(left_out: LeftOut) -> bytes:
    node = {
        "rows": len(left_out.kept),
        "row_bytes": left_out.kept_bytes,
        "batches": left_out.batches,
        "bytes": left_out.bytes,
    }
    return json.dumps(node).encode()


def _name_part(task: LogTask) -> str:
    first = task.splits[0]
    text = f"{first.path}:{first.start_position}:{first.start_offset}"
    return f"{first.topic}-{first.partition}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _node(corruption: Corruption) -> dict[str, object]:
    node = dict(vars(corruption))
    raw = corruption.raw
    node["raw"] = base64.b64encode(raw).decode() if raw is not None else None
    return node
