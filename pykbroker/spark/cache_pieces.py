"""Pieces of a record cache: Parquet files of some offsets of a partition, and their validity.

A name contains everything about its piece:  FIRST-BEHIND-SEGMENT-START-LAST-EVIDENCE.parquet

    FIRST, BEHIND   offsets [first, behind) of the partition
    SEGMENT         base offset of the segment that they were read from
    START, LAST     positions in it: where reading began, and of the last batch below BEHIND
    EVIDENCE        a digest of the headers at both positions

Invariants
    A piece is used only while the log has the same two headers at these positions. A header has the
    checksum and the leader epoch of its batch, so they differ in a log that was truncated and
    rewritten, compacted, or deleted and recreated.
    Pieces do not depend on each other, and a visible name is a complete file (target.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from pykbroker.offline.file_identity import HEAD_BYTES, is_same_file
from pykbroker.offline.partition_files import PartitionFiles
from pykbroker.offline.segment_walk import header_tables
from pykbroker.offline.split import Split
from pykbroker.offline.storage import SegmentFile, open_file

_NAME: Final = re.compile(r"(\d{20})-(\d{20})-(\d{20})-(\d+)-(\d+)-([0-9a-f]{24})\.parquet")
_EVIDENCE_DIGITS: Final = 24
#: More pieces in a row that are smaller than this, of one segment, are made one.
SMALL_BYTES: Final = 32 << 20
MOST_SMALL: Final = 8


@dataclass(frozen=True)
class Piece:
    """One piece; `start` and `last` are positions in bytes."""

    first: int
    behind: int
    segment: int
    start: int
    last: int
    evidence: str

    @property
    def name(self) -> str:
        return (
            f"{self.first:020d}-{self.behind:020d}-{self.segment:020d}"
            f"-{self.start}-{self.last}-{self.evidence}.parquet"
        )

    @property
    def is_small(self) -> bool:
        return self.last - self.start < SMALL_BYTES


def parse_piece(name: str) -> Piece | None:
    """Parse a file name; None if it is not a piece."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    first, behind, segment, start, last = map(int, match.groups()[:5])
    return Piece(first, behind, segment, start, last, match[6])


def piece_of(split: Split) -> Piece | None:
    """Return the piece for a split; None if its file is no longer the planned one.

    Raises FileNotFoundError if the file is gone.
    """
    with open_file(split.path) as opened:
        if not is_same_file(opened, split):
            return None
        first = max(split.first_offset, split.start_offset)
        behind = split.end_offset
        if split.behind_offset is not None:
            behind = min(behind, split.behind_offset)
        last = _last_batch(opened, split, behind)
        evidence = _evidence(opened, split.topic_id, split.start_position, last)
    return Piece(first, behind, split.segment_base_offset, split.start_position, last, evidence)


def true_pieces(files: PartitionFiles, names: Iterable[str]) -> list[Piece]:
    """Return the pieces that match the current contents of the partition's files."""
    of_segment: dict[int, list[Piece]] = {}
    for piece in map(parse_piece, names):
        if piece is not None:
            of_segment.setdefault(piece.segment, []).append(piece)
    found: list[Piece] = []
    for segment in files.segments:
        pieces = of_segment.get(segment.base_offset)
        if not pieces:
            continue
        with suppress(FileNotFoundError), open_file(segment.path) as opened:
            found.extend(
                piece
                for piece in pieces
                if piece.evidence == _evidence(opened, files.topic_id, piece.start, piece.last)
            )
    return found


def cover(pieces: Sequence[Piece], low: int, high: int) -> list[Piece]:
    """Return pieces in [low, high) that do not overlap, in order; of those that begin at the same
    offset, the longest.

    A run of many small ones is left out, so that one piece fills the gap.
    """
    from_offset: dict[int, Piece] = {}
    for piece in pieces:
        best = from_offset.get(piece.first)
        if piece.behind <= high and (best is None or piece.behind > best.behind):
            from_offset[piece.first] = piece
    chosen: list[Piece] = []
    at = low
    while at < high:
        following = from_offset.get(at)
        if following is None:
            at = min((first for first in from_offset if first > at), default=high)
        else:
            chosen.append(following)
            at = following.behind
    return _without_rows_of_small_ones(chosen)


def gaps(chosen: Sequence[Piece], low: int, high: int) -> list[tuple[int, int]]:
    """Return the ranges of [low, high) that no piece covers, in order."""
    found: list[tuple[int, int]] = []
    at = low
    for piece in chosen:
        if at < piece.first:
            found.append((at, piece.first))
        at = piece.behind
    if at < high:
        found.append((at, high))
    return found


def _without_rows_of_small_ones(chosen: Sequence[Piece]) -> list[Piece]:
    kept: list[Piece] = []
    row: list[Piece] = []
    for piece in chosen:
        goes_on = row and row[-1].segment == piece.segment and row[-1].behind == piece.first
        if not piece.is_small or not goes_on:
            kept += row if len(row) <= MOST_SMALL else []
            row = []
        if piece.is_small:
            row.append(piece)
        else:
            kept.append(piece)
    return kept + (row if len(row) <= MOST_SMALL else [])


def _last_batch(opened: SegmentFile, split: Split, behind: int) -> int:
    """Return the position of the last batch that begins below an offset."""
    last = split.start_position
    runs = header_tables(
        opened,
        split.index_path,
        split.segment_base_offset,
        split.start_position,
        split.end_position,
    )
    for run in runs:
        below = run.positions[run.table["base_offset"] < behind]
        if below.size:
            last = int(below[-1])
    return last


def _evidence(opened: SegmentFile, topic_id: bytes | None, start: int, last: int) -> str:
    heads = opened.read(HEAD_BYTES, start), opened.read(HEAD_BYTES, last)
    digest = sha256(topic_id or b"")
    for head in heads:
        digest.update(len(head).to_bytes(1))
        digest.update(head)
    return digest.hexdigest()[:_EVIDENCE_DIGITS]
