"""Interaction scripts: each command of `tests/scenarios/groups_*.txt` and all that it causes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.coordinator.group_world import GroupWorld
from tests.harness.scenarios import replayed, scripts


@pytest.mark.parametrize("path", scripts("groups", at_least=8), ids=lambda path: path.stem)
def test_script(path: Path) -> None:
    now, expected = replayed(path, GroupWorld())
    assert now == expected
