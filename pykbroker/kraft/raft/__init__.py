"""The quorum: the state machine (`raft.py`), its drivers, voters, and persistent state."""
