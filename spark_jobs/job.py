"""A job: arguments, a session, a function, a result on disk, a picture.

    JOB = Job(__file__, __doc__, run, arguments=arguments, draw=draw)
    if __name__ == "__main__":
        JOB.main()

In      run(spark, arguments) -> Outcome; draw(outcome) -> a matplotlib figure, or None
Out     files (results.py), a table on standard output, progress on standard error
Runs    by `spark-submit FILE`, or `python FILE`: then on all cores of this machine, or `--master`.
        On a cluster the code ships itself; workers need numpy and pyarrow, and a Kafka client
        (clients.py) for the two jobs that talk to a broker.
"""

from __future__ import annotations

import argparse
import atexit
import os
import re
import shutil
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from pykbroker.offline import OfflineError
from pykbroker.spark import register, tuned_builder
from pykbroker.spark.target import Target
from spark_jobs import reading
from spark_jobs.left_out import SINK, fresh_place, is_counted, keep, left_out, place_of_run
from spark_jobs.pictures import as_png
from spark_jobs.progress import Progress
from spark_jobs.results import FORMATS, PARQUET, Outcome, as_text, clear_outcome, write_outcome

#: A fault of the logs, or of a broker, that a worker met, in what Spark tells of it.
_FAULT: Final = re.compile(
    r"^(?:pykbroker\.(?:offline|spark)\.faults\.\w+|spark_jobs\.\w+\.\w+Fault): (.+)$",
    re.MULTILINE,
)


#: Loggers of the JVM.
_TELL_FAULTS: Final = (
    "org.apache.spark.executor.Executor",
    "org.apache.spark.scheduler.TaskSetManager",
)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Tells the default of every option that has one, unless its help does."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        told = action.help or ""
        if "(default" in told or action.default in (None, False, [], argparse.SUPPRESS):
            return told
        return f"{told} (default: %(default)s)"


class _Once(argparse.Action):
    """An option with one value: of two, one would be ignored without a word."""

    is_given = False

    def __call__(self, parser: object, namespace: object, values: object, _: object = None) -> None:
        if self.is_given:
            raise argparse.ArgumentError(self, "is given twice")
        self.is_given = True
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    """Tells a fault in one line, as jobs tell theirs. It is for one command line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name in (None, "store"):
            self.register("action", name, _Once)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog.removesuffix('.py')}: {message} (--help tells all)\n")


def _place(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("must name a directory or URI")
    return text


Run = Callable[[Any, argparse.Namespace], Outcome]


@dataclass(frozen=True)
class Job:
    """One job; its name is that of its file, its help the docstring."""

    file: str
    doc: str | None
    run: Run
    arguments: Callable[[argparse.ArgumentParser], None] | None = None
    draw: Callable[[Outcome], Any] | None = None
    reads_logs: bool = True
    #: Whether all that it reads passes by what counts corrupt batches; samples and headers do not.
    counts_left_out: bool = True
    #: Whether --topic-pattern is of the topics that it reads.
    pattern_is_of_logs: bool = True
    #: Whether --since and --until ask each record for its own time, instead of where to begin.
    times_are_of_records: bool = False
    #: Arguments and options of reading that it does not have: see `reading.add_arguments`.
    without: tuple[str, ...] = ()
    #: Settings of its session, whatever is submitted.
    conf: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return Path(self.file).stem

    def parser(self) -> argparse.ArgumentParser:
        """Arguments of all jobs, of reading, and the job's own."""
        parser = _Parser(
            prog=f"{self.name}.py",
            description=self.doc,
            formatter_class=_Formatter,
        )
        if self.reads_logs:
            by_record = self.times_are_of_records
            reading.add_arguments(parser, self.without, is_by_record=by_record)
        if self.arguments is not None:
            self.arguments(parser)
        shared = parser.add_argument_group("how it runs")
        shared.add_argument(
            "--out",
            type=_place,
            default=f"{self.name}-result",
            help="directory or URI of the result",
        )
        shared.add_argument(
            "--format", choices=FORMATS, default=PARQUET, help="files of the tables"
        )
        shared.add_argument("--no-picture", action="store_true", help="draw nothing")
        shared.add_argument("--quiet", action="store_true", help="no progress, no table")
        shared.add_argument(
            "--master", help="Spark's master (default: that of spark-submit, else local[*])"
        )
        return parser

    def parse(self, words: Sequence[str] | None) -> argparse.Namespace:
        """SystemExit, told in one line, for what cannot be."""
        parser = self.parser()
        arguments = parser.parse_args(words)
        if self.reads_logs:
            try:
                reading.check_arguments(arguments)
            except argparse.ArgumentTypeError as fault:
                parser.error(str(fault))
        return arguments

    def main(self, words: Sequence[str] | None = None) -> None:
        """Run as a program; exits."""
        arguments = self.parse(words)
        spark = None
        try:
            spark = _session(self.name, arguments.master, self.conf)
            sys.exit(self.run_and_write(spark, arguments))
        except OfflineError as fault:
            self._refuse(str(fault))
        except OSError as fault:  # a path that may not be read or written, a bucket that is not
            self._refuse(str(fault))
        except PySparkException as fault:
            told = _in_one_line(fault)
            if told is None:
                traceback.print_exc()
                sys.exit(3)
            self._refuse(told)
        except Exception:  # a bug, and no finding: those end with 1
            traceback.print_exc()
            sys.exit(3)
        finally:
            if spark is not None:
                with suppress(Exception):  # of a JVM that has died; what happened is told
                    spark.stop()

    def _refuse(self, why: str) -> NoReturn:
        print(f"{self.name}: {why}", file=sys.stderr)
        sys.exit(2)

    def run_and_write(self, spark: Any, arguments: argparse.Namespace) -> int:
        """Run in a session that there is; the exit code."""
        Target(arguments.out).check_writable()
        with Progress(spark, self.name, is_quiet=arguments.quiet) as progress:
            outcome = self._run(spark, arguments)
            progress.step("writing the result")
            clear_outcome(arguments.out)
            files = write_outcome(outcome, arguments.out, arguments.format, self.name)
            exit_code = outcome.exit_code
            try:
                files += self._draw(outcome, arguments)
            except Exception as fault:  # whatever matplotlib raises: the result is there
                told = f"{type(fault).__name__}: {fault}"
                print(f"{self.name}: no picture, the result stands: {told}", file=sys.stderr)
                exit_code = exit_code or 3
        if not arguments.quiet:
            print(as_text(outcome))
            print(f"written to {arguments.out}: {', '.join(files)}")
        return exit_code

    def _run(self, spark: Any, arguments: argparse.Namespace) -> Outcome:
        """Run, and count what had to be left out."""
        if self.reads_logs and self.pattern_is_of_logs:
            reading.check_pattern(arguments)
        if not (self.reads_logs and self.counts_left_out and is_counted(arguments)):
            outcome = self.run(spark, arguments)
            fresh_place(arguments.out)  # what an earlier run left out goes with its result
            return outcome
        with place_of_run(arguments.out) as place:
            arguments.option = [*arguments.option, (SINK, place.location)]
            outcome = self.run(spark, arguments)
            found = left_out(place)
            keep(place, arguments.out)
        outcome.tables["left_out"] = found.table
        outcome.summary |= {"corrupt_batches": found.batches, "corrupt_bytes": found.bytes}
        if found.batches:
            rows = found.table.num_rows
            which = "" if rows == found.batches else f"{rows} of them in "
            told = f"left out {found.batches} corrupt batches ({found.bytes} bytes)"
            print(f"{self.name}: {told}: {which}table left_out", file=sys.stderr)
        return outcome

    def _draw(self, outcome: Outcome, arguments: argparse.Namespace) -> list[str]:
        """Draw and write the picture; the names of its files."""
        made = None if arguments.no_picture or self.draw is None else self.draw(outcome)
        if made is None:
            return []
        Target(arguments.out).write(f"{self.name}.png", as_png(made))
        return [f"{self.name}.png"]


