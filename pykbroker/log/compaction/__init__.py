"""Compaction: the cleaner, the worker process, what it leaves of a log."""
