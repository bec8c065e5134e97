"""Log directories: whose they are, checkpoints, all logs in them (`log_manager.py` first)."""
