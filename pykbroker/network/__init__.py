"""Bytes on sockets: acceptors, connections, the request channel and what leaves again.

The event loop only tells readiness (`add_reader`, `add_writer`); connections own raw non-blocking
sockets. This floor knows frames and request headers, and nothing of what a request means.
"""
