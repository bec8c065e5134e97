"""Two transcripts of the same requests, Apache's and ours: a short report of the differences.

A transcript is a list of `(label, answer)`. It may be long and its answers large: the differences
are found here and not by an `assert`, whose account of two large values costs gigabytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

Transcript = Sequence[tuple[str, Any]]

TOLD = 10
BEFORE, AFTER = 80, 400


def check_answers(
    theirs: Transcript, ours: Transcript, known: Mapping[str, str] | None = None
) -> set[str]:
    """Fail with the first differences, but for those whose label matches a pattern in `known`.

    Answers the patterns that were needed: one that never is has outlived its reason.
    """
    for number, (one, other) in enumerate(zip(theirs, ours, strict=False)):
        if one[0] != other[0]:
            pytest.fail(f"question {number}: {one[0]!r} to Apache, {other[0]!r} to us")
    if len(theirs) != len(ours):
        pytest.fail(f"{len(theirs)} answers of Apache, {len(ours)} of ours")
    patterns = known or {}
    needed: set[str] = set()
    surprising = []
    for (label, expected), (_, found) in zip(theirs, ours, strict=True):
        if expected == found:
            continue
        excuses = [pattern for pattern in patterns if re.fullmatch(pattern, label)]
        needed.update(excuses)
        if not excuses:
            surprising.append((label, expected, found))
    if surprising:
        pytest.fail(_account(surprising))
    return needed


def numbered(lines: Iterable[str]) -> list[tuple[str, str]]:
    """A transcript of lines without labels."""
    return [(f"line {number}", line) for number, line in enumerate(lines, 1)]


def _account(surprising: list[tuple[str, Any, Any]]) -> str:
    lines = [f"{len(surprising)} answers differ"]
    for label, expected, found in surprising[:TOLD]:
        apache, mine = str(expected), str(found)
        if apache == mine:
            apache, mine = repr(expected), repr(found)
        start = _parting(apache, mine) - BEFORE
        lines += [label, f"   apache {_part(apache, start)}", f"   ours   {_part(mine, start)}"]
    if len(surprising) > TOLD:
        lines.append(f"and {len(surprising) - TOLD} more")
    return "\n".join(lines)


def _parting(one: str, other: str) -> int:
    """Where two texts begin to differ."""
    for position, (mine, yours) in enumerate(zip(one, other, strict=False)):
        if mine != yours:
            return position
    return min(len(one), len(other))


def _part(text: str, start: int) -> str:
    """The text from shortly before where the two part."""
    start = max(start, 0)
    end = start + BEFORE + AFTER
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"
