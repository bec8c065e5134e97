"""Rules of the house that no linter knows: sizes, names, and a test file for every module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = ("pykbroker", "spark_jobs", "benchmarks")
GENERATED = ROOT / "pykbroker" / "protocol" / "messages"
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 70
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "data", "info"}


def _sources() -> list[Path]:
    files = (path for folder in SOURCES for path in (ROOT / folder).rglob("*.py"))
    return sorted(path for path in files if GENERATED not in path.parents)


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", _sources(), ids=_ids)
def test_file(path: Path):
    text = path.read_text()
    assert len(text.splitlines()) <= MAX_FILE_LINES, "split the file by role or subject"
    assert path.stem not in BANNED_NAMES, "name it after what it holds"
    tree = ast.parse(text)
    if text.strip():
        assert ast.get_docstring(tree), "a module opens with what it is"
    long = [
        f"{function.name}: {function.end_lineno - function.lineno + 1} lines"
        for function in _functions(tree)
        if function.end_lineno and function.end_lineno - function.lineno >= MAX_FUNCTION_LINES
    ]
    assert long == []
    named = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    named |= {function.name for function in _functions(tree)}
    assert not {name for name in named if name.lower().lstrip("_") in BANNED_NAMES}


def test_there_is_something_to_check():
    assert len(_sources()) > 50
