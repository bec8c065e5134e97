"""The log of one partition: appending, reading, look-ups, retention (`partition_log.py` first)."""
