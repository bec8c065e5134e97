"""Three nodes of pykbroker beside three of Apache Kafka 4.4: the same clients, in turn."""
