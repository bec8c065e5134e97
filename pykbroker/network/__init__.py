"""Bytes on sockets: acceptors, connections, the request channel, sending; the client for other
nodes, and a small HTTP server.

The event loop only reports readiness (`add_reader`, `add_writer`); connections own raw non-blocking
sockets. This floor handles frames and request headers. The only requests of the Kafka protocol
whose meaning it knows are the ApiVersions that it sends itself.
"""
