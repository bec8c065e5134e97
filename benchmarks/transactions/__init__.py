"""Transactions of pykbroker beside Apache Kafka 4.4: the same clients, in turn, in the same run."""
