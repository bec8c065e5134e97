"""Jobs for `spark-submit`: what is in the log directories of a Kafka node, and what moves it.

    spark-submit spark_jobs/topic_statistics.py --path /var/kafka-logs --out result
    python spark_jobs/topic_statistics.py --path /var/kafka-logs --out result

    topic_statistics    records, bytes, batches, codecs, times          from headers alone
    rate_over_time      records and bytes by minute, hour, day
    key_skew            hot keys, distinct keys, shares of partitions
    size_percentiles    of keys, values, records; exact
    timestamp_disorder  late records, offsets that are gone
    fsck                checksums, indexes, offsets, sequences
    transactions        committed, aborted, open, unknown
    consumer_lag        what groups committed, and how far behind they were
    compaction_savings  what compaction would leave
    codec_what_if       samples, encoded by every codec and level
    export_parquet      records as Parquet, written by the workers
    find                records by key, expression, time
    replica_difference  two copies of a log
    replay              records into a broker, at their own pace or N times as fast
    throughput          produce, consume and scan, measured

job.py has what they share (arguments, session, results); session.py, interrupts.py, progress.py,
results.py, console.py, pictures.py, reading.py, left_out.py, sizes.py, runs.py, latencies.py,
exact_batches.py, raw_batches.py, clients.py, client_check.py, consumers.py and brokers.py the
parts of that. lanes.py is a part of replay, phases.py of throughput, replica_verdict.py of
replica_difference, codec_picture.py of codec_what_if. docs/analytics.md has an example of each.
"""
