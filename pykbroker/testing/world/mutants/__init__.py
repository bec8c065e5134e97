"""Broken rules, by which a world shows that it notices them.

    mutant.py            how a rule is broken and restored
    log_mutants.py       logs
    serving_mutants.py   fetches, sessions, waiting, connections, and more
    group_mutants.py     consumer groups
    metadata_mutants.py  topics, configurations, the metadata log
    transaction_mutants.py  the coordinator of transactions, markers, what readers and groups see
    raft_mutants.py      elections, what is committed, the controller's failover
    replication_mutants.py  in-sync replicas, high watermarks, truncation
    election_mutants.py  eligible replicas, who is known to have crashed
    move_mutants.py      moves between log directories
    hunt.py              finds a seed that shows a mutant

`python -m pykbroker.testing.world --mutants` lives with each of them in turn.
"""
