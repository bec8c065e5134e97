"""Keys of features that this broker does not have: without effect, and no obstacle to a start."""

from __future__ import annotations

import pytest

from pykbroker.config.broker_config import BrokerConfig
from pykbroker.config.broker_keys import BROKER_KEYS
from pykbroker.config.definition import ConfigError, Status
from pykbroker.config.group_config import validate_group_overrides
from pykbroker.config.load import parse_properties, standalone_properties

# The server.properties of Apache Kafka 4.4, and what operators add to it for features that no
# listener, topic or client of the node uses.
STOCK = """\
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/tmp/kraft-combined-logs
num.partitions=1
num.recovery.threads.per.data.dir=2
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
"""
BROKER_ONLY = STOCK.replace("broker,controller", "broker").replace(",CONTROLLER://:9093", "")
BROKER_ONLY = BROKER_ONLY.replace(",CONTROLLER://localhost:9093", "")
CONTROLLER_ONLY = STOCK.replace("broker,controller", "controller")
CONTROLLER_ONLY = CONTROLLER_ONLY.replace("PLAINTEXT://:9092,", "")
CONTROLLER_ONLY = CONTROLLER_ONLY.replace("PLAINTEXT://localhost:9092,", "")
CONTROLLER_ONLY = CONTROLLER_ONLY.replace("inter.broker.listener.name=PLAINTEXT\n", "")
CONTROLLER_ONLY += "group.initial.rebalance.delay.ms=0\n"

ADDED = """\
num.replica.fetchers=4
replica.lag.time.max.ms=20000
sasl.kerberos.service.name=kafka
sasl.kerberos.min.time.before.relogin=30000
sasl.enabled.mechanisms=SCRAM-SHA-512
ssl.keystore.location=/etc/kafka/keystore.jks
ssl.client.auth=required
ssl.protocol=TLSv1.2
listener.name.plaintext.ssl.client.auth=none
transaction.max.timeout.ms=600000
transactional.id.expiration.ms=86400000
group.consumer.session.timeout.ms=50000
remote.log.reader.threads=4
quota.window.num=30
connections.max.reauth.ms=1000
listener.name.plaintext.scram-sha-256.sasl.jaas.config=x
early.start.listeners=CONTROLLER
"""


@pytest.mark.parametrize("text", [STOCK, BROKER_ONLY, CONTROLLER_ONLY, STOCK + ADDED])
def test_stock_properties_are_a_configuration(text: str) -> None:
    properties = parse_properties(text, "server.properties")
    config = BrokerConfig.from_properties(properties)
    described = {each.name: each.value for each in config.describe()}
    hidden = ("listener.", "ssl.keystore.location")
    for name, value in properties.items():
        if not name.startswith(hidden):
            assert described[name] == value, name


def test_unused_keys_are_still_checked() -> None:
    base = standalone_properties("/data")
    for name, text in (("ssl.client.auth", "perhaps"), ("sasl.server.max.receive.size", "x")):
        for prefix in ("", "listener.name.plaintext."):
            with pytest.raises(ConfigError, match="Invalid value"):
                BrokerConfig.from_properties({**base, prefix + name: text})


def test_a_request_for_what_is_missing_is_refused() -> None:
    """A feature's switch is refused although the keys that tune the feature are not."""
    base = standalone_properties("/data")
    for name, text in {
        "remote.log.storage.system.enable": "true",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "security.inter.broker.protocol": "SSL",
        "client.quota.callback.class": "a.B",
        "delegation.token.secret.key": "secret",
        "max.connection.creation.rate": "10",
        "listener.name.plaintext.principal.builder.class": "a.B",
    }.items():
        with pytest.raises(ConfigError, match=name.replace(".", r"\.")):
            BrokerConfig.from_properties({**base, name: text})


def test_a_broker_does_not_speak_plaintext_to_controllers_with_tls() -> None:
    text = BROKER_ONLY.replace("CONTROLLER:PLAINTEXT", "CONTROLLER:SSL")
    with pytest.raises(ConfigError) as caught:
        BrokerConfig.from_properties(parse_properties(text, "broker.properties"))
    assert caught.value.message == (
        "listeners: listener CONTROLLER uses SSL, but only PLAINTEXT is built yet"
    )


def test_group_timeouts_of_the_new_protocol_are_accepted() -> None:
    broker = BrokerConfig.from_properties(standalone_properties("/data"))
    validate_group_overrides(broker, {"consumer.session.timeout.ms": "50000"})
    validate_group_overrides(broker, {"share.auto.offset.reset": "earliest"})


def test_no_code_can_depend_on_an_unused_key() -> None:
    config = BrokerConfig.from_properties(standalone_properties("/data"))
    unused = [key for key in BROKER_KEYS.values() if key.status is Status.UNUSED]
    assert len(unused) > 180
    assert not any(hasattr(config, key.attribute) for key in unused)
