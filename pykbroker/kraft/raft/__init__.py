"""The quorum: the machine (`raft.py`) and its drivers, voters, persistent state."""
