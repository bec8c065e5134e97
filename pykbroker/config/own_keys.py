"""Broker keys of pykbroker itself, which Apache Kafka does not have."""

from __future__ import annotations

from typing import Final

from pykbroker.config.definition import STRING, Key
from pykbroker.config.validators import listen_address

OWN_PREFIX: Final = "pykbroker."

KEYS: Final = (
    Key("pykbroker.metrics.listen", STRING, "", listen_address(), internal=True).honoured(
        "HOST:PORT at which Prometheus finds /metrics, and others /healthz and /readyz; "
        "an empty host is every interface, port 0 any free port. Empty: metrics are off."
    ),
)
