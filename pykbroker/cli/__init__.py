"""The commands of `pykbroker`: a module for each, which is imported when the command runs.

`main.py` finds the command, `command.py` holds what they share, `admin.py` speaks to brokers.
"""
