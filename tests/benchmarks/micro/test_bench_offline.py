"""Every shape of files, every choice of columns."""

from __future__ import annotations

from benchmarks.micro.bench_offline import ROWS
from tests.benchmarks.running import check_rows, numbers, run

SMALL = ("--bytes", "300000", "--rounds", "1")


def test_every_row_is_there() -> None:
    head, *rows, headers = run("micro.bench_offline", *SMALL)
    assert " ".join(head.split()) == "columns M rec/s GB/s reads of floor goal"
    assert len(rows) == len(ROWS) > 10
    for line, row in zip(rows, ROWS, strict=True):
        assert line.startswith(row.shape.name)
        assert line.endswith(row.goal)
        label = line[26:36].split()
        columns = list(row.columns) if len(row.columns) == 1 else [str(len(row.columns))]
        assert label == columns + ["plain"] * (row.decoder == "plain")
        figures = numbers(line[36 : len(line) - len(row.goal)])
        assert len(figures) == 3 + (len(row.columns) > 1)  # a column has no part of the floor
        assert all(figure > 0 for figure in figures)
    check_rows([headers], ["100 B, 16 KB batches      headers"], 2)  # a batch, the goal


def test_rows_are_chosen_by_name() -> None:
    _, *rows = run("micro.bench_offline", *SMALL, "--appended", "lz4", "snappy")
    assert [row[:26].strip() for row in rows] == ["100 B, 16 KB, lz4", "100 B, 16 KB, snappy"]
