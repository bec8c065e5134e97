"""Which brokers are alive, stale, eligible."""

from __future__ import annotations

import pytest

from pykbroker.replication.brokers import ANY_EPOCH, NO_FETCH_YET
from tests.replication.test_high_watermark import cluster


def test_alive_is_registered_and_not_fenced() -> None:
    assert cluster(2).is_alive(2)
    assert not cluster(2).is_alive(3)
    assert not cluster(2, fenced=True).is_alive(2)
    assert cluster(2, in_controlled_shutdown=True).is_alive(2)


@pytest.mark.parametrize("epoch, is_stale", [(9, True), (10, False), (11, False), (-1, False)])
def test_only_an_older_epoch_than_the_registrations_is_stale(epoch: int, is_stale: bool) -> None:
    assert cluster(2).is_stale(2, epoch) is is_stale
    assert not cluster(2, fenced=True).is_stale(2, epoch)
    assert not cluster(3).is_stale(2, epoch)


def test_eligible_is_unfenced_not_shutting_down_and_of_the_registered_epoch() -> None:
    for epoch, expected in ((10, True), (ANY_EPOCH, True), (9, False), (NO_FETCH_YET, False)):
        assert cluster(2).is_isr_eligible(2, epoch) is expected
        assert not cluster(2, fenced=True).is_isr_eligible(2, epoch)
        assert not cluster(2, in_controlled_shutdown=True).is_isr_eligible(2, epoch)
        assert not cluster(3).is_isr_eligible(2, epoch)
