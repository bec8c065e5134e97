"""A job: arguments, a session, a function, a result on disk, a picture.

    JOB = Job(__file__, __doc__, run, arguments=arguments, draw=draw)
    if __name__ == "__main__":
        JOB.main()

In      run(spark, arguments) -> Outcome; draw(outcome) -> a matplotlib figure, or None
Out     files (results.py), a table on standard output, progress on standard error
Runs    by `spark-submit FILE`, or `python FILE`: then on all cores of this machine, or `--master`.
        On a cluster the code ships itself; workers need what `.[spark]` brings, and a Kafka client
        (clients.py) for the two jobs that talk to a broker.
"""

from __future__ import annotations

import argparse
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

from pyspark.errors import PySparkException

from pykbroker.offline import OfflineError
from pykbroker.spark.target import Target
from spark_jobs.parts import reading, session
from spark_jobs.parts.console import as_text
from spark_jobs.parts.interrupts import EXIT_CODE, Interrupts
from spark_jobs.parts.left_out import SINK, fresh_place, is_counted, keep, left_out, place_of_run
from spark_jobs.parts.pictures import as_png
from spark_jobs.parts.progress import Progress
from spark_jobs.parts.results import (
    FORMATS,
    PARQUET,
    Outcome,
    clear_outcome,
    nothing_empty_left,
    write_outcome,
)
from spark_jobs.parts.wording import counted

#: A fault of the logs, or of a broker, that a worker met, in what Spark tells of it.
_FAULT: Final = re.compile(
    r"^(?:pykbroker\.(?:offline|spark)\.faults\.\w+|spark_jobs\.parts\.\w+\.\w+Fault): (.+)$",
    re.MULTILINE,
)


#: Told twice a job. All that is used of pandas is what matplotlib may.
_PANDAS: Final = "PySpark does not yet fully support pandas"


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Appends the default of every option that has one, unless its help contains it."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        told = action.help or ""
        if "(default" in told or action.default in (None, False, [], argparse.SUPPRESS):
            return told
        return f"{told} (default: %(default)s)"


class _Once(argparse.Action):
    """An option with one value; giving it twice is an error, because one value would be ignored."""

    is_given = False

    def __call__(self, parser: object, namespace: object, values: object, _: object = None) -> None:
        if self.is_given:
            raise argparse.ArgumentError(self, "is given twice")
        self.is_given = True
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    """Reports an error in one line, as jobs do. It is for one command line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name in (None, "store"):
            self.register("action", name, _Once)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog.removesuffix('.py')}: {message} (see --help)\n")


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
    #: What else can be refused without Spark.
    check_more: Callable[[argparse.Namespace], None] | None = None
    reads_logs: bool = True
    #: Whether all that it reads passes by what counts corrupt batches; samples and headers do not.
    counts_left_out: bool = True
    #: Whether --topics and --topic-pattern are of the topics that it reads.
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
        """Return a parser with the arguments of all jobs, of reading, and the job's own."""
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
        shared = parser.add_argument_group("execution and output")
        shared.add_argument(
            "--out",
            type=_place,
            default=f"{self.name}-result",
            help="directory or URI of the result",
        )
        shared.add_argument(
            "--format", choices=FORMATS, default=PARQUET, help="file format of the tables"
        )
        shared.add_argument("--no-picture", action="store_true", help="draw nothing")
        shared.add_argument("--quiet", action="store_true", help="print no progress and no table")
        shared.add_argument(
            "--master", help="Spark's master (default: that of spark-submit, else local[*])"
        )
        return parser

    def parse(self, words: Sequence[str] | None) -> argparse.Namespace:
        """Parse the arguments; an error is one line and SystemExit."""
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
        warnings.filterwarnings("ignore", _PANDAS, FutureWarning)
        with Interrupts(self.name) as interrupts:
            try:
                # The session is stopped last: workers that are ended by that may have a word, too.
                with ExitStack() as at_end:
                    code = self._exit_code(arguments, interrupts, at_end)
            except KeyboardInterrupt:  # when all was done but that
                code = EXIT_CODE
        sys.exit(code)

    def _exit_code(
        self, arguments: argparse.Namespace, interrupts: Interrupts, at_end: ExitStack
    ) -> int:
        try:
            with nothing_empty_left(arguments.out):
                return self._run_as_program(arguments, interrupts, at_end)
        except BaseException as fault:
            return EXIT_CODE if interrupts.came else self._told(fault)

    def _run_as_program(
        self, arguments: argparse.Namespace, interrupts: Interrupts, at_end: ExitStack
    ) -> int:
        self.check(arguments)
        if not arguments.quiet:
            print(f"{self.name}: starting Spark", file=sys.stderr, flush=True)
        spark = session.start(self.name, arguments.master, self.conf)
        at_end.callback(session.stop, spark)
        interrupts.follow(spark.sparkContext)
        return self.run_and_write(spark, arguments)

    def _told(self, fault: BaseException) -> int:
        """Report why it ended, in one line or as a bug; return the exit code."""
        told: str | None = None
        if isinstance(fault, PySparkException):
            told = _in_one_line(fault)
        elif isinstance(fault, OfflineError | OSError):
            told = str(fault)  # OSError: a path that may not be read, a bucket that is not
        elif not isinstance(fault, Exception):
            raise fault
        if told is None:  # a bug, and no finding: those end with 1
            traceback.print_exception(fault)
            return 3
        print(f"{self.name}: {told}", file=sys.stderr)
        return 2

    def check(self, arguments: argparse.Namespace) -> None:
        """Check everything that needs no Spark: before seconds of its start, or hours of work."""
        Target(arguments.out).check_writable()
        if self.reads_logs:
            reading.check_logs(arguments, has_topics=self.pattern_is_of_logs)
        if self.check_more is not None:
            self.check_more(arguments)

    def run_and_write(self, spark: Any, arguments: argparse.Namespace) -> int:
        """Run in an existing session what `check` has accepted; return the exit code."""
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
                print(
                    f"{self.name}: no picture was drawn, but the result is complete: {told}",
                    file=sys.stderr,
                )
                exit_code = exit_code or 3
        if not arguments.quiet:
            print(as_text(outcome))
            print(f"written to {arguments.out}: {', '.join(files)}")
        return exit_code

    def _run(self, spark: Any, arguments: argparse.Namespace) -> Outcome:
        """Run, and count what was left out."""
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
            which = "" if rows == found.batches else f"{rows:,} of them in "
            told = f"left out {counted(found.batches, 'corrupt batch')} ({found.bytes:,} bytes)"
            print(f"{self.name}: {told}: {which}table left_out", file=sys.stderr)
        return outcome

    def _draw(self, outcome: Outcome, arguments: argparse.Namespace) -> list[str]:
        """Draw and write the picture; return the names of its files."""
        made = None if arguments.no_picture or self.draw is None else self.draw(outcome)
        if made is None:
            return []
        Target(arguments.out).write(f"{self.name}.png", as_png(made))
        return [f"{self.name}.png"]


def _in_one_line(fault: PySparkException) -> str | None:
    """Return a fault of the logs that a worker met, or else Spark's first line. None: a bug in a
    worker, which Spark reports as a Python exception.
    """
    text = str(fault)
    told = _FAULT.search(text)
    if told is not None:
        return told[1]
    return None if "Traceback (most recent call last)" in text else text.strip().splitlines()[0]
