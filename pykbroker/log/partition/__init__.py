"""The log of one partition: appending, reading, look-ups, retention (start with
`partition_log.py`).
"""
