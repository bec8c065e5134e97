"""What a job had to leave out: corrupt batches, in PERMISSIVE and DROPMALFORMED.

The workers write side tables into OUT/left-out (option `corruptBatchSink`, unless it is given);
`left_out` reads them back.
"""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any, Final

import pyarrow as pa

from pykbroker.offline import CORRUPTION_SCHEMA
from pykbroker.spark.target import Target

SINK: Final = "corruptBatchSink"
FAILFAST: Final = "FAILFAST"
_SCHEMA: Final = pa.schema([field for field in CORRUPTION_SCHEMA if field.name != "raw"])


def is_counted(arguments: Namespace) -> bool:
    """Whether a job may leave batches out, and tells it here."""
    if getattr(arguments, "mode", FAILFAST) == FAILFAST:
        return False
    return all(not name.lower().startswith("corruptbatch") for name, _ in arguments.option)


def give_place(arguments: Namespace) -> Target:
    """Let the workers write into OUT/left-out, where nothing of an earlier run is."""
    location = f"{arguments.out.rstrip('/')}/left-out"
    arguments.option = [*arguments.option, (SINK, location)]
    target = Target(location)
    for name in target.names():
        target.delete(name)
    return target


def left_out(target: Target) -> Any:
    """The side table: each batch once, although several passes may have met it."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for name in target.names():
        for line in target.read(name).splitlines():
            row = json.loads(line)
            found[row["path"], row["position"]] = row
    rows = [found[place] for place in sorted(found)]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)
