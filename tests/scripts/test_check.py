"""The last check of scripts/check.sh: a link that leads nowhere fails it."""

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
