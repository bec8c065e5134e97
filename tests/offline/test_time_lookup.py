"""The offset of a time: the first record that late, whatever it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.offline import Selection
from pykbroker.offline.time_lookup import offset_of_time
from pykbroker.protocol.control_records import ABORT
from pykbroker.protocol.record_batch import build_batch
from tests.offline.samples import BASE_MS, partition_directory, write_segment
from tests.offline.test_transaction_scan import LogWriter


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
def test_markers_and_aborted_records_count(tmp_path: Path, isolation: str):
    log = LogWriter(tmp_path, segment_batches=3)
    log.write(-1, 3)
    log.write(10, 4)
    log.end(10, ABORT)
    log.write(-1, 2)
    log.roll()
    chosen = Selection((str(tmp_path),), isolation=isolation)
    for offset in range(10):  # each record is of its offset's time
        assert offset_of_time(chosen, BASE_MS + offset) == offset
    assert offset_of_time(chosen, 0) == 0
    assert offset_of_time(chosen, BASE_MS + 10) is None


def test_the_first_in_the_log_is_meant_not_the_earliest(tmp_path: Path):
    times = [50, 10, 90, 20, 95]
    batches = [
        bytes(build_batch([(None, b"", BASE_MS + time, ())], base_offset=offset))
        for offset, time in enumerate(times)
    ]
    write_segment(partition_directory(tmp_path), batches)
    chosen = Selection((str(tmp_path),))
    assert offset_of_time(chosen, BASE_MS + 15) == 0
    assert offset_of_time(chosen, BASE_MS + 60) == 2
    assert offset_of_time(chosen, BASE_MS + 91) == 4
    (tmp_path / "log-start-offset-checkpoint").write_text("0\n1\nt 0 3\n")
    assert offset_of_time(chosen, BASE_MS + 60) == 4
