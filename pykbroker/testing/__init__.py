"""Real brokers for tests: `Broker` and `Cluster` (context managers), and the pytest fixtures of
`pytest_plugin`.

with pykbroker.testing.Broker() as broker:
    KafkaProducer(bootstrap_servers=broker.bootstrap_servers).send("topic", b"value")
"""

from pykbroker.testing.broker import Broker, BrokerFailed
from pykbroker.testing.cluster import Cluster, ClusterNode
from pykbroker.testing.shared_broker import SharedBroker
from pykbroker.testing.topic_creation import TopicNotCreated

__all__ = ["Broker", "BrokerFailed", "Cluster", "ClusterNode", "SharedBroker", "TopicNotCreated"]
