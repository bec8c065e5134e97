"""What the log engine costs over a node's life, beside Apache Kafka."""
