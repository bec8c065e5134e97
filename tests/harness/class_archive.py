"""The classes of Apache Kafka as a JVM has parsed them: with this file it starts a third sooner.

The JVM uses it only with the same jars, and the file is named after them and after the JVM. It is
made at the first use, in the cache directory of the tools, and serves later runs as well. Where no
such file can be made, everything runs without it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path

from tests.harness.tools import KAFKA_VERSION, java, kafka_classpath, locked

NAME = f"kafka-{KAFKA_VERSION}-classes"


@cache
def archive_options(make: Callable[[Path], None]) -> tuple[str, ...]:
    """Return the options of a JVM that uses the archive; `make(path)` writes it if need be.

    A JVM that cannot use the archive starts without it, and prints no warning.
    """
    with locked(NAME) as directory:
        path = directory / f"{fingerprint()}.jsa"
        if not path.exists():
            for old in directory.iterdir():
                old.unlink()
            written = directory / "unfinished"
            try:
                make(written)
                written.rename(path)
            except (AssertionError, OSError, subprocess.SubprocessError):
                path.touch()  # it cannot be made; if no node starts at all, tests will fail
        if not path.stat().st_size:
            return ()
        return ("-Xshare:auto", f"-XX:SharedArchiveFile={path}", "-Xlog:disable")


def fingerprint() -> str:
    """Return what is different for another JVM and for other jars."""
    jars = sorted(Path(kafka_classpath().removesuffix("*")).iterdir())
    found = [_version(Path(os.path.realpath(java()))), *map(_version, jars)]
    return blake2b("\n".join(found).encode(), digest_size=8).hexdigest()


def _version(path: Path) -> str:
    status = path.stat()
    return f"{path} {status.st_size} {status.st_mtime_ns}"
