"""Sessions: settings, and the package that travels to the workers."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from pykbroker.spark import package, register, tuned_conf
from pykbroker.spark.session import PUSHDOWN


def printed_from(archive: str, code: str, cwd: Path) -> list[str]:
    """The words that a Python prints that has only the archive on its path."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": archive},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stdout.split()


def test_the_package_is_importable_from_its_zip(tmp_path: Path) -> None:
    archive = package(str(tmp_path / "p.zip"))
    names = zipfile.ZipFile(archive).namelist()
    assert "pykbroker/spark/source.py" in names
    assert not [name for name in names if "test" in name.split("/")[0] or ".pyc" in name]
    code = "import pykbroker.spark as s; print(s.__file__, s.package())"
    where, again = printed_from(archive, code, tmp_path)
    assert where.startswith(archive)
    assert again == archive  # a worker ships what it runs from
    assert package() == package()


def test_internal_topics_are_decoded_from_the_zip(tmp_path: Path) -> None:
    """Their JSON columns need the schemas of the messages, which are no Python."""
    code = """
import pyarrow as pa
from pykbroker.offline.columns import TIMESTAMP_TYPE
from pykbroker.offline.internal_topics import records_of
from pykbroker.protocol.messages.offset_commit_key import OffsetCommitKey
from pykbroker.protocol.parts_writer import join_parts

parts = []
OffsetCommitKey(group="g", topic="t", partition=3).encode(parts, 0)
columns = {
    "partition": pa.array([0], pa.int32()),
    "offset": [1],
    "timestamp": pa.array([0], TIMESTAMP_TYPE),
    "key": [bytes([0, 1]) + join_parts(parts)],
    "value": pa.array([None], pa.binary()),
}
(row,) = records_of("__consumer_offsets", pa.RecordBatch.from_pydict(columns)).to_pylist()
print(row["group"], row["topic_partition"], row["fault"])
"""
    assert printed_from(package(str(tmp_path / "p.zip")), code, tmp_path) == ["g", "3", "None"]


def test_register_sets_what_matters_and_can_be_repeated(spark: Any) -> None:
    spark.conf.set(PUSHDOWN, "false")
    assert register(spark) is spark
    assert spark.conf.get(PUSHDOWN) == "true"
    for name, value in tuned_conf().items():
        assert spark.conf.get(name) == value
