"""The log floor: partitions as segments of record batches on disk, in Apache Kafka's own format."""
