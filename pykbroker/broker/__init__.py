"""Assembly: the node (`server.py`, read it first), the worker, one handler file per API.

server.py, node_state.py    a node comes up, and stops
services.py                 what a handler can reach
requests/                   from a request to its reply: the worker, what handlers share
handlers/                   one file per API
metadata/                   what follows the metadata, and what asks for changes
transactions/               verification, joining, markers

The only floor that knows everything.
"""
