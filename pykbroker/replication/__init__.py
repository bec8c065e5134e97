"""The partitions of this node: leadership, in-sync replicas, high watermarks.

hosting, replica_manager          the partitions, their appends, and the waiting operations
partition, partition_events       one partition: a machine of events and effects
isr, high_watermark, brokers      its calculations
record_deletion                   records deleted on request
followers, follower_progress,     what its leader knows of its followers, and what their sessions
  follower_session                  have to read
fetch_request, fetch_reader,      what a Fetch reads, and from which replica a consumer should
  read_replica
watchers                          who is notified of a change
delayed_produce, delayed_fetch    operations that wait in the purgatory
alter_partition_driver,           the leader's side of replication: changes to in-sync replicas
  isr_check_driver
fetcher_driver, fetcher           the follower's side: who fetches what from which leader,
  fetch_plan,                       the state of each partition,
  fetch_session_client,             the session,
  truncation, follower_log,         changes to the log (`truncation`: the leader's answer as well),
  leader_offsets                    look-ups when an offset is out of range
"""
