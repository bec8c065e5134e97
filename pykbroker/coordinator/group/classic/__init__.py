"""Classic consumer groups: JoinGroup, SyncGroup, Heartbeat, LeaveGroup. Read `states.py` first."""
