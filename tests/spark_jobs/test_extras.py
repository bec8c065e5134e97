"""What `pip install '.[spark]'` brings is enough: nothing that only the tests install is used."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from types import ModuleType

import pytest

from spark_jobs import find, rate_over_time
from tests.offline.samples import partition_directory, simple_batches, write_segment

ROOT = Path(__file__).resolve().parents[2]
#: Part of an installation, whatever is installed.
ALWAYS = {"pykbroker", "pip", "setuptools"}
GATE = """
import json, os, sys
from importlib.machinery import PathFinder


class Gate(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in refused:
            return None
        return super().find_spec(name, path, target)


refused = set(json.loads(os.environ["REFUSED_MODULES"]))
sys.meta_path[:] = [Gate if each is PathFinder else each for each in sys.meta_path]
"""


Gated = Callable[..., "subprocess.CompletedProcess[str]"]


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def named(requirement: str) -> str | None:
    """The distribution; None of one that needs an extra, or another Python."""
    text, _, condition = requirement.partition(";")
    if "extra" in condition or "python_version <" in condition or "win32" in condition:
        return None
    match = re.match(r"[A-Za-z0-9._-]+", text)
    assert match is not None
    return plain(match[0])


def closure(names: set[str]) -> set[str]:
    """Distributions, and all that they need."""
    known: set[str] = set()
    wanted = set(names)
    while wanted:
        name = wanted.pop()
        known.add(name)
        try:
            needed = requires(name) or []
        except PackageNotFoundError:
            continue
        wanted |= {found for each in needed if (found := named(each))} - known
    return known


def refused_modules(extra: str) -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"][extra]]
    allowed = closure({found for each in asked if (found := named(each))}) | ALWAYS
    return [
        module
        for module, owners in packages_distributions().items()
        if not allowed & {plain(owner) for owner in owners}
    ]


@pytest.fixture
def gated(tmp_path: Path) -> Gated:
    """Runs Python with the modules of an extra alone, in workers of Spark too."""
    (tmp_path / "gate").mkdir()
    (tmp_path / "gate" / "sitecustomize.py").write_text(GATE)

    def run(extra: str, *words: str) -> subprocess.CompletedProcess[str]:
        environment = dict(os.environ)
        environment["REFUSED_MODULES"] = json.dumps(refused_modules(extra))
        environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path / "gate"), str(ROOT)])
        return subprocess.run(
            [sys.executable, *words], env=environment, capture_output=True, text=True, timeout=300
        )

    return run


def test_the_gate_is_shut(gated: Gated):
    assert {"pytest", "duckdb", "polars"} <= set(refused_modules("spark"))
    done = gated("spark", "-c", "import duckdb")
    assert "No module named 'duckdb'" in done.stderr
    assert gated("spark", "-c", "import pyspark, pandas, matplotlib, kafka").returncode == 0


def test_offline(gated: Gated, tmp_path: Path):
    write_segment(partition_directory(tmp_path / "logs"), simple_batches(2))
    code = "from pykbroker.offline import fsck, open_log; import sys; at = sys.argv[1]; "
    code += "assert open_log(at).read_all().num_rows == 20; assert fsck(at).num_rows == 0"
    done = gated("offline", "-c", code, str(tmp_path / "logs"))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize("job", [rate_over_time, find])
def test_jobs(gated: Gated, tmp_path: Path, job: ModuleType):
    write_segment(partition_directory(tmp_path / "logs"), simple_batches(2))
    out = tmp_path / "out"
    done = gated("spark", job.__file__, "--path", str(tmp_path / "logs"), "--out", str(out))
    assert done.returncode == 0, done.stderr[-3000:]
    assert {"summary.json", f"{job.JOB.name}.png"} <= {path.name for path in out.iterdir()}
