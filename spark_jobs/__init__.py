"""Jobs for `spark-submit`: what is in the log directories of a Kafka node, and what moves it.

    spark-submit spark_jobs/topic_statistics.py --path /var/kafka-logs --out result
    python spark_jobs/topic_statistics.py --path /var/kafka-logs --out result

    topic_statistics    records, bytes, batches, codecs, times          from headers
    rate_over_time      records and bytes by minute, hour, day
    key_skew            hot keys, distinct keys, shares of partitions
    size_percentiles    of keys, values, records; exact
    timestamp_disorder  late records, offsets that are gone
    fsck                checksums, indexes, offsets, sequences
    transactions        committed, aborted, open, unknown
    consumer_lag        what groups committed, and how far behind they were
    compaction_savings  what compaction would leave
    codec_what_if       samples, encoded by other codecs and levels
    export_parquet      records as Parquet, written by the workers
    find                records by key, expression, time
    replica_difference  two copies of a log
    replay              records into a broker, at their own pace or N times as fast
    throughput          produce, consume and scan, measured

Each file here is one job; `parts/` holds what they are built from. docs/analytics.md has an example
of each.
"""
