"""Bytes on sockets: acceptors, connections, the request channel, and sending.

The event loop only reports readiness (`add_reader`, `add_writer`); connections own raw non-blocking
sockets. This floor handles frames and request headers, and knows nothing about the meaning of a
request.
"""
