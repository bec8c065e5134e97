"""What the catalog of topics notices."""

from __future__ import annotations

import pytest

from pykbroker.testing.world.catalog import Catalog, TopicPromise, TopicState
from pykbroker.testing.world.ledger import TopicRules
from pykbroker.testing.world.world import Violation


def catalog_of(state: TopicState, partitions: int = 2) -> tuple[Catalog, TopicPromise]:
    catalog = Catalog()
    topic = TopicPromise("t", partitions, TopicRules(), state)
    catalog.topics["t"] = topic
    return catalog, topic


@pytest.mark.parametrize(
    ("state", "is_there_fine", "is_missing_fine"),
    [
        (TopicState.CREATING, True, True),
        (TopicState.THERE, True, False),
        (TopicState.DELETING, True, True),
        (TopicState.GONE, False, True),
    ],
)
def test_topics_are_where_they_were_promised(
    state: TopicState, is_there_fine: bool, is_missing_fine: bool
) -> None:
    catalog, _ = catalog_of(state)
    for found, is_fine in (({"t": 2}, is_there_fine), ({}, is_missing_fine)):
        if is_fine:
            catalog.check_topics(found)
        else:
            with pytest.raises(Violation):
                catalog.check_topics(found)


def test_a_creation_without_an_answer_may_come_after_the_deletion() -> None:
    catalog, topic = catalog_of(TopicState.GONE)
    topic.unanswered_creations = 1
    catalog.check_topics({"t": 2})


def test_a_topic_that_is_created_after_its_deletion_is_as_it_was_at_first() -> None:
    catalog, topic = catalog_of(TopicState.THERE)
    topic.grow(3)
    topic.config_sent("segment.ms", "100")
    topic.config_answered("segment.ms", "100")
    topic.unanswered_creations = 1
    with pytest.raises(Violation, match="has 2 partitions, expected 3"):
        catalog.check_topics({"t": 2})
    with pytest.raises(Violation, match="is None, expected one of"):
        catalog.check_configs("t", {})
    topic.state = TopicState.GONE
    for partitions in (2, 3):
        catalog.check_topics({"t": partitions})
    catalog.check_configs("t", {})
    with pytest.raises(Violation, match="has 4 partitions"):
        catalog.check_topics({"t": 4})
    with pytest.raises(Violation, match="is 7, expected one of"):
        catalog.check_configs("t", {"segment.ms": "7"})


def test_the_number_of_partitions_is_the_old_or_the_new_one() -> None:
    catalog, topic = catalog_of(TopicState.THERE)
    with pytest.raises(Violation, match="has 3 partitions"):
        catalog.check_topics({"t": 3})
    topic.most_partitions = 3
    catalog.check_topics({"t": 3})
    topic.grow(3)
    assert [ledger.name for ledger in topic.ledgers] == ["t-0", "t-1", "t-2"]


def test_a_topic_that_nobody_created_is_noticed() -> None:
    catalog, _ = catalog_of(TopicState.CREATING)
    catalog.check_topics({"__consumer_offsets": 50})
    with pytest.raises(Violation, match="no client created"):
        catalog.check_topics({"other": 1})


def test_configurations() -> None:
    catalog, topic = catalog_of(TopicState.THERE)
    catalog.check_configs("t", {"segment.ms": "7"})
    topic.config_sent("segment.ms", "100")
    catalog.check_configs("t", {"segment.ms": "7"})
    topic.config_answered("segment.ms", "100")
    with pytest.raises(Violation, match="is 7, expected one of"):
        catalog.check_configs("t", {"segment.ms": "7"})
    topic.config_sent("segment.ms", "200")
    for value in ("100", "200"):
        catalog.check_configs("t", {"segment.ms": value})
    topic.config_sent("segment.ms", "300")
    topic.config_answered("segment.ms", "300")
    catalog.check_configs("t", {"segment.ms": "200"})  # heard late
    with pytest.raises(Violation):
        catalog.check_configs("t", {"segment.ms": "100"})


def test_no_producer_id_twice() -> None:
    catalog = Catalog()
    catalog.producer_id_given(1, 0)
    catalog.producer_id_given(1, 1)
    with pytest.raises(Violation, match="given twice"):
        catalog.producer_id_given(1, 0)
