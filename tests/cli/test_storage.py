from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.protocol.primitives import uuid_from_str
from tests.cli.conftest import Run

CLUSTER = "5L6g3nShT-eMCtK--X86sw"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "server.properties"
    path.write_text(
        "process.roles=broker,controller\nnode.id=4\ncontroller.listener.names=CONTROLLER\n"
        "listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093\n"
        "controller.quorum.bootstrap.servers=127.0.0.1:9093\n"
        f"log.dirs={tmp_path}/one,{tmp_path}/two\n"
    )
    return path


def test_random_uuid(run: Run) -> None:
    first, second = run("storage", "random-uuid"), run("storage", "random-uuid")
    assert len(uuid_from_str(first.out.strip())) == 16
    assert first.out != second.out


def test_format_and_info(run: Run, file: Path, tmp_path: Path) -> None:
    empty = run("storage", "info", "-c", str(file))
    assert (empty.code, empty.lines[0]) == (1, "Found problems:")
    assert empty.lines[1] == f"  {tmp_path}/one does not exist"
    done = run("storage", "format", "-t", CLUSTER, "-c", str(file))
    assert done.code == 0
    assert done.lines[0].startswith("Bootstrap metadata: BootstrapMetadata(records=[")
    version = "metadata.version 4.4-IV2."
    assert done.lines[1:] == [
        f"Formatting data directory {tmp_path}/two with {version}",
        f"Formatting dynamic metadata voter directory {tmp_path}/one with {version}",
    ]
    told = run("storage", "info", "-c", str(file))
    assert told.code == 0
    assert told.lines[:3] == ["Found log directories:", f"  {tmp_path}/one", f"  {tmp_path}/two"]
    assert told.lines[4].startswith(f"Found metadata: {{cluster.id={CLUSTER}, directory.id=")
    assert told.lines[4].endswith(", node.id=4, version=1}")


def test_formatting_twice(run: Run, file: Path, tmp_path: Path) -> None:
    again = ("storage", "format", "-t", CLUSTER, "-c", str(file))
    assert run(*again).code == 0
    refused = run(*again)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        f"Log directory {tmp_path}/one is already formatted. Use --ignore-formatted to ignore this "
        "directory and format the others.\n"
    )
    ignored = run(*again, "--ignore-formatted")
    assert (ignored.code, ignored.out) == (
        0,
        "All of the log directories are already formatted.\n",
    )
    other = run("storage", "format", "-t", "5L6g3nShT-eMCtK--X86sg", "-c", str(file), "-g")
    assert other.code == 1
    assert other.err.startswith(f"Invalid cluster.id in: {tmp_path}/one/meta.properties.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-t", "bad"), "Cluster ID string bad does not appear to be a valid UUID"),
        (("-t", CLUSTER, "-f", "nope.version=1"), "Unsupported feature: nope.version"),
        (("-t", CLUSTER, "-f", "kraft.version=9"), "No feature:kraft.version with feature level 9"),
        (("-t", CLUSTER, "-f", "x"), "Can't parse feature=level string x"),
        (("-t", CLUSTER, "-f", "nope.version=0"), "Unsupported feature: nope.version"),
        (("-t", CLUSTER, "-r", "3.3-IV2"), "Unknown metadata.version '3.3-IV2'. Supported meta"),
        (("-t", CLUSTER, "-r", "3.9", "-f", "metadata.version=21"), "Use --release-version inst"),
    ],
)
def test_refusals(run: Run, file: Path, arguments: tuple[str, ...], message: str) -> None:
    outcome = run("storage", "format", "-c", str(file), *arguments)
    assert outcome.code == 1
    assert outcome.err.startswith(message)
    assert not (file.parent / "one").exists()


def test_features_that_are_not_built_may_be_switched_off(run: Run, file: Path) -> None:
    off = ("-f", "group.version=0", "-f", "transaction.version=0")
    assert run("storage", "format", "-t", CLUSTER, "-c", str(file), *off).code == 0


@pytest.mark.parametrize(
    ("arguments", "version", "level"),
    [
        (("-r", "3.9"), "3.9-IV0", 21),
        (("--release-version", "3.5-IV1"), "3.5-IV1", 10),
        (("-f", "metadata.version=30"), "4.3-IV0", 30),
    ],
)
def test_older_releases(
    run: Run, file: Path, tmp_path: Path, arguments: tuple[str, ...], version: str, level: int
) -> None:
    done = run("storage", "format", "-t", CLUSTER, "-c", str(file), *arguments)
    assert done.code == 0
    assert f"metadataVersionLevel={level}, source=format command)" in done.lines[0]
    assert done.lines[-1].endswith(f"{tmp_path}/one with metadata.version {version}.")


def test_a_directory_that_cannot_be_read(run: Run, file: Path, tmp_path: Path) -> None:
    (tmp_path / "two").write_text("a file in its place")
    again = ("storage", "format", "-t", CLUSTER, "-c", str(file))
    done = run(*again)
    ignored = f"I/O error trying to read log directory {tmp_path}/two. Ignoring..."
    assert (done.code, done.lines[0], len(done.lines)) == (0, ignored, 3)
    assert done.lines[2].startswith(f"Formatting dynamic metadata voter directory {tmp_path}/one ")
    refused = run(*again)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith(f"Log directory {tmp_path}/one is already formatted.")
    once_more = run(*again, "-g")
    assert once_more.code == 0
    assert once_more.lines == [ignored, "All of the log directories are already formatted."]
    (tmp_path / "two").unlink()
    joined = run(*again, "-g")
    assert (joined.code, len(joined.lines)) == (0, 2)
    assert joined.lines[1].startswith(f"Formatting data directory {tmp_path}/two with ")


