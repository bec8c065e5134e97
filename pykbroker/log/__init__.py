"""The log floor: partitions as segments of record batches on disk, in Apache Kafka's own format.

partition/      the log of one partition: appending, reading, look-ups, retention
segments/       a file of batches and the three indexes beside it
validation/     the leader's checks of a produced batch
producers/      sequences and transactions of a partition's producers
compaction/     the cleaner and its worker process
recovery/       opening a log, and its recovery after a crash
directories/    log directories, their checkpoints, and all logs of a node
"""
