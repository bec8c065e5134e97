"""House rules that no linter checks: sizes, names, and a test file for every module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = ("pykbroker", "pyspark_pykbroker", "spark_jobs", "benchmarks")
TESTS = ROOT / "tests"
GENERATED = ROOT / "pykbroker" / "protocol" / "messages"
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 70
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "data", "info"}

# Modules without a test file of their own name: where they are tested, with what they are part of.
TESTED_IN = {
    "benchmarks/cluster/*": "benchmarks/test_cluster.py",
    "benchmarks/micro/follower_connection": "benchmarks/micro/test_bench_replication.py",
    "benchmarks/compare/__main__": "benchmarks/test_compare.py",
    "benchmarks/compare/rows": "benchmarks/test_compare.py",
    "benchmarks/compare/servers": "benchmarks/test_compare.py",
    "benchmarks/compare/table": "benchmarks/test_compare.py",
    "benchmarks/controllers/*": "benchmarks/test_controllers.py",
    "benchmarks/spark/__main__": "benchmarks/test_spark.py",
    "benchmarks/spark/jobs": "benchmarks/test_spark.py",
    "benchmarks/spark/latency": "benchmarks/test_spark.py",
    "benchmarks/spark/topics": "benchmarks/test_spark.py",
    "benchmarks/storage/__main__": "benchmarks/test_storage.py",
    "benchmarks/storage/latency": "benchmarks/test_storage.py",
    "benchmarks/storage/lives": "benchmarks/test_storage.py",
    "benchmarks/transactions/__main__": "benchmarks/test_transactions.py",
    "benchmarks/transactions/rows": "benchmarks/test_transactions.py",
    "coordinator/transaction/partition_requests": "broker/handlers/test_add_partitions_to_txn.py",
    "coordinator/transaction/shard": (
        "coordinator/transaction/test_transaction_coordinator_driver.py"
    ),
    "broker/monitoring/node": "broker/monitoring/test_endpoint.py",
    "broker/handlers/begin_quorum_epoch": "kraft/raft/test_raft_service.py",
    "broker/handlers/end_quorum_epoch": "kraft/raft/test_raft_service.py",
    "broker/handlers/fetch_metadata": "kraft/raft/test_raft_service.py",
    "broker/handlers/fetch_snapshot": "kraft/raft/test_raft_service.py",
    "broker/handlers/update_raft_voter": "kraft/raft/test_raft_voter_updates.py",
    "broker/handlers/vote": "kraft/raft/test_raft_service.py",
    "log/directories/closing": "log/directories/test_log_manager.py",
    "broker/outgoing": "network/test_client_pool.py",
    "network/sending_connection": "network/test_connection.py",
    "config/broker_fields": "config/test_broker_keys.py",
    "config/broker_keys_*": "config/test_broker_keys.py",
    "config/group_keys": "config/test_broker_keys.py",
    "config/topic_keys": "config/test_broker_keys.py",
    "broker/forwarding": "broker/handlers/test_update_features.py",
    "broker/requests/session_shard": "broker/requests/test_fetch_sessions.py",
    "coordinator/decisions": "coordinator/test_runtime_driver.py",
    "coordinator/group/step": "coordinator/group/test_shard.py",
    "decision": "coordinator/test_runtime_driver.py",
    "testing/world/background": "environment/test_scheduler.py",
    "testing/world/clients/*": "testing/world/test_one_node.py",
    "testing/world/cluster_faults": "testing/world/test_several_brokers.py",
    "testing/world/cluster_topics": "testing/world/test_several_brokers.py",
    "testing/world/environment": "environment/test_scheduler.py",
    "testing/world/faults": "testing/world/test_one_node.py",
    "testing/world/invariants": "testing/world/test_one_node.py",
    "testing/world/links": "testing/world/test_network.py",
    "testing/world/mutants/*": "testing/world/test_mutants.py",
    "testing/world/node": "testing/world/test_one_node.py",
    "testing/world/quorum_invariants": "testing/world/test_three_voters.py",
    "testing/world/sockets": "environment/test_transport.py",
    "testing/world/transport": "environment/test_transport.py",
    "environment/background": "environment/real/test_background.py",
    "environment/clock": "environment/real/test_clock.py",
    "environment/randomness": "environment/real/test_randomness.py",
    "environment/scheduler": "environment/real/test_scheduler.py",
    "environment/transport": "environment/real/test_transport.py",
    "environment/real/world": "environment/real/test_transport.py",
    "kraft/raft/raft_events": "kraft/raft/test_raft.py",
    "kraft/metadata_batches": "kraft/raft/test_raft_driver.py",
    "kraft/metadata_bootstrap": "kraft/test_node_driver.py",
    "kraft/metadata_snapshots_driver": "kraft/test_node_driver.py",
    "kraft/raft/raft_fetcher_driver": "kraft/test_quorum.py",
    "kraft/raft/raft_links": "kraft/test_quorum.py",
    "kraft/raft/raft_outside": "kraft/raft/test_raft_driver.py",
    "kraft/raft/raft_peers": "kraft/test_quorum.py",
    "kraft/raft/raft_rpc": "kraft/test_quorum.py",
    "kraft/raft/raft_elections": "kraft/raft/test_raft.py",
    "kraft/raft/raft_following": "kraft/raft/test_raft.py",
    "kraft/raft/raft_leading": "kraft/raft/test_raft.py",
    "kraft/raft/raft_roles": "kraft/raft/test_raft.py",
    "kraft/raft/raft_state": "kraft/raft/test_raft.py",
    "log/recovery/log_loader": "log/recovery/test_opening.py",
    "log/partition/append_outcome": "log/partition/test_log_appender.py",
    "log/partition/read_outcome": "log/partition/test_log_reader.py",
    "network/connection_resources": "network/test_connection.py",
    "offline/columns": "offline/test_reader.py",
    "offline/faults": "offline/test_layout.py",
    "offline/findings": "offline/test_fsck.py",
    "offline/partition_files": "offline/test_layout.py",
    "protocol/codegen_*": "protocol/test_codegen.py",
    "replication/fetch_request": "replication/test_fetch_reader.py",
    "replication/fetcher_driver": "replication/test_fetcher.py",
    "replication/followers": "replication/test_partition.py",
    "replication/partition_events": "replication/test_partition.py",
    "replication/watchers": "replication/test_replica_manager.py",
    "spark/columns": "spark/test_tasks.py",
    "spark/faults": "spark/test_options.py",
    "spark/option_names": "spark/test_options.py",
}


def _sources() -> list[Path]:
    files = (path for folder in SOURCES for path in (ROOT / folder).rglob("*.py"))
    return sorted(path for path in files if GENERATED not in path.parents)


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _names(tree: ast.AST) -> Iterator[str]:
    """Of classes, functions, arguments and variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


