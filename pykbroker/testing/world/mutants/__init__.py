"""Broken rules, by which a world shows that it notices them.

    mutant.py            how a rule is broken, and mended again
    log_mutants.py       logs
    serving_mutants.py   fetches, sessions, waiting, connections
    group_mutants.py     consumer groups
    metadata_mutants.py  topics, configurations, the metadata log
    transaction_mutants.py  the coordinator of transactions, markers, what readers and groups see
    hunt.py              finds a seed that shows a mutant

`python -m pykbroker.testing.world --mutants` lives with each of them in turn.
"""
