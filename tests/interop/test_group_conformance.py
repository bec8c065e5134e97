"""The same raw group requests to Apache Kafka and to pykbroker: the same answers, line by line."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from pykbroker.testing import Broker
from tests.harness.answers import check_answers, numbered
from tests.harness.apache import ApacheBroker
from tests.interop.group_script import Script

CONFIG = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
    "group.max.size": "2",
    "offsets.topic.num.partitions": "1",
}


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_group_apis_answer_as_apache_kafka_does() -> None:
    # Side by side: most of the time both wait for timeouts.
    with (
        ApacheBroker(config=CONFIG) as apache,
        Broker(overrides=CONFIG) as ours,
        ThreadPoolExecutor() as players,
    ):
        theirs = players.submit(Script(apache.port, "conform").play)
        actual = Script(ours.port, "conform").play()
        expected = theirs.result()
    assert len(expected) > 380
    check_answers(numbered(expected), numbered(actual))
