"""The metadata quorum with very many partitions, beside Apache Kafka's."""
