"""The commands of `pykbroker`: one file per command, imported only when it runs.

`main.py` finds the command, `command.py` holds what they share, `admin.py` speaks to brokers.
"""
