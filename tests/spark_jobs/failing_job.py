"""A program for test_send_once: a job whose task notes each attempt in a file, and fails."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from pykbroker.spark import map_items
from spark_jobs.parts.clients import SEND_ONCE
from spark_jobs.parts.job import Job
from spark_jobs.parts.results import Outcome


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--notes")


def run(spark: Any, arguments: Namespace) -> Outcome:
    def note(path: str) -> Iterator[Any]:
        with open(path, "a") as notes:
            notes.write("sent\n")
        raise ValueError("in the middle of it")
        yield  # type: ignore[unreachable]

    map_items(spark, [arguments.notes], note, "number bigint").collect()
    return Outcome()


JOB = Job(__file__, __doc__, run, arguments=arguments, reads_logs=False, conf=SEND_ONCE)

if __name__ == "__main__":
    JOB.main()
