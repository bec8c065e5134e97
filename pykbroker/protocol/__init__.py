"""Kafka's bytes: messages, headers, frames, record batches. Knows no socket and no log file."""
