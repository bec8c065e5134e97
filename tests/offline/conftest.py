"""What several tests of planning read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offline.samples import partition_directory, simple_batches, write_segment


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """One segment of 40 batches of about 5 KB, and its directory's root."""
    write_segment(partition_directory(tmp_path), simple_batches(40, size=480))
    return tmp_path
