"""Three nodes under faults while stock clients work: `python -m tests.chaos`; in CI for a while."""
