"""pykbroker: a Kafka broker in pure Python.

To read the code, start with `pykbroker.broker.server` (how a node is assembled) and
`docs/architecture.md`.
"""

__version__ = "0.1.0.dev0"
