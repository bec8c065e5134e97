"""What clients understand of transactions, by version."""

from __future__ import annotations

import pytest

from pykbroker.broker.transactions.transaction_support import TransactionSupport


@pytest.mark.parametrize(
    "of, old, abortable, joining",
    [
        (TransactionSupport.of_produce, range(3, 11), [11], [12, 13]),
        (TransactionSupport.of_offset_commit, range(4), [4], [5, 6]),
    ],
)
def test_versions(of: object, old: range, abortable: list[int], joining: list[int]) -> None:
    assert callable(of)
    assert {of(version) for version in old} == {TransactionSupport.OLD}
    assert {of(version) for version in abortable} == {TransactionSupport.ABORTABLE}
    assert {of(version) for version in joining} == {TransactionSupport.JOINING}
