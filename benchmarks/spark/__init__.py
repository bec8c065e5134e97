"""Spark on segment files beside Spark's own Kafka connector: `python -m benchmarks.spark`."""
