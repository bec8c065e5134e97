"""Spark sessions with the data source: `register`, `tuned_builder`, `package`."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any, Final

from pykbroker.spark.source import SOURCES

PUSHDOWN: Final = "spark.sql.python.filterPushdown.enabled"
#: The settings that made a measured difference: see docs/analytics.md.
TUNED: Final = {
    PUSHDOWN: "true",
    # 58 -> 36 ms a Python task, and 1.5 -> 1.8 GB/s of Arrow
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.python.worker.reuse": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.pyspark.binaryAsBytes": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def tuned_conf() -> dict[str, str]:
    """The settings of `tuned_builder`, for `spark-submit --conf`."""
    return dict(TUNED)


def tuned_builder(app_name: str = "pykbroker", master: str | None = None) -> Any:
    """Return a SparkSession.Builder with the measured settings; `master`
    defaults to Spark's default.
    """
    from pyspark.sql import SparkSession

    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if master.startswith("local") if master is not None else not is_submitted:
        # Spark would run the first python3 on the path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(app_name)
    if master is not None:
        builder = builder.master(master)
    for name, value in TUNED.items():
        builder = builder.config(name, value)
    return builder


def register(spark: Any) -> Any:
    """Register `pykbroker` and its views in a session, and enable filter pushdown.

    Sends the package to the workers if they may be unable to import it (on a cluster, or if it is
    only on this process's path). Workers need numpy and pyarrow.
    """
    spark.conf.set(PUSHDOWN, "true")
    context = getattr(spark, "_sc", None)
    if _must_ship(context):
        # Before the sources are registered: they remember the files that there are by then.
        if context is not None:
            context.addPyFile(package())
        else:
            spark.addArtifacts(package(), pyfile=True)
    tasks = context.defaultParallelism if context is not None else os.cpu_count() or 1
    for source in SOURCES:
        # A class of its own: it travels by value, with the number of cores in it.
        kind = type(source.__name__, (source,), {"tasks": tasks, "__doc__": source.__doc__})
        spark.dataSource.register(kind)
    return spark


def _must_ship(context: Any) -> bool:
    # `local-cluster[...]` has workers that are processes of their own.
    if context is None or context.master.partition("[")[0] != "local":
        return True
    root = _root()
    paths = [os.getcwd(), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    installed = root.name in ("site-packages", "dist-packages")
    return not installed and root not in [Path(each).resolve() for each in paths if each]


def _root() -> Path:
    return Path(__file__).resolve().parents[2]


def package(target: str | None = None) -> str:
    """Return the path of a zip of this package for `--py-files`: created at `target`, or once in a
    temporary directory; the zip that this process runs from, if there is one.
    """
    return _write_package(target) if target is not None else _package()


@cache
def _package() -> str:
    directory = tempfile.mkdtemp(prefix="pykbroker-package-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return _write_package(os.path.join(directory, "pykbroker.zip"))


def _write_package(target: str) -> str:
    root = _root()
    if not (root / "pykbroker").is_dir():
        return str(root)  # we run from such a zip ourselves
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted((root / "pykbroker").rglob("*")):
            if path.suffix in (".py", ".txt"):  # code, and the schemas of messages
                archive.write(path, path.relative_to(root).as_posix())
    return target
