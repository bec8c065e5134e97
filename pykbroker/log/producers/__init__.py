"""The producers of one partition: sequences, transactions, snapshots, verification guards."""
