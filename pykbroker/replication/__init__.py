"""Partitions of this node: who leads, who is in sync, how far it is safe to read.

Floor 7. `replica_manager` holds the partitions, `partition` is one of them; `isr`, `high_watermark`
and `follower_progress` are its arithmetic; `delayed_produce` and `delayed_fetch` are what waits in
the purgatory for it.
"""
