"""A real broker for tests: `Broker` (context manager) and the pytest fixtures of `pytest_plugin`.

with pykbroker.testing.Broker() as broker:
    KafkaProducer(bootstrap_servers=broker.bootstrap_servers).send("topic", b"value")
"""

from pykbroker.testing.broker import Broker, BrokerFailed

__all__ = ["Broker", "BrokerFailed"]
