"""pykbroker beside Apache Kafka 4.4: the same clients, the same work, in turn, in the same run."""
