"""Compaction: the cleaner, its worker process, and what compaction keeps of a log."""
