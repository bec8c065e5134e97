"""The bound of the records that one request may write."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.batch_size import check_batch_size


def test_ten_thousand_and_no_more() -> None:
    check_batch_size(0)
    check_batch_size(10_000)
    with pytest.raises(KafkaError) as refused:
        check_batch_size(10_001)
    assert refused.value.code == ErrorCode.POLICY_VIOLATION
