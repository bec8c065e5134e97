"""Broker keys: listeners, sockets and limits of connections."""

from __future__ import annotations

from typing import Final

from pykbroker.config.definition import (
    CLUSTER_WIDE,
    HIGH,
    INT,
    INT_MAX,
    LIST,
    LONG,
    LOW,
    PER_BROKER,
    STRING,
    Key,
)
from pykbroker.config.validators import at_least, list_of, one_of

KEYS: Final = (
    Key("listeners", LIST, ("PLAINTEXT://:9092",), list_of(empty=False), HIGH, PER_BROKER).honoured(
        "Where this node listens: NAME://host:port, comma separated. An empty host is "
        "every interface, port 0 any free port."
    ),
    Key("advertised.listeners", LIST, None, list_of(empty=False), HIGH).honoured(
        "Addresses that clients connect to, if they differ from listeners."
    ),
    Key(
        "listener.security.protocol.map",
        STRING,
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        importance=LOW,
        mode=PER_BROKER,
    ).honoured(
        "Security protocol of each listener name. Listeners in use must map to "
        "PLAINTEXT until TLS and SASL are built."
    ),
    Key(
        "controller.listener.names", LIST, None, list_of(empty=False), HIGH, required=True
    ).honoured(
        "Names of the listeners that serve the controller; at least one of them must "
        "stand in listeners."
    ),
    Key("inter.broker.listener.name", STRING, None).honoured(
        "The listener that brokers use among themselves."
    ),
    Key(
        "security.inter.broker.protocol",
        STRING,
        "PLAINTEXT",
        one_of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    ).refused(
        "Names the listener that brokers use among themselves by its protocol.",
        "only PLAINTEXT listeners are built yet",
    ),
    Key("early.start.listeners", LIST, None, list_of(), HIGH).unused(
        "Listeners that open before the authorizer is ready.", "authorization is not built yet"
    ),
    Key("socket.listen.backlog.size", INT, 50, at_least(1)).honoured(
        "Connections that may wait to be accepted."
    ),
    Key("socket.send.buffer.bytes", INT, 102400, importance=HIGH).honoured(
        "SO_SNDBUF of accepted sockets; -1 leaves it to the system."
    ),
    Key("socket.receive.buffer.bytes", INT, 102400, importance=HIGH).honoured(
        "SO_RCVBUF of accepted sockets; -1 leaves it to the system."
    ),
    Key("socket.request.max.bytes", INT, 104857600, at_least(1), HIGH).honoured(
        "Largest request; a longer one closes its connection."
    ),
    Key("socket.connection.setup.timeout.ms", LONG, 10000).honoured(
        "How long connecting to another node may take at first."
    ),
    Key("socket.connection.setup.timeout.max.ms", LONG, 30000).honoured(
        "How long connecting to another node may take after failures."
    ),
    Key("max.connections", INT, INT_MAX, at_least(0), mode=CLUSTER_WIDE).honoured(
        "Connections that this node accepts at once."
    ),
    Key("max.connections.per.ip", INT, INT_MAX, at_least(0), mode=CLUSTER_WIDE).honoured(
        "Connections accepted at once from one address."
    ),
    Key("max.connections.per.ip.overrides", STRING, "", mode=CLUSTER_WIDE).honoured(
        "Limits for single addresses: host:count, comma separated."
    ),
    Key("max.connection.creation.rate", INT, INT_MAX, at_least(0), mode=CLUSTER_WIDE).refused(
        "Maximum number of connections accepted per second.",
        "the rate of new connections is not limited yet",
    ),
    Key("connections.max.idle.ms", LONG, 600000).honoured(
        "A connection without requests for this long is closed; negative means never."
    ),
    Key("connection.failed.authentication.delay.ms", INT, 100, at_least(0), LOW).unused(
        "How long closing is delayed after a failed authentication.",
        "SASL authentication is not built yet",
    ),
    Key("connections.max.reauth.ms", LONG, 0).unused(
        "How long a SASL session lasts before it must authenticate again.",
        "SASL authentication is not built yet",
    ),
)
