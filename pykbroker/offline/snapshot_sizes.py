"""Checks that the segments of a snapshot still have the sizes that they had when it was taken.

Linked segments are the same files as those of the live log. A follower that truncates its log, and
recovery that finds a damaged batch, truncate a segment in place and append to it, which changes the
snapshot as well.

    snapshot.json   {"sizes": {"<topic>-<partition>": {"<20 digits>.log": bytes}}}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from pykbroker.offline.faults import OfflineError
from pykbroker.offline.partition_files import PartitionFiles
from pykbroker.offline.storage import join, read_small_file, split_name

MANIFEST: Final = "snapshot.json"


@lru_cache(maxsize=16)
def _sizes(manifest: bytes) -> Mapping[str, Mapping[str, int]] | str:
    """Return the sizes of each partition, or why the file is not a manifest."""
    try:
        sizes = json.loads(manifest).get("sizes", {})
        return {partition: dict(noted) for partition, noted in sizes.items()}
    except (ValueError, TypeError, AttributeError, RecursionError) as fault:
        return f"is not the manifest of a snapshot: {fault}"


def changed_segment(files: PartitionFiles) -> tuple[str, str] | None:
    """Return (path, fault) of the first segment whose size differs from the snapshot's manifest, or
    of the manifest if that is invalid; None if there is no fault, or no manifest.
    """
    path = join(split_name(files.directory)[0], MANIFEST)
    try:
        manifest = read_small_file(path)
    except OSError as fault:  # a directory, a pipe
        return path, f"cannot be read: {fault}"
    if manifest is None:
        return None
    sizes = _sizes(manifest)
    if isinstance(sizes, str):
        return path, sizes
    noted = sizes.get(str(files), {})
    there = {split_name(each.path)[1]: each for each in files.segments}
    for name, size in noted.items():
        found = there[name].size_bytes if name in there else 0
        if found != size:
            why = (
                f"the snapshot recorded {size} bytes, the file has {found}: the live log was "
                "truncated, or the snapshot was written to"
            )
            return join(files.directory, name), why
    return None


def refuse_changed(files: PartitionFiles) -> None:
    """Raise OfflineError for a partition of a snapshot that has changed, or whose manifest is
    invalid.
    """
    changed = changed_segment(files)
    if changed is not None:
        raise OfflineError(": ".join(changed))
