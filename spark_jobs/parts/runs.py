"""Tables that are sorted: where their runs of equal values are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow.compute as pc

from spark_jobs.parts.sizes import Integers


def run_edges(table: Any, names: Sequence[str]) -> Integers:
    """Where rows begin that differ from the one before in one of these columns, 0 among them, and
    the number of rows at the end; without rows only 0."""
    columns = [table.column(name) for name in names]
    differ = (pc.not_equal(column[1:], column[:-1]) for column in columns)
    begins = reduce(pc.or_, differ).to_numpy()
    found: Integers = np.flatnonzero(np.concatenate([[True], begins, [True]]))
    return found if table.num_rows else found[:1]
