"""The log floor: partitions as segments of record batches on disk, in Apache Kafka's own format.

partition/      the log of one partition: append, read, look up, retain
segments/       a file of batches and the three indexes beside it
validation/     what a leader checks of a produced batch
producers/      sequences and transactions of the producers of a partition
compaction/     the cleaner and its worker process
recovery/       opening what a crash has left behind
directories/    log directories, their checkpoints, all the logs of a node
"""
