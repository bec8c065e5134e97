"""The group coordinator: membership (`classic/`) and committed offsets (`offsets.py`).

`shard.py` is the machine of one partition of `__consumer_offsets`; read it first.
"""
