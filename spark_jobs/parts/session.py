"""The Spark session of a job: starts it, silences it, ships the code, stops it.

In      the name of the job, `--master`, settings of the job
Out     a session that knows `pykbroker`; OfflineError if there can be none
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.find_spark_home import _find_spark_home

from pykbroker.offline import OfflineError
from pykbroker.spark import register, tuned_builder

#: Loggers of the JVM.
_TELL_FAULTS: Final = (
    "org.apache.spark.executor.Executor",
    "org.apache.spark.scheduler.TaskSetManager",
)
_MOST_SECONDS_TO_STOP: Final = 30.0
_LOG_LEVEL: Final = "spark.log.level"
#: Where Spark's launcher looks for log4j2.properties and defaults; otherwise in SPARK_HOME/conf.
_CONF_DIR: Final = "SPARK_CONF_DIR"
_QUIET_CONF: Final = Path(__file__).resolve().parents[2] / "config" / "spark"
_SHUFFLE_PARTITIONS: Final = "spark.sql.shuffle.partitions"


def start(name: str, master: str | None, conf: Mapping[str, str]) -> Any:
    """Start a session; raises OfflineError if that is impossible: no Java, no such master."""
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if master is None and not is_submitted:
        master = "local[*]"
    if master is not None and _is_local(master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # no other machine takes part
    builder = tuned_builder(f"pykbroker {name}", master)
    for key, value in conf.items():
        builder = builder.config(key, value)
    # The display asks for every task at once; otherwise Spark counts them some seconds later.
    builder = builder.config("spark.ui.liveUpdate.period", "0")
    try:
        with _quiet_launch("" if is_submitted else _find_spark_home()):
            spark = _in_a_thread(lambda: _session(builder))
    except PySparkException as fault:
        raise _not_started(str(fault)) from None
    except Py4JJavaError as fault:
        raise _not_started(fault.java_exception.toString()) from None
    spark.sparkContext.addPyFile(_package())
    return register(spark)


def _is_local(master: str) -> bool:
    return master.partition("[")[0] == "local"


@contextmanager
def _quiet_launch(spark_home: str) -> Iterator[None]:
    """Let a JVM that is launched in this block use our log4j2 file, because it logs before it has a
    session. The file's directory takes the place of a configuration directory, so a Spark
    (`spark_home`; empty: that of spark-submit) that has one keeps it.
    """
    has_conf = _CONF_DIR in os.environ or os.path.isdir(os.path.join(spark_home, "conf"))
    if not spark_home or has_conf or not _QUIET_CONF.is_dir():
        yield
        return
    os.environ[_CONF_DIR] = str(_QUIET_CONF)
    try:
        yield
    finally:
        del os.environ[_CONF_DIR]


def _session(builder: Any) -> Any:
    """Return the session. A log level and a number of shuffle partitions that were submitted are
    kept.
    """
    SparkContext._ensure_initialized()  # a SparkConf then holds what was submitted
    submitted = SparkConf()
    is_quiet = not submitted.contains(_LOG_LEVEL)
    if is_quiet:  # before the context starts: that alone logs 30 lines of INFO
        builder = builder.config(_LOG_LEVEL, "ERROR")
    spark = builder.getOrCreate()
    if is_quiet:
        _silence(spark)
    if not submitted.contains(_SHUFFLE_PARTITIONS):
        # Spark's 200 are for large shuffles; a job's workers add up before they shuffle. Adaptive
        # execution joins the small ones.
        spark.conf.set(_SHUFFLE_PARTITIONS, str(2 * spark.sparkContext.defaultParallelism))
    return spark


def stop(spark: Any) -> None:
    """Stop from a thread: a call of the main thread may have been interrupted half-way."""

    def stopped() -> None:
        with suppress(Exception):  # of a JVM that has died; what happened is told
            spark.stop()

    thread = threading.Thread(target=stopped, daemon=True)
    thread.start()
    thread.join(_MOST_SECONDS_TO_STOP)


def _in_a_thread(make: Callable[[], Any]) -> Any:
    """Waiting for a thread can be interrupted at any moment, and PySpark puts its own handler of
    SIGINT (see interrupts.py) in the main thread alone."""
    made: list[Any] = []
    faults: list[BaseException] = []

    def call() -> None:
        try:
            made.append(make())
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join()
    if faults:
        raise faults[0]
    return made[0]


def _not_started(why: str) -> OfflineError:
    return OfflineError(f"Spark does not start: {why.splitlines()[0]}")


def _silence(spark: Any) -> None:
    """Spark would tell every fault of a worker with two stacks; the job tells it in one line, or
    with its Python stack if it is a bug."""
    log4j = spark._jvm.org.apache.logging.log4j
    for name in _TELL_FAULTS:
        log4j.core.config.Configurator.setLevel(name, log4j.Level.OFF)


def _package() -> str:
    """Return the path of a zip of these jobs, for the workers."""
    directory = tempfile.mkdtemp(prefix="pykbroker-jobs-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    target = os.path.join(directory, "spark_jobs.zip")
    root = Path(__file__).resolve().parents[2]
    if not root.is_dir():
        return str(root)  # this is such a zip already
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((root / "spark_jobs").rglob("*.py")):
            archive.write(path, path.relative_to(root).as_posix())
    return target
