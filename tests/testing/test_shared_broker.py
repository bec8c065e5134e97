"""Names that belong to one test, on a broker that many share."""

from __future__ import annotations

from confluent_kafka.admin import AdminClient

from pykbroker.testing import Broker, SharedBroker


def test_every_view_has_a_prefix_of_its_own() -> None:
    broker = Broker()
    first, second = SharedBroker(broker, "test_same"), SharedBroker(broker, "test_same")
    assert first.prefix.startswith("test_same-")
    assert first.topic("orders") == f"{first.prefix}orders"
    assert first.group("app") == f"{first.prefix}app"
    assert first.topic("orders") != second.topic("orders")
    assert repr(first) == f"SharedBroker(127.0.0.1:0, prefix={first.prefix!r})"


def test_any_name_of_a_test_gives_a_legal_one() -> None:
    shared = SharedBroker(Broker(), f"test_näme[a/b c:{'x' * 300}]")
    assert shared.prefix.startswith("test_n-me-a-b-c-xxx")
    assert len(shared.topic("orders")) < 249


def test_topics_are_created_under_the_prefix() -> None:
    with Broker() as broker:
        shared = SharedBroker(broker, "test")
        shared.create_topics(["orders"])
        shared.create_topics({"wide": 4})
        known = AdminClient({"bootstrap.servers": shared.bootstrap_servers}).list_topics(timeout=60)
        counts = {name: len(topic.partitions) for name, topic in known.topics.items()}
        assert counts == {shared.topic("orders"): 1, shared.topic("wide"): 4}
