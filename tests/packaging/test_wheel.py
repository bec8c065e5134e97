"""The wheel alone, in an environment that holds its declared dependencies and nothing else; and an
editable install."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 300


def run(*command: str | Path) -> None:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=DEADLINE_S
    )
    assert done.returncode == 0, done.stdout + done.stderr


def copy_sources(directory: Path) -> Path:
    """A checkout of the name pykbroker in which a broker has run: building leaves files behind."""
    source = directory / "pykbroker"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("pykbroker", "pyspark_pykbroker", "config"):
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    (source / "pykbroker-data" / "greetings-0").mkdir(parents=True)
    return source


def build_wheel(directory: Path) -> Path:
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check")
    source = copy_sources(directory)
    run(*pip, "--no-build-isolation", "--no-deps", "--wheel-dir", directory, source)
    (wheel,) = directory.glob("pykbroker-*.whl")
    return wheel


def needed(requirements: list[str]) -> dict[str, metadata.Distribution]:
    """What these lines and their own requirements name, without extras."""
    found: dict[str, metadata.Distribution] = {}
    waiting = list(requirements)
    while waiting:
        requirement = Requirement(waiting.pop())
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if applies and requirement.name not in found:
            found[requirement.name] = metadata.distribution(requirement.name)
            waiting += found[requirement.name].requires or []
    return found


def link(distribution: metadata.Distribution, site_packages: Path) -> None:
    """Show an installed distribution to another environment of the same interpreter."""
    for file in distribution.files or []:
        first = file.parts[0]
        if first not in ("..", "__pycache__") and not (site_packages / first).exists():
            (site_packages / first).symlink_to(str(distribution.locate_file(first)))


def make_venv(directory: Path, *distributions: metadata.Distribution) -> Path:
    """Make a virtual environment that sees these; return its site-packages."""
    run(sys.executable, "-m", "venv", "--without-pip", directory)
    site_packages = Path(sysconfig.get_path("purelib", vars={"base": str(directory)}))
    for distribution in distributions:
        link(distribution, site_packages)
    return site_packages


def install(venv: Path, *what: str | Path) -> None:
    """Install this, without dependencies."""
    python = venv / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "--quiet", "--no-compile", "--no-deps", "--no-index", *what)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def environment(wheel: Path) -> Path:
    """A virtual environment with the wheel in it."""
    venv = wheel.parent / "venv"
    site_packages = make_venv(venv)
    install(venv, wheel)
    (of_wheel,) = metadata.distributions(name="pykbroker", path=[str(site_packages)])
    for distribution in needed(of_wheel.requires or []).values():
        link(distribution, site_packages)
    return venv


@pytest.fixture
def clean(tmp_path: Path) -> dict[str, str]:
    """An environment in which nothing of the checkout is found."""
    return {"PATH": os.defpath, "HOME": str(tmp_path)}


def test_a_broker_starts_and_serves(
    environment: Path, clean: dict[str, str], tmp_path: Path
) -> None:
    command = str(environment / "bin" / "pykbroker")
    process = subprocess.Popen(
        [command, "start", "--listen", "127.0.0.1:0", "--data-dir", "data"],
        cwd=tmp_path,
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            ready = process.stdout.readline()
            assert ready.startswith("ready node=1 listeners=PLAINTEXT://"), process.communicate()
            address = ready.split("//")[1].split()[0]
            topics = (command, "topics", "--bootstrap-server", address)
            created = subprocess.run(
                [*topics, "--create", "--topic", "t", "--partitions", "3"],
                cwd=tmp_path,
                env=clean,
                capture_output=True,
                text=True,
                timeout=DEADLINE_S,
            )
            assert (created.returncode, created.stdout) == (0, "Created topic t.\n"), created.stderr
        finally:
            process.send_signal(signal.SIGTERM)
            _, log = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0, log
    assert (tmp_path / "data" / "t-2").is_dir()
    assert "Warning" not in log


def test_modules_come_from_the_wheel(
    environment: Path, clean: dict[str, str], tmp_path: Path
) -> None:
    program = "import pykbroker, pykbroker.testing; print(pykbroker.__file__)"
    done = subprocess.run(
        [environment / "bin" / "python", "-c", program],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    assert done.stdout.startswith(str(environment)), done.stderr


def test_the_wheel_has_nothing_of_a_broker_that_ran_beside_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        folders = {name.split("/")[0] for name in archive.namelist()}
        (top_level,) = (name for name in archive.namelist() if name.endswith("/top_level.txt"))
        names = archive.read(top_level).decode().split()
    assert names == ["pykbroker", "pyspark_pykbroker"]
    assert {name for name in folders if not name.endswith(".dist-info")} == set(names)


def test_an_editable_install_above_the_checkout(clean: dict[str, str], tmp_path: Path) -> None:
    """Spark looks for packages in the folders of the path; a script finds the package pykbroker
    and not the folder of that name beside it."""
    source = copy_sources(tmp_path)
    make_venv(tmp_path / "venv", metadata.distribution("setuptools"))
    install(tmp_path / "venv", "--no-build-isolation", "--editable", source)
    program = (
        "import pkgutil, pykbroker.config.cluster_layout as found; print(found.__file__, "
        "[each.name for each in pkgutil.iter_modules() if each.name.startswith('pyspark_')])"
    )
    done = subprocess.run(
        [tmp_path / "venv" / "bin" / "python", "-c", program],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    file = source / "pykbroker" / "config" / "cluster_layout.py"
    assert done.stdout == f"{file} ['pyspark_pykbroker']\n", done.stderr
