"""scripts/check.sh: a link that leads nowhere fails it, and an example of the README does not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("link", "code"), [("operations.md#metrics", 0), ("operations.md#nothing", 1), ("no.md", 1)]
)
def test_links_of_the_docs_are_checked(tmp_path: Path, link: str, code: int) -> None:
    script = (ROOT / "scripts" / "check.sh").read_text("utf-8")
    found = re.search(r"^\S*=1 mkdocs (build .*) --site-dir", script, re.M)
    assert found is not None
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    (tmp_path / "docs" / "index.md").write_text(f"[a link]({link})\n")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", *found[1].split(), "--site-dir", str(tmp_path / "site")],
        cwd=tmp_path,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == code, done.stdout + done.stderr


def test_the_example_of_the_readme_is_not_checked(tmp_path: Path) -> None:
    """It is saved beside the sources."""
    script = (ROOT / "scripts" / "check.sh").read_text("utf-8")
    assert "\nruff check .\nruff format --check .\n" in script
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True, timeout=300)
    for name in ("pyproject.toml", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "pykbroker").mkdir()
    (tmp_path / "pykbroker" / "ours.py").write_text("print(1)\n")
    (tmp_path / "hello.py").write_text("print( 1 )\n")
    for arguments, expected in ((("check",), "ours.py"), (("format", "--check"), "1 file already")):
        command = [sys.executable, "-m", "ruff", *arguments, "."]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert expected in done.stdout
        assert "hello.py" not in done.stdout
