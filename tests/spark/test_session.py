"""Sessions: settings, and the package that travels to the workers."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from pykbroker.spark import package, register, tuned_conf
from pykbroker.spark.session import PUSHDOWN


def test_the_package_is_importable_from_its_zip(tmp_path: Path) -> None:
    archive = package(str(tmp_path / "p.zip"))
    names = zipfile.ZipFile(archive).namelist()
    assert "pykbroker/spark/source.py" in names
    assert not [name for name in names if "test" in name.split("/")[0] or ".pyc" in name]
    code = "import pykbroker.spark as s; print(s.__file__, s.package())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": archive},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    where, again = done.stdout.split()
    assert where.startswith(archive)
    assert again == archive  # a worker ships what it runs from
    assert package() == package()


def test_the_schemas_of_messages_travel_in_the_zip(tmp_path: Path) -> None:
    archive = package(str(tmp_path / "p.zip"))
    code = (
        "from pykbroker.protocol.schema import message_schema as m;"
        "print(m('OffsetCommitKey').name, m('ProduceRequest').name, m('RequestHeader').name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": archive},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["OffsetCommitKey", "ProduceRequest", "RequestHeader"]


def test_register_sets_what_matters_and_can_be_repeated(spark: Any) -> None:
    spark.conf.set(PUSHDOWN, "false")
    assert register(spark) is spark
    assert spark.conf.get(PUSHDOWN) == "true"
    for name, value in tuned_conf().items():
        assert spark.conf.get(name) == value
