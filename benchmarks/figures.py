"""The file that `--json` writes: the figures of a benchmark, and where they were taken.

    {"circumstances": {"machine": ..., "versions": ..., "commit": ..., "day": ...}, "rows": [...]}

`benchmarks.picture` draws the rows of a comparison from it.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tests.harness.tools import KAFKA_VERSION

_ROOT: Final = Path(__file__).parents[1]
_GIBIBYTE: Final = 1 << 30


def write_figures(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows, with the circumstances of now."""
    figures = {"circumstances": circumstances(), "rows": list(rows)}
    file.write_text(json.dumps(figures, indent=2) + "\n")


def circumstances() -> dict[str, str]:
    """Return what figures depend on, as texts: the machine, versions, the commit, the day (UTC)."""
    return {
        "machine": _machine(),
        "versions": ", ".join(
            (
                f"Apache Kafka {KAFKA_VERSION}",
                f"{platform.python_implementation()} {platform.python_version()}",
                _java(),
            )
        ),
        "commit": _commit(),
        "day": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIBIBYTE
    told = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    model = told[1] if told else platform.machine()
    return f"{os.cpu_count()} processors ({model}), {memory:.0f} GiB"


def _java() -> str:
    told = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
    version = re.search(r'version "([^"]+)"', told)
    return f"Java {version[1]}" if version else "Java"


def _commit() -> str:
    """Return the short id of the commit, and whether files differ from it; "unknown" without git's
    answer.
    """
    commit, status = _git("rev-parse", "--short", "HEAD"), _git("status", "--porcelain")
    if commit is None or status is None:
        return "unknown"
    return f"{commit} with changes" if status else commit


def _git(*words: str) -> str | None:
    """Return what git prints; None if it fails, as outside a checkout."""
    done = subprocess.run(["git", *words], cwd=_ROOT, capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout.strip()
