"""Assembly: the node (`server.py`, read it first), the worker, and one handler file per API.

server.py, node_state.py    start and stop of a node
services.py                 what a handler can reach
requests/                   from a request to its reply: the worker, shared code of handlers
handlers/                   one file per API
metadata/                   parts that follow the metadata, or request changes to it
transactions/               verification, joining, markers

The only floor that knows all others.
"""
