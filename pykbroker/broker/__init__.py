"""Assembly: the node (`server.py`, read it first), the worker, one handler file per API.

The only floor that knows everything.
"""