def _ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _has_conflict(text: str) -> bool:
    """Whether a merge has left its marks, which no parser sees in a docstring or a page."""
    return any(line.startswith(("<" * 7 + " ", ">" * 7 + " ")) for line in text.splitlines())


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.md")), ids=_ids)
def test_page(path: Path):
    assert not _has_conflict(path.read_text("utf-8"))


def test_the_marks_of_a_merge_are_seen():
    assert _has_conflict('"""A module.\n' + "<" * 7 + ' HEAD\n"""\n')
    assert not _has_conflict("a <<<<<<< b\n=======\n")


@pytest.mark.parametrize("path", _sources() + sorted(TESTS.rglob("*.py")), ids=_ids)
def test_file(path: Path):
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= MAX_FILE_LINES, "split the file by role or subject"
    assert path.stem not in BANNED_NAMES, "name it after what it holds"
    assert not _has_conflict(text)
    tree = ast.parse(text)
    if text.strip() and not path.stem.startswith("test_"):
        assert ast.get_docstring(tree), "a module opens with what it is"
    long = [
        f"{function.name}: {function.end_lineno - function.lineno + 1} lines"
        for function in _functions(tree)
        if function.end_lineno and function.end_lineno - function.lineno >= MAX_FUNCTION_LINES
    ]
    assert long == []
    banned = {name for name in _names(tree) if name.lower().strip("_") in BANNED_NAMES}
    assert banned == set(), "say what it is"


def _modules() -> list[Path]:
    """As the tests have them: those of the package itself, and benchmarks/ with what starts them.

    A benchmark that no test runs is broken, one day, and nobody sees.
    """
    package, benchmarks = ROOT / "pykbroker", ROOT / "benchmarks"
    own = [
        path.relative_to(package)
        for path in _sources()
        if package in path.parents and not path.name.startswith("__")
    ]
    return own + [
        path.relative_to(ROOT)
        for path in _sources()
        if benchmarks in path.parents and path.name != "__init__.py"
    ]


@pytest.mark.parametrize("module", _modules(), ids=str)
def test_module_is_tested(module: Path):
    own = TESTS / module.parent / f"test_{module.name}"
    if not own.exists():
        name = str(module.with_suffix(""))
        elsewhere = [file for pattern, file in TESTED_IN.items() if fnmatch(name, pattern)]
        assert elsewhere, f"write {own.relative_to(ROOT)}, or say in TESTED_IN where it is tested"
        assert (TESTS / elsewhere[0]).exists()


def _import_graph() -> dict[str, set[str]]:
    """Module -> modules of this package that it imports anywhere, for types too."""
    names = {}
    for path in sorted((ROOT / "pykbroker").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    graph: dict[str, set[str]] = {}
    for name, path in names.items():
        if GENERATED in path.parents:
            continue
        found = graph[name] = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module in names:
                for alias in node.names:
                    submodule = f"{node.module}.{alias.name}"
                    found.add(submodule if submodule in names else node.module)
        found &= names.keys() - {name}
    return graph


def test_no_modules_import_each_other_in_a_circle():
    graph = {name: set(imported) for name, imported in _import_graph().items()}
    assert len(graph) > 200
    while graph:
        leaves = {name for name, imported in graph.items() if not imported & graph.keys()}
        if not leaves:
            used = {each for imported in graph.values() for each in imported}
            circle = sorted(name for name in graph if name in used)
            pytest.fail(f"modules in circles, or between two of them: {circle}")
        for name in leaves:
            del graph[name]


def test_there_is_something_to_check():
    assert len(_sources()) > 50
    assert len(_modules()) > 200
