"""pykbroker.log.partition.leader_epochs against a plain model and Apache's file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykbroker.log.partition.leader_epochs import LeaderEpochs

APACHE = Path(__file__).parents[2] / "fixtures" / "apache"


def test_apaches_file_both_ways() -> None:
    payload = (APACHE / "leader-epoch-checkpoint").read_bytes()
    epochs = LeaderEpochs.from_bytes(payload, "leader-epoch-checkpoint")
    assert epochs.entries == [(0, 0), (3, 1000)]
    assert epochs.to_bytes() == payload


def test_end_offsets() -> None:
    epochs = LeaderEpochs([(2, 10), (4, 20), (5, 30)])
    answers = {epoch: epochs.end_offset_for(epoch, 99) for epoch in range(-1, 7)}
    assert answers == {
        -1: (-1, -1),
        0: (0, 10),
        1: (1, 10),
        2: (2, 20),
        3: (2, 20),
        4: (4, 30),
        5: (5, 99),
        6: (-1, -1),
    }
    assert LeaderEpochs().end_offset_for(0, 99) == (-1, -1)


def test_assigning() -> None:
    epochs = LeaderEpochs()
    assert [epochs.latest_epoch, epochs.earliest] == [None, None]
    assert epochs.assign(0, 0)
    assert not epochs.assign(0, 5)
    assert epochs.assign(2, 10)
    assert epochs.assign(3, 10)  # epoch 2 wrote nothing
    assert epochs.entries == [(0, 0), (3, 10)]
    assert epochs.assign(1, 4)  # a contradiction: the newer knowledge stays
    assert epochs.entries == [(0, 0), (1, 4)]
    assert [epochs.latest_epoch, epochs.earliest] == [1, (0, 0)]
    with pytest.raises(ValueError):
        epochs.assign(-1, 0)


def test_neighbours() -> None:
    epochs = LeaderEpochs([(2, 10), (4, 20)])
    assert [epochs.next_epoch(epoch) for epoch in (0, 2, 3, 4)] == [2, 4, 4, None]
    assert [epochs.epoch_for_offset(offset) for offset in (9, 10, 19, 20, 99)] == [
        None, 2, 2, 4, 4,
    ]  # fmt: skip


def test_truncation() -> None:
    epochs = LeaderEpochs([(2, 10), (4, 20), (5, 30)])
    assert not epochs.truncate_from_end(31)
    assert epochs.truncate_from_end(30)
    assert epochs.entries == [(2, 10), (4, 20)]
    assert not epochs.truncate_from_start(10)
    assert epochs.truncate_from_start(12)
    assert epochs.entries == [(2, 12), (4, 20)]
    assert epochs.truncate_from_start(50)
    assert epochs.entries == [(4, 50)]
    assert not epochs.truncate_from_start(49)
    assert epochs.clear()
    assert not epochs.clear()
    assert not epochs.truncate_from_end(0)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=20),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_a_log_remembers_who_wrote_each_offset(
    steps: list[tuple[int, int]], start: int, end: int
) -> None:
    epoch = 0
    written: list[int] = []  # offset -> epoch
    epochs = LeaderEpochs()
    for bump, count in steps:
        epoch += bump
        for _ in range(count):
            epochs.assign(epoch, len(written))
            written.append(epoch)
    assert [epochs.epoch_for_offset(offset) for offset in range(len(written))] == written
    for asked in set(written):
        last = max(offset for offset, by in enumerate(written) if by == asked)
        assert epochs.end_offset_for(asked, len(written)) == (asked, last + 1)
    end = min(end, len(written))
    epochs.truncate_from_end(end)
    epochs.truncate_from_start(min(start, end))
    assert [epochs.epoch_for_offset(offset) for offset in range(min(start, end), end)] == written[
        min(start, end) : end
    ]
