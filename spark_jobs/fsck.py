"""Check log directories without changing anything. The exit code is 1 if there are errors.

Checksums are verified and records decoded; offsets, leader epochs, producer sequences, offset
indexes, time indexes and transaction indexes are compared with the batches. The check can be
restricted to topics and partitions: each of them is checked as a whole from its log start offset,
whatever transactions it holds.

    error     a file is unreadable or damaged, or contradicts itself or another
    warning   what a broker repairs
    note      no fault in itself, often normal in a log that is compacted or being written to
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pykbroker.offline import (
    FINDING_SCHEMA,
    Corruption,
    ReadOptions,
    Selection,
    Split,
    pack_splits,
    read_split,
)
from pykbroker.offline.findings import ERROR, NOTE, WARNING, Finding
from pykbroker.offline.fsck import structure_findings, unreadable_file
from pykbroker.offline.partition_files import PartitionFiles
from pykbroker.offline.planning import plan_partition
from pykbroker.offline.selecting import look_at_each, while_listed
from pykbroker.offline.split import DROPMALFORMED
from pykbroker.spark import map_items
from pykbroker.spark.options import SourceOptions, parse_options
from pykbroker.spark.tasks import base_selection
from spark_jobs.parts import pictures
from spark_jobs.parts.job import Job
from spark_jobs.parts.progress import step
from spark_jobs.parts.reading import source_options
from spark_jobs.parts.results import Outcome
from spark_jobs.parts.wording import counted

COLUMNS: Final = ("offset", "timestamp", "key", "value", "headers")
_FINDINGS: Final = pa.schema([*FINDING_SCHEMA, ("records", pa.int64()), ("bytes", pa.int64())])
_DDL: Final = (
    "topic string, partition int, severity string, `check` string, path string, position bigint, "
    "offset bigint, detail string, records bigint, bytes bigint"
)
#: Arguments and options that would make it look at less, and still say that all is well.
LESS: Final = (
    "since",
    "until",
    "isolation",
    "mode",
    "where",
    "endBound",
    "failOnDataLoss",
    "verifyChecksums",
    "kafka.check.crcs",
)
#: Options of tasks, which are cut by their size alone.
_OF_TASKS: Final = ("minPartitions", "maxRecordsPerPartition")
#: So finely splits are cut, to be packed evenly.
_CUT: Final = 32 << 20
#: Not a finding: what was read of a file.
_READ: Final = "read"
#: The height of a bar; its remark stands above it.
_BAR: Final = 0.45
#: So many letters of a remark are as wide as the picture.
_LETTERS: Final = 120
_COLOURS: Final = {ERROR: pictures.BAD, WARNING: pictures.OPEN, NOTE: "#555555"}


def run(spark: Any, arguments: Namespace) -> Outcome:
    options = parse_options(source_options(arguments, COLUMNS))
    chosen = base_selection(options)
    cut = min(options.split_bytes, _CUT)
    step("listing what there is")
    planned = look_at_each(chosen, lambda each: _planned(each, chosen, cut), may_be_faulty=True)
    splits = [split for each in planned for split in each.splits]
    tasks = pack_splits(splits, options.split_bytes, spark.sparkContext.defaultParallelism)
    how = read_options(options)
    step("verifying checksums and decoding every record")
    read = map_items(spark, tasks, lambda task: _read(task, how), _DDL).toArrow()
    step("checking offsets, sequences and indexes")
    files = [each.files for each in planned]
    structure = map_items(spark, files, _check, _DDL).toArrow()
    unplanned = [_rows(each.files, each.unreadable) for each in planned]
    found = pa.concat_tables([read, structure, pa.Table.from_batches(unplanned, _FINDINGS)])
    findings, files_read = _apart(found)
    counts = dict.fromkeys((ERROR, WARNING, NOTE), 0)
    for each in findings.column("severity").to_pylist():
        counts[each] += 1
    summary: dict[str, Any] = {
        "partitions": len(files),
        "segments": sum(len(each.segments) for each in files),
        "records": sum(files_read.column("records").to_pylist()),
        "bytes": sum(files_read.column("bytes").to_pylist()),
        "is_sound": not counts[ERROR],
    }
    summary |= {f"{name}s": count for name, count in counts.items()}
    tables = {"findings": findings, "files": files_read}
    return Outcome(tables, summary, exit_code=1 if counts[ERROR] else 0)


def _apart(found: Any) -> tuple[Any, Any]:
    """Findings, each once (several checks may meet a file that cannot be read), and what was read
    of each file."""
    severity = pc.field("severity")
    findings = found.filter(severity != _READ).select(FINDING_SCHEMA.names)
    order = ("severity", "topic", "partition", "path", "position")
    findings = findings.group_by(findings.column_names).aggregate([])
    places = ["topic", "partition", "path"]
    sums = [("records", "sum"), ("bytes", "sum")]
    files = found.filter(severity == _READ).group_by(places).aggregate(sums)
    files = files.rename_columns([*places, "records", "bytes"])
    return (
        findings.sort_by([(name, "ascending") for name in order]),
        files.sort_by([(name, "ascending") for name in places]),
    )


class _Planned(NamedTuple):
    """A partition, and what must be decoded of it."""

    files: PartitionFiles
    splits: list[Split]
    unreadable: list[Finding]


def _planned(files: PartitionFiles, chosen: Selection, cut: int) -> _Planned:
    try:
        return _Planned(files, plan_partition(files, chosen, cut)[1], [])
    except FileNotFoundError:
        raise  # it is listed again
    except OSError as fault:
        return _Planned(files, [], [unreadable_file(fault, files.directory)])


def read_options(options: SourceOptions) -> ReadOptions:
    """Return options that decode everything; offsets are checked with the structure."""
    return ReadOptions(
        COLUMNS,
        DROPMALFORMED,
        decoder=options.decoder,
        chunk_bytes=options.chunk_bytes,
        max_decompressed_bytes=options.max_decompressed_bytes,
        verify_offsets=False,
    )


def _read(task: Sequence[Split], options: ReadOptions) -> Iterator[Any]:
    """In the workers: decode everything; return a row for each fault, and one for what was read."""
    rows: list[dict[str, Any]] = []
    for split in task:
        faults: list[Corruption] = []
        found: list[Finding] = []
        records = 0
        try:
            for batch in read_split(split, options, faults.append):
                records += batch.num_rows
        except OSError as fault:
            found.append(unreadable_file(fault, split.path))
        found += [
            Finding(ERROR, "batches", each.path, each.position, each.base_offset, each.reason)
            for each in faults
        ]
        place = {"topic": split.topic, "partition": split.partition}
        rows += [place | each._asdict() for each in found]
        read = {"path": split.path, "records": records, "bytes": split.size_bytes}
        rows.append(place | {"severity": _READ} | read)
    yield pa.RecordBatch.from_pylist(rows, schema=_FINDINGS)


def _check(files: PartitionFiles) -> Iterator[Any]:
    """In the workers: check headers, indexes and small files."""
    paths = [files.directory]
    found = while_listed(paths, files, structure_findings, may_be_faulty=True)
    yield _rows(files, found or [])


def _rows(files: PartitionFiles, findings: Sequence[Finding]) -> Any:
    place = {"topic": files.topic, "partition": files.partition}
    return pa.RecordBatch.from_pylist(
        [place | each._asdict() for each in findings], schema=_FINDINGS
    )


def draw(outcome: Outcome) -> Any:
    sizes: dict[tuple[str, int], dict[str, int]] = {}
    for row in outcome.tables["files"].to_pylist():
        by_path = sizes.setdefault((row["topic"], row["partition"]), {})
        by_path[row["path"]] = by_path.get(row["path"], 0) + row["bytes"]
    findings = outcome.tables["findings"].to_pylist()
    faulty = {(row["topic"], row["partition"]) for row in findings if row["severity"] == ERROR}
    shown = sorted(sizes, key=lambda place: (place not in faulty, place))[:20]
    of = counted(len(sizes), "partition")
    title = f"{len(faulty)} of {of} {'has' if len(faulty) == 1 else 'have'} errors"
    if not faulty:
        title = "Sound"
    if len(shown) < len(sizes):
        title += f" ({len(shown)} of {of} drawn)"
    made, axes = pictures.figure(title, inches=(9.0, max(4.2, 1.2 + 0.4 * len(shown))))
    for at, place in enumerate(shown):
        start = 0.0
        starts = {}
        for path, size in sorted(sizes[place].items()):
            starts[path] = start
            bar = {"color": "#cfe3d4", "edgecolor": "white"}
            axes.barh(at, size / 1e6, _BAR, start / 1e6, **bar)
            start += size
        for row in findings:
            if (row["topic"], row["partition"]) == place and row["path"] in starts:
                x = (starts[row["path"]] + (row["position"] or 0)) / 1e6
                axes.plot([x, x], [at - _BAR / 2, at + _BAR / 2], color=_COLOURS[row["severity"]])
        mine = [row for row in findings if (row["topic"], row["partition"]) == place]
        worst = next((name for name in _COLOURS if any(r["severity"] == name for r in mine)), NOTE)
        # Above the bar, where it has the whole width.
        above = {"fontsize": 8, "va": "bottom", "color": _COLOURS[worst]}
        axes.text(0, at - _BAR / 2, _shortened(_in_words(mine)), **above)
    axes.set_ylim(-0.8, len(shown) - 0.5)
    axes.set_xlim(left=-axes.get_xlim()[1] / 100)  # what stands at 0 is not hidden by the axis
    axes.set_yticks(range(len(shown)), [f"{topic}-{number}" for topic, number in shown], fontsize=8)
    axes.invert_yaxis()
    pictures.label(axes, "MB of segments; faults where they stand", "")
    return made


def _in_words(findings: list[dict[str, Any]]) -> str:
    """What is found in a partition, those of indexes and of what cannot be read too."""
    counts: dict[tuple[str, str], int] = {}
    for row in findings:
        kind = (row["severity"], row["check"])
        counts[kind] = counts.get(kind, 0) + 1
    words = [f"{severity}: {check} ({count})" for (severity, check), count in counts.items()]
    placed = [row for row in findings if row["severity"] == ERROR and row["position"] is not None]
    if placed:
        base, _, kind = placed[0]["path"].rpartition("/")[2].partition(".")
        words.append(f"first at {placed[0]['position']:,} of {base.lstrip('0') or 0}.{kind}")
    tails = [row["detail"] for row in findings if row["check"] == "tail"]
    return ", ".join([*words, *tails])


def _shortened(text: str) -> str:
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"


JOB: Final = Job(__file__, __doc__, run, draw=draw, without=(*LESS, *_OF_TASKS))

if __name__ == "__main__":
    JOB.main()
