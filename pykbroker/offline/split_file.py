"""Opens the file that a split was planned on, and no other that has taken its name since.

Compaction puts a new file in the place of a closed segment, retention takes it away; for a while
(`file.delete.delay.ms`, a minute) the old one still lies there under its `.deleted` name.
"""

from __future__ import annotations

from pykbroker.offline.faults import SegmentGone
from pykbroker.offline.split import Split
from pykbroker.offline.storage import DELETED_SUFFIX, SegmentFile, is_remote, open_file


def open_split(split: Split) -> SegmentFile | None:
    """The open file; when it is gone SegmentGone, or None if the split may be left out then."""
    what = f"{split.path} is gone"
    try:
        opened = open_file(split.path)
        if split.file_bytes is None or opened.size == split.file_bytes:
            return opened
        opened.close()
        what = f"{split.path} was {split.file_bytes} bytes when it was planned, now {opened.size}"
        if not is_remote(split.path):
            opened = open_file(split.path + DELETED_SUFFIX)
            if opened.size == split.file_bytes:
                return opened
            opened.close()
    except FileNotFoundError:
        pass
    if split.fail_on_data_loss:
        raise SegmentGone(f"{what}: retention or compaction took it; read a snapshot instead")
    return None
