"""Finds or installs the strangers that judge us: Apache Kafka's jars, kafkajs, kcat.

Everything lands in one cache directory (`PYKBROKER_TEST_CACHE`, by default
`~/.cache/pykbroker-tests`), so that a second run installs nothing. A tool that cannot be had is a
failure of the test that needs it, never a skip. `python -m tests.harness.tools` gets all of them,
so that a registry which cannot be reached is reported before the tests begin.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

KAFKA_VERSION = "4.4.0"
KAFKAJS_VERSION = "2.2.4"
SPARK_VERSION = "4.2.0"
CONNECT_VERSION = "4.3.1"
SHELL_VERSION = "4.3.1"

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>pykbroker.tests</groupId><artifactId>jars</artifactId><version>1</version>
  <dependencies>{dependencies}</dependencies>
</project>
"""
_DEPENDENCY = (
    "<dependency><groupId>{0}</groupId><artifactId>{1}</artifactId><version>{2}</version>"
    "</dependency>"
)
_LOGGING_JARS = (
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.1"),
    ("org.apache.logging.log4j", "log4j-core", "2.25.1"),
)
_KAFKA_JARS = (
    ("org.apache.kafka", "kafka_2.13", KAFKA_VERSION),
    ("org.apache.kafka", "kafka-tools", KAFKA_VERSION),
    *_LOGGING_JARS,
)
_STREAMS_JARS = (("org.apache.kafka", "kafka-streams", KAFKA_VERSION),)
_CONNECT_JARS = (
    ("org.apache.kafka", "connect-runtime", CONNECT_VERSION),
    ("org.apache.kafka", "connect-file", CONNECT_VERSION),
    *_LOGGING_JARS,
)
_SHELL_JARS = (("org.apache.kafka", "kafka-shell", SHELL_VERSION),)
_COPY_JARS = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


class MissingTool(Exception):
    """A tool that the tests need is not on this machine and could not be installed."""


def cache_dir() -> Path:
    """Where downloaded tools live; made when it is not there."""
    configured = os.environ.get("PYKBROKER_TEST_CACHE")
    path = Path(configured) if configured else Path.home() / ".cache" / "pykbroker-tests"
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def locked(name: str) -> Iterator[Path]:
    """One installer at a time, also over several test processes."""
    directory = cache_dir() / name
    directory.mkdir(exist_ok=True)
    with open(cache_dir() / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield directory


def _run(command: list[str], cwd: Path) -> None:
    if shutil.which(command[0]) is None:
        raise MissingTool(f"{command[0]} is not on PATH")
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=900)
    if done.returncode:
        raise MissingTool(
            f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )


@cache
def kafka_classpath() -> str:
    """The class path of Apache Kafka 4.4 (broker, clients and tools), for `java -cp`."""
    return f"{_jars(f'kafka-{KAFKA_VERSION}', _KAFKA_JARS)}/*"


@cache
def streams_classpath() -> str:
    """The class path of Kafka Streams, with RocksDB, beside Apache Kafka's own."""
    names = "kafka-streams,rocksdbjni"
    return f"{kafka_classpath()}:{_jars(f'kafka-streams-{KAFKA_VERSION}', _STREAMS_JARS, names)}/*"


@cache
def connect_classpath() -> str:
    """The class path of Kafka Connect with its file source and sink (there are none of 4.4.0)."""
    return f"{_jars(f'kafka-connect-{CONNECT_VERSION}', _CONNECT_JARS)}/*"


@cache
def shell_classpath() -> str:
    """The class path of Kafka's metadata shell (there is none of 4.4.0) with the classes of 4.4
    that it reads metadata with; those of its own release know no metadata.version of 4.4."""
    return f"{kafka_classpath()}:{_jars(f'kafka-shell-{SHELL_VERSION}', _SHELL_JARS)}/*"


