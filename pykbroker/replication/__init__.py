"""Partitions of this node: who leads, who is in sync, how far it is safe to read.

hosting, replica_manager          the partitions, their appends, what waits for them
partition, partition_events       one partition: a machine of events and effects
isr, high_watermark, brokers,     its arithmetic
  follower_progress
fetch_request, fetch_reader       what a Fetch reads
delayed_produce, delayed_fetch    what waits in the purgatory
alter_partition_driver,           the leader's side of replication: changes of in-sync replicas
  isr_check_driver
fetcher_driver, fetcher           the follower's side: who fetches what from which leader,
  fetch_plan,                       the state of each partition,
  fetch_session_client,             the session,
  truncation, follower_log,         what becomes of the log,
  leader_offsets                    look-ups when an offset is out of range
"""