def _in_one_line(fault: PySparkException) -> str | None:
    """A fault of the logs that a worker met; else what Spark says first. None: a bug in a worker,
    which Spark tells as a Python exception."""
    text = str(fault)
    told = _FAULT.search(text)
    if told is not None:
        return told[1]
    return None if "Traceback (most recent call last)" in text else text.strip().splitlines()[0]


def _session(name: str, master: str | None, conf: Mapping[str, str]) -> Any:
    """OfflineError when there can be none: no Java, a master that is not there."""
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if master is None and not is_submitted:
        master = "local[*]"
    builder = tuned_builder(f"pykbroker {name}", master)
    if not is_submitted:  # Spark's 200 are for a cluster; whoever submits says his own
        builder = builder.config("spark.sql.shuffle.partitions", str(2 * (os.cpu_count() or 1)))
    for key, value in conf.items():
        builder = builder.config(key, value)
    # The display asks for every task at once; otherwise Spark counts them some seconds later.
    builder = builder.config("spark.ui.liveUpdate.period", "0")
    try:
        spark = builder.getOrCreate()
    except PySparkException as fault:
        raise _not_started(str(fault)) from None
    except Py4JJavaError as fault:
        raise _not_started(fault.java_exception.toString()) from None
    spark.sparkContext.setLogLevel("ERROR")
    _silence(spark)
    spark.sparkContext.addPyFile(_package())
    return register(spark)


def _not_started(why: str) -> OfflineError:
    return OfflineError(f"Spark does not start: {why.splitlines()[0]}")


def _silence(spark: Any) -> None:
    """Spark would tell every fault of a worker with two stacks; the job tells it in one line, or
    with its Python stack if it is a bug."""
    log4j = spark._jvm.org.apache.logging.log4j
    for name in _TELL_FAULTS:
        log4j.core.config.Configurator.setLevel(name, log4j.Level.OFF)


def _package() -> str:
    """A zip of these jobs, for the workers."""
    directory = tempfile.mkdtemp(prefix="pykbroker-jobs-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    target = os.path.join(directory, "spark_jobs.zip")
    here = Path(__file__).resolve().parent
    if not here.is_dir():
        return str(here.parent)  # we run from such a zip ourselves
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(here.glob("*.py")):
            archive.write(path, f"spark_jobs/{path.name}")
    return target
