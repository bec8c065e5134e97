"""cache_pieces: which files of a cache may be read, and what has to be put there."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.offline import Selection, plan
from pykbroker.offline.layout import read_partitions
from pykbroker.offline.partition_files import PartitionFiles
from pykbroker.spark.cache_pieces import (
    MOST_SMALL,
    SMALL_BYTES,
    Piece,
    cover,
    gaps,
    parse_piece,
    piece_of,
    true_pieces,
)
from pykbroker.types import TopicPartition
from tests.offline.samples import partition_directory, simple_batches, write_segment


def piece(first: int, behind: int, segment: int = 0, size: int = SMALL_BYTES) -> Piece:
    return Piece(first, behind, segment, 0, size, "0" * 24)


def files_of(root: Path) -> PartitionFiles:
    (files,) = read_partitions((str(root),), [TopicPartition("t", 0)])
    return files


def pieces_of(root: Path, split_bytes: int = 1 << 30) -> list[Piece]:
    found = [piece_of(split) for split in plan(Selection((str(root),)), split_bytes).splits]
    return [each for each in found if each is not None]


def test_a_name_says_all() -> None:
    there = Piece(1, 22, 0, 333, 4444, "0123456789abcdef01234567")
    assert parse_piece(there.name) == there


@pytest.mark.parametrize(
    "name",
    [
        "",
        "_SUCCESS",
        ".00000000000000000001-00000000000000000022-00000000000000000000-3-4-" + "0" * 24,
        "00000000000000000001-00000000000000000022-00000000000000000000-3-4-zz.parquet",
        piece(0, 1).name + ".crc",
    ],
)
def test_other_files_are_no_pieces(name: str) -> None:
    assert parse_piece(name) is None


def test_pieces_that_follow_each_other_are_chosen() -> None:
    first, second, late = piece(0, 10), piece(10, 30), piece(40, 50)
    assert cover([late, second, first], 0, 60) == [first, second, late]
    assert gaps([first, second, late], 0, 60) == [(30, 40), (50, 60)]
    assert gaps([], 0, 60) == [(0, 60)]
    assert gaps([piece(0, 60)], 0, 60) == []


def test_the_longest_is_chosen_and_none_overlaps() -> None:
    short, long, between = piece(0, 10), piece(0, 30), piece(10, 20)
    assert cover([short, between, long], 0, 60) == [long]


def test_what_begins_before_the_log_or_ends_behind_it_is_not_chosen() -> None:
    assert cover([piece(0, 20), piece(40, 70)], 10, 60) == []
    assert gaps([], 10, 60) == [(10, 60)]


def test_many_small_ones_in_a_row_are_made_one() -> None:
    row = [piece(n, n + 1, size=10) for n in range(MOST_SMALL)]
    assert cover(row, 0, 100) == row
    longer = [*row, piece(MOST_SMALL, MOST_SMALL + 1, size=10)]
    big = piece(MOST_SMALL + 1, 50)
    assert cover([*longer, big], 0, 100) == [big]
    other_segment = piece(MOST_SMALL, MOST_SMALL + 1, segment=MOST_SMALL, size=10)
    assert cover([*row, other_segment], 0, 100) == [*row, other_segment]


def test_pieces_of_a_plan_are_true_and_cover_it(tmp_path: Path) -> None:
    write_segment(partition_directory(tmp_path), simple_batches(40), index_every=500)
    write_segment(partition_directory(tmp_path), simple_batches(10, base_offset=400))
    pieces = pieces_of(tmp_path, split_bytes=5000)
    assert len(pieces) > 3
    found = true_pieces(files_of(tmp_path), [each.name for each in pieces])
    assert found == pieces
    assert cover(found, 0, 500) == pieces
    assert gaps(pieces, 0, 500) == []


def test_a_piece_stays_true_when_the_log_grows(tmp_path: Path) -> None:
    directory = partition_directory(tmp_path)
    write_segment(directory, simple_batches(10))
    (piece,) = pieces_of(tmp_path)
    write_segment(directory, simple_batches(20))
    assert true_pieces(files_of(tmp_path), [piece.name]) == [piece]


def test_a_log_that_was_cut_and_written_anew_has_other_pieces(tmp_path: Path) -> None:
    directory = partition_directory(tmp_path)
    write_segment(directory, simple_batches(10))
    (piece,) = pieces_of(tmp_path)
    other = bytearray(simple_batches(10)[-1])
    other[15] = 1  # written by the leader of another epoch
    write_segment(directory, [*simple_batches(9), bytes(other)])
    assert true_pieces(files_of(tmp_path), [piece.name]) == []


def test_a_segment_that_was_compacted_has_other_pieces(tmp_path: Path) -> None:
    directory = partition_directory(tmp_path)
    batches = simple_batches(10)
    write_segment(directory, batches)
    (piece,) = pieces_of(tmp_path)
    write_segment(directory, [batches[0], *batches[2:]])
    assert true_pieces(files_of(tmp_path), [piece.name]) == []


def test_a_segment_that_is_gone_has_none(tmp_path: Path) -> None:
    directory = partition_directory(tmp_path)
    path = write_segment(directory, simple_batches(10))
    (piece,) = pieces_of(tmp_path)
    write_segment(directory, simple_batches(10, base_offset=100))
    path.unlink()
    assert true_pieces(files_of(tmp_path), [piece.name]) == []


def test_a_split_whose_file_was_replaced_makes_no_piece(tmp_path: Path) -> None:
    directory = partition_directory(tmp_path)
    write_segment(directory, simple_batches(10))
    (split,) = plan(Selection((str(tmp_path),))).splits
    write_segment(directory, simple_batches(10, size=30))
    assert piece_of(split) is None
