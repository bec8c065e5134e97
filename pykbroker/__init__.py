"""pykbroker: a Kafka broker in pure Python.

Start with `pykbroker.broker.server` (how a node is put together) and `docs/architecture.md`.
"""

__version__ = "0.1.0.dev0"
