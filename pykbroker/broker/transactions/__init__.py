"""The broker side of transactions: verification, joining, markers."""
