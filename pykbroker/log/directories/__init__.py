"""Log directories: identity, checkpoints, and the logs in them (start with `log_manager.py`)."""
