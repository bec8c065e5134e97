"""Log directories: identity, checkpoints, and all logs in them (start with `log_manager.py`)."""
