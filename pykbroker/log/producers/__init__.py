"""Producers of one partition: sequences, transactions, snapshots, verification guards."""
