"""What Spark 4 finds by its name: `spark.read.format("pykbroker")` works without a call.

Spark looks for packages called `pyspark_...` on the path of its Python workers and registers the
`DefaultSource` of each. `pykbroker.spark.register` is for more: it adds the names of the views,
turns on the pushing down of filters, and sends the package to the workers of a cluster.
"""

from __future__ import annotations

import os
import platform
import sys

from pyspark.sql.datasource import DataSource

try:
    from pykbroker.spark.source import LogSource as _Source
except ImportError as _error:
    _missing = _error.name or str(_error)

    class DefaultSource(DataSource):  # type: ignore[misc]
        """Stands for the data source where it cannot be imported, and says why."""

        @classmethod
        def name(cls) -> str:
            """The name of the format."""
            return "pykbroker"

        def __init__(self, options: dict[str, str]) -> None:
            raise ImportError(
                f"the data source pykbroker needs {_missing}, which {sys.executable} (Python "
                f"{platform.python_version()}) does not have: install it there, or let "
                "PYSPARK_PYTHON name an interpreter that has it"
            )

else:

    class DefaultSource(_Source):  # type: ignore[no-redef]
        """The data source; it cuts a read into at least a task for each core of this machine, if
        there is enough to read.
        """

        tasks = os.cpu_count() or 1
