"""Segments: a file of record batches, and the three indexes beside it."""
