"""Export records as Parquet. The workers write it with pyarrow: no row passes through the JVM.

Each task writes one file to --to (a directory or URI). A file appears only when it is complete, and
`_SUCCESS` appears last. spark.read.parquet and other Parquet readers can read the files.
--columns selects columns by their names in docs/analytics.md.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pykbroker.spark import to_parquet
from pykbroker.spark.parquet_export import refuse_filled
from pykbroker.spark.target import Target
from spark_jobs.parts import pictures
from spark_jobs.parts.job import Job
from spark_jobs.parts.progress import step
from spark_jobs.parts.reading import source_options
from spark_jobs.parts.results import Outcome, nothing_empty_left
from spark_jobs.parts.wording import counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--to", required=True, help="directory or URI of the Parquet files")
    parser.add_argument(
        "--columns", default="", help="column names, comma separated (default: Kafka's seven)"
    )
    parser.add_argument(
        "--compression",
        default="zstd",
        choices=("none", "snappy", "gzip", "lz4", "zstd"),
        help="codec of the Parquet files",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace the files in --to")


def check(arguments: Namespace) -> None:
    target = Target(arguments.to)
    if not arguments.overwrite:
        refuse_filled(target)
    with nothing_empty_left(arguments.to):
        target.check_writable()


def run(spark: Any, arguments: Namespace) -> Outcome:
    target = Target(arguments.to)
    columns = [each.strip() for each in arguments.columns.split(",") if each.strip()]
    step(f"writing {arguments.to}")
    began = time.perf_counter()
    report = to_parquet(
        spark,
        source_options(arguments, columns),
        arguments.to,
        compression=arguments.compression,
        overwrite=arguments.overwrite,
    )
    seconds = time.perf_counter() - began
    # Not read back with Spark: it may have no file system for a URI that pyarrow knows.
    sizes = [target.size(name) for name in report.files]
    columns_of_files = {"file": list(report.files), "bytes": sizes}
    files = pa.table(
        columns_of_files, schema=pa.schema([("file", pa.string()), ("bytes", pa.int64())])
    )
    summary = {
        "records": report.rows,
        "files": len(report.files),
        "bytes": report.bytes,
        "corrupt_batches": report.corrupt_batches,
        "records_per_second": report.rows / seconds,
    }
    return Outcome({"files": files}, summary)


def draw(outcome: Outcome) -> Any:
    """Draw how much was written, and whether the files are of similar size."""
    sizes = {row["file"]: row["bytes"] for row in outcome.tables["files"].to_pylist()}
    if not sizes:
        return None
    rows, total = outcome.summary["records"], sum(sizes.values())
    what = f"{counted(rows, 'record')} in {counted(len(sizes), 'Parquet file')}"
    each = f", {pictures.size(total / rows)} a record" if rows else ""
    made, axes = pictures.figure(f"{what}: {pictures.size(total)}{each}")
    shown, others = pictures.ranked(sizes)
    pictures.bars(axes, shown, [sizes[name] for name in shown], told=pictures.size)
    told = ""
    if others:
        rest = pictures.size(sum(sizes[name] for name in others))
        told = f"the {len(shown)} largest; the other {len(others)}: {rest}"
    pictures.label(axes, "size of the file", "", told)
    return made


JOB: Final = Job(__file__, __doc__, run, arguments=arguments, draw=draw, check_more=check)

if __name__ == "__main__":
    JOB.main()