def test_a_directory_that_cannot_be_made(run: Run, file: Path, tmp_path: Path) -> None:
    nowhere = "/proc/nowhere/data"
    file.write_text(file.read_text().replace(f"{tmp_path}/two", nowhere))
    done = run("storage", "format", "-t", CLUSTER, "-c", str(file))
    assert done.code == 1
    assert done.lines[1].startswith(f"Formatting dynamic metadata voter directory {tmp_path}/one ")
    assert done.err.startswith(f"Not formatted: {nowhere}: ")
    assert (tmp_path / "one" / "meta.properties").exists()


VOTERS = "4@127.0.0.1:9093:JEXY6aqzQY-32P5TStzaFg,5@[::1]:9193:MvDxzVmcRsaTz33bUuRU6A"


@pytest.mark.parametrize(
    ("node", "flags", "kind"),
    [
        ("4", (), "dynamic metadata voter"),
        ("4", ("--standalone",), "dynamic metadata voter"),
        ("4", ("--no-initial-controllers",), "metadata"),
        ("4", ("--initial-controllers", VOTERS), "dynamic metadata voter"),
        ("6", ("-I", VOTERS), "dynamic metadata"),
    ],
)
def test_voters_of_a_new_quorum(
    run: Run, file: Path, tmp_path: Path, node: str, flags: tuple[str, ...], kind: str
) -> None:
    file.write_text(file.read_text().replace("node.id=4", f"node.id={node}"))
    done = run("storage", "format", "-t", CLUSTER, "-c", str(file), *flags)
    assert done.code == 0
    assert done.lines[-1] == (
        f"Formatting {kind} directory {tmp_path}/one with metadata.version 4.4-IV2."
    )
    told = run("storage", "info", "-c", str(file)).out
    assert ("directory.id=JEXY6aqzQY-32P5TStzaFg," in told) is (VOTERS in flags and node == "4")


@pytest.mark.parametrize(
    ("change", "flags", "message"),
    [
        ("", ("-s", "-N"), "pykbroker storage format: argument -N/--no-initial-controllers: not"),
        ("", ("-I", "4@a:1"), "No colon following port could be found."),
        ("", ("-I", ""), "No voters given."),
        ("bootstrap.servers=b:1", (), "Because controller.quorum.voters is not set on this contr"),
        ("voters=4@a:1", ("-s",), "You cannot specify controller.quorum.voters and format the"),
        ("voters=4@a:1", ("-I", VOTERS), "You cannot specify controller.quorum.voters and form"),
        ("voters=4@a:1", ("-f", "kraft.version=1"), "Cannot set kraft.version to 1 unless contr"),
        ("", ("-s", "-f", "kraft.version=0"), "Cannot set kraft.version to 0 if controller.quor"),
    ],
)
def test_voters_that_are_refused(
    run: Run, file: Path, change: str, flags: tuple[str, ...], message: str
) -> None:
    if change:
        old = "bootstrap.servers=127.0.0.1:9093"
        file.write_text(file.read_text().replace(old, change))
    outcome = run("storage", "format", "-t", CLUSTER, "-c", str(file), *flags)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(message)
    assert not (file.parent / "one").exists()


def test_a_broker_only_node(run: Run, file: Path, tmp_path: Path) -> None:
    text = file.read_text().replace("process.roles=broker,controller", "process.roles=broker")
    file.write_text(text.replace(",CONTROLLER://127.0.0.1:9093", ""))
    alone = run("storage", "format", "-t", CLUSTER, "-c", str(file), "--standalone")
    assert (alone.code, alone.err) == (1, "You can only use --standalone on a controller.\n")
    done = run("storage", "format", "-t", CLUSTER, "-c", str(file))
    assert done.code == 0
    assert done.lines[-1].startswith(f"Formatting metadata directory {tmp_path}/one ")
    assert not (tmp_path / "one" / "__cluster_metadata-0").exists()


def test_files_that_are_wrong(run: Run, tmp_path: Path, file: Path) -> None:
    assert run("storage", "info", "-c", str(tmp_path / "none")).code == 1
    bad = tmp_path / "bad.properties"
    bad.write_text(file.read_text() + "num.partitions=x\n")
    outcome = run("storage", "info", "-c", str(bad))
    assert outcome.err == (
        f"{bad}, line 7: Invalid value x for configuration num.partitions: "
        "Not a number of type INT\n"
    )


def test_damaged_and_foreign_directories(run: Run, file: Path, tmp_path: Path) -> None:
    assert run("storage", "format", "-t", CLUSTER, "-c", str(file)).code == 0
    meta = tmp_path / "two" / "meta.properties"
    meta.write_text(meta.read_text().replace("node.id=4", "node.id=5"))
    foreign = run("storage", "info", "-c", str(file))
    assert foreign.code == 1
    assert "  Mismatched node IDs between storage directories." in foreign.lines
    meta.write_text(meta.read_text().replace(CLUSTER, "mZLBCX6nSbSMqy4jLJVNHA"))
    assert (
        "  Mismatched cluster IDs between storage directories."
        in run("storage", "info", "-c", str(file)).lines
    )
    meta.write_text("nonsense\n")
    damaged = run("storage", "info", "-c", str(file))
    assert damaged.code == 1
    assert any(line.startswith(f"  Error loading {meta}: ") for line in damaged.lines)


def test_a_file_of_a_node_alone_needs_no_more_than_its_directory(run: Run, tmp_path: Path) -> None:
    """`pykbroker start` fills in the rest as well."""
    file = tmp_path / "server.properties"
    file.write_text(f"log.dirs={tmp_path}/one\n")
    assert run("storage", "format", "-t", CLUSTER, "-c", str(file)).code == 0
    assert "node.id=1\n" in (tmp_path / "one" / "meta.properties").read_text()