@cache
def spark_kafka_jars() -> str:
    """Spark's own Kafka connector with what it needs beside pyspark, for `spark.jars`."""
    connector = ("org.apache.spark", "spark-sql-kafka-0-10_2.13", SPARK_VERSION)
    names = "spark-sql-kafka-0-10_2.13,spark-token-provider-kafka-0-10_2.13"
    names += ",kafka-clients,commons-pool2"
    libs = _jars(f"spark-kafka-{SPARK_VERSION}", (connector,), names)
    return ",".join(str(jar) for jar in sorted(libs.glob("*.jar")))


def _jars(name: str, jars: tuple[tuple[str, str, str], ...], only: str = "") -> Path:
    """A directory with these jars and all that they need, or `only` the artifacts named."""
    with locked(name) as directory:
        libs = directory / "libs"
        if not (directory / "complete").exists():
            dependencies = "".join(_DEPENDENCY.format(*jar) for jar in jars)
            (directory / "pom.xml").write_text(_POM.format(dependencies=dependencies))
            options = [f"-DoutputDirectory={libs}", f"-DincludeArtifactIds={only}"]
            _run(["mvn", "-q", "-B", _COPY_JARS, *options], directory)
            (directory / "complete").touch()
        return libs


@cache
def java() -> str:
    """The path of the `java` command."""
    return _required("java")


@cache
def kcat() -> str:
    """The path of the `kcat` command."""
    return _required("kcat")


@cache
def node_modules() -> Path:
    """A directory with kafkajs in it, for NODE_PATH."""
    _required("node")
    with locked(f"kafkajs-{KAFKAJS_VERSION}") as directory:
        if not (directory / "complete").exists():
            command = ["npm", "install", "--no-audit", "--no-fund", f"kafkajs@{KAFKAJS_VERSION}"]
            (directory / "package.json").write_text('{"private": true}')
            _run(command, directory)
            (directory / "complete").touch()
        return directory / "node_modules"


@cache
def prometheus() -> str:
    """The path of Prometheus' server: the installed one, or the program out of Debian's package.

    The package is unpacked and not installed: installing it would start a service.
    """
    installed = shutil.which("prometheus")
    if installed is not None:
        return installed
    with locked("prometheus") as directory:
        program = directory / "usr" / "bin" / "prometheus"
        if not (directory / "complete").exists():
            _download_package("prometheus", directory)
            (package,) = directory.glob("prometheus_*.deb")
            _run(["dpkg-deb", "-x", str(package), str(directory)], directory)
            package.unlink()
            (directory / "complete").touch()
        return str(program)


def _download_package(name: str, directory: Path) -> None:
    """Debian's package of this name; its lists are brought up to date when they are too old."""
    download = ["apt-get", "-q", "download", name]
    try:
        _run(download, directory)
    except MissingTool:
        as_root = [] if os.geteuid() == 0 else ["sudo"]
        _run([*as_root, "apt-get", "-q", "update"], directory)
        _run(download, directory)


def _required(command: str) -> str:
    path = shutil.which(command)
    if path is None:
        raise MissingTool(f"{command} is not on PATH (scripts/test.sh installs it)")
    return path


ALL_TOOLS: Mapping[str, Callable[[], object]] = {
    "Apache Kafka's jars, from Maven's repository": kafka_classpath,
    "Kafka Streams' jars, from Maven's repository": streams_classpath,
    "Kafka Connect's jars, from Maven's repository": connect_classpath,
    "Kafka's metadata shell, from Maven's repository": shell_classpath,
    "Spark's Kafka connector, from Maven's repository": spark_kafka_jars,
    "kafkajs, from npm's registry": node_modules,
    "kcat, from Debian's packages": kcat,
    "Prometheus, from Debian's packages": prometheus,
}


def main(tools: Mapping[str, Callable[[], object]] = ALL_TOOLS) -> int:
    """Get every tool; print those that cannot be had, with the reason."""
    missing = 0
    for what, get in tools.items():
        try:
            get()
        except (MissingTool, OSError, subprocess.TimeoutExpired) as error:
            print(f"Cannot get {what}: {error}", file=sys.stderr)
            missing += 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
