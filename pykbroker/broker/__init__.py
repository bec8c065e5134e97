"""Assembly: the node (`server.py`, read it first), the worker, and the handlers of the APIs.

server.py, node_state.py    start and stop of a node
services.py                 what a handler can reach
requests/                   from a request to its reply: the worker, shared code of handlers
handlers/                   one file per API, two for Fetch
prepared/                   requests that are served without being decoded
metadata/                   parts that follow the metadata, or request changes to it
transactions/               verification, joining, markers
monitoring/                 metrics and the endpoint that serves them

Most other modules connect the node to the floors below: coordinators, replication, the purgatory's
timer, producer ids, requests to other nodes.

The highest floor of a node.
"""
