"""Results as files and as text."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pykbroker.spark.target import Target
from spark_jobs.parts.results import (
    JSON,
    PARQUET,
    Outcome,
    clear_outcome,
    text_of,
    write_outcome,
)

TABLE = pa.table({"key": [b"a", b"\xff", None], "n": [1, 2, 3]})


def test_written(tmp_path: Path):
    outcome = Outcome({"hot": TABLE}, {"records": 6, "at": datetime(2013, 1, 1, tzinfo=UTC)})
    out = str(tmp_path / "deep" / "out")
    files = write_outcome(outcome, out, PARQUET, "keys")
    assert files == ["hot.parquet", "summary.json"]
    assert sorted(path.name for path in Path(out).iterdir()) == sorted(files)
    assert pq.read_table(f"{out}/hot.parquet").equals(TABLE)
    summary = json.loads((Path(out) / "summary.json").read_text())
    named = {"job": "keys", "tables": ["hot.parquet"]}
    assert summary == named | {"records": 6, "at": "2013-01-01T00:00:00+00:00"}


def test_json_lines(tmp_path: Path):
    write_outcome(Outcome({"hot": TABLE}), str(tmp_path), JSON, "keys")
    lines = (tmp_path / "hot.json").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"key": "a", "n": 1},
        {"key": "base64:/w==", "n": 2},
        {"key": None, "n": 3},
    ]


def test_an_earlier_result_goes(tmp_path: Path):
    """All of it, and nothing that is not named there; also one of another job."""
    out = tmp_path / "out"
    write_outcome(Outcome({"hot": TABLE, "cold": TABLE}), str(out), PARQUET, "keys")
    for name in ("keys.png", "hot.json", "other.png"):
        (out / name).write_text("")
    (tmp_path / "beside").write_text("")
    summary = json.loads((out / "summary.json").read_text())
    summary["tables"] += ["gone.parquet", "../beside"]
    (out / "summary.json").write_text(json.dumps(summary))
    clear_outcome(str(out))
    assert {each.name for each in out.iterdir()} == {"hot.json", "other.png"}
    assert (tmp_path / "beside").exists()
    clear_outcome(str(tmp_path / "not there"))


@pytest.mark.parametrize(
    "content",
    [
        '{"job": "keys", "tables": [[], {}, 5]}',
        "",
        "[]",
        '{"records": 7}',
        '{"job": 1, "tables": 2}',
    ],
)
def test_what_names_no_result(tmp_path: Path, content: str):
    (tmp_path / "summary.json").write_text(content)
    clear_outcome(str(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "value, text",
    [(None, "(null)"), (b"N1", "N1"), (b"\xff", "base64:/w=="), (b"a\nb", "base64:YQpi")],
)
def test_text_of(value: bytes | None, text: str):
    assert text_of(value) == text


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_half_a_result_is_none(
    tmp_path: Path, fault: BaseException, monkeypatch: pytest.MonkeyPatch
):
    """Interrupted, or on a full disk: tables that no summary names are not left."""
    write = Target.write

    def failing(target: Target, name: str, payload: bytes) -> None:
        if name == "summary.json":
            raise fault
        write(target, name, payload)

    monkeypatch.setattr(Target, "write", failing)
    (tmp_path / "of others").write_text("")
    with pytest.raises(type(fault)):
        write_outcome(Outcome({"one": TABLE, "two": TABLE}), str(tmp_path), PARQUET, "keys")
    assert [path.name for path in tmp_path.iterdir()] == ["of others"]
