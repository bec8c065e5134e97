"""Speed and size. `python -m benchmarks.compare` sets pykbroker beside Apache Kafka."""
