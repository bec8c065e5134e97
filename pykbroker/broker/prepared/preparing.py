"""Which requests are prepared for, and which are served by what was prepared.

    a request of the general path  -> remember: nothing known: prepare
                                                known, but it did not match: a miss
    a frame on a connection for    -> serve:    the one for its API and version, if it has not
    which something is prepared                 missed too often; if it gathers the request, then
                                                up to MOST_GATHERED frames behind it that have
                                                arrived and are like it (a pipeline)

State   per connection and API with its version: `RequestConnection.prepared`.
Out     the route of what was served; None leaves the frame to the general path.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any, TypeAlias

from pykbroker.broker.prepared import GATHERED, HEAD_BYTES, MISSED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pykbroker.broker.handlers import Route
    from pykbroker.broker.prepared import PreparedRequest
    from pykbroker.network.request import Frame, PreparedConnection, Request

    Finish: TypeAlias = Callable[[Request, Route, Any], None]
    """Answers a request with the outcome of its handler."""

MOST_GATHERED = 31  # frames that are served with the first of a pipeline

# The first number is the key in `connection.prepared`: API key << 16 | version.
_unpack_head = Struct(">Ii").unpack_from


class Preparing:
    """Serves what is prepared for the requests of one node's connections."""

    __slots__ = ("_routes",)

    def __init__(self, routes: Sequence[Route | None]) -> None:
        """routes: by API key, of the listeners for clients and brokers."""
        self._routes = routes

    def serve(self, connection: PreparedConnection, frame: Frame, now_ms: int) -> Route | None:
        """Serve the request in flight and, if it is gathered, those behind it that are like it.
        Return the route; None if the request in flight is left to the general path.
        """
        received, start, end = frame
        if end - start < HEAD_BYTES:
            return None
        key, correlation_id = _unpack_head(received, start)
        prepared: PreparedRequest | None = connection.prepared.get(key)
        if prepared is None or not prepared.is_tried:
            return None
        served = prepared.serve(connection, received, start, end, correlation_id, now_ms)
        if served == MISSED:
            return None
        prepared.matched()
        route: Route | None = self._routes[key >> 16]
        assert route is not None
        route.request_count += 1
        if served == GATHERED:
            route.request_count += _gather(connection, prepared, key, now_ms)
        return route

    @staticmethod
    def remember(services: Any, request: Request, route: Route, finish: Finish) -> None:
        """Note a request that the general path has served: prepare for more like it if nothing is
        known, or what is known has missed often enough.
        """
        all_known = request.connection.prepared
        key = request.api_key << 16 | request.api_version
        known = all_known.get(key)
        if known is not None and not known.missed():
            return
        assert route.prepare is not None
        found = route.prepare(services, request, lambda late, outcome: finish(late, route, outcome))
        if found is None:
            if known is not None:
                known.put_off()
            return
        if known is not None:
            found.replace(known)
        all_known[key] = found


def _gather(
    connection: PreparedConnection,
    prepared: PreparedRequest,
    key: int,
    now_ms: int,
) -> int:
    """Serve what follows, at most MOST_GATHERED, as long as it is like the first of the pipeline;
    return how many were served.
    """
    following = connection.next_frame()
    count = 0
    served = GATHERED
    while following is not None and served == GATHERED and count < MOST_GATHERED:
        received, start, end = following
        if end - start < HEAD_BYTES:
            break
        other, correlation_id = _unpack_head(received, start)
        if other != key:
            break
        served = prepared.serve(connection, received, start, end, correlation_id, now_ms)
        if served == MISSED:
            break
        connection.gather(following)
        count += 1
        following = connection.next_frame()
    return count
