"""Speed and size. `python -m benchmarks.compare` sets pykbroker beside Apache Kafka."""

import os

# Nodes start from byte code here as they do where the package is installed: without it, a start
# takes three times as long.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
