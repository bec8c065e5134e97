"""The real world: the operating system's files, clocks, randomness, threads and sockets.

This package is the only place that imports `time`, `random`, `socket`, `threading`, `subprocess`
and `asyncio`, besides `cli/` and `testing/`, which make environments, and `spark/`, which runs in
Spark, and for one file that formats a time (`log/directories/checkpoints.py`). Everything else
receives an `Environment`.
"""
