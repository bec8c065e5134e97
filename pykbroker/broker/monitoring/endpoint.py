"""The endpoint for monitoring systems: /metrics, /healthz, /readyz.

    /metrics    all metrics, in Prometheus' text format
    /healthz    200 while the event loop turns
    /readyz     200 while the node serves, else 503; both say what it is doing

The port is bound with the listeners of the node, before anything is changed, and released last.
Probes wait while the loop reads the metadata log at startup.
"""

from __future__ import annotations

import logging

from pykbroker.broker.monitoring.collector import Collector
from pykbroker.broker.monitoring.families import CONTENT_TYPE
from pykbroker.broker.monitoring.node import MonitoredNode
from pykbroker.broker.node_state import NodeState
from pykbroker.config.validators import parse_listen_address
from pykbroker.deferred import Deferred
from pykbroker.errors import StartError
from pykbroker.network.http_server import HttpResponse, HttpServer, error

_INDEX = (
    b"/metrics  for Prometheus\n/healthz  whether the node lives\n/readyz   whether it serves\n"
)

_log = logging.getLogger("pykbroker.monitoring")


class MonitoringEndpoint:
    """The endpoint of one node; `url` once it is started."""

    def __init__(self, node: MonitoredNode) -> None:
        self._node = node
        environment = node.environment
        self._collector = Collector(node)
        self._http = HttpServer(environment.transport, environment.scheduler, self._respond)
        self.url = ""

    def start(self) -> None:
        """Bind the port of `pykbroker.metrics.listen`. Raises StartError if that fails."""
        address = self._node.config.pykbroker_metrics_listen
        host, port = parse_listen_address("pykbroker.metrics.listen", address)
        try:
            port = self._http.start(host, port)
        except OSError as failure:
            why = f"{address}: {failure.strerror or failure}"
            raise StartError(f"Metrics endpoint failed to bind to {why}.") from failure
        shown = f"[{host}]" if ":" in host else host or "localhost"
        self.url = f"http://{shown}:{port}"
        _log.info("Metrics are served at %s/metrics", self.url)

    def close(self) -> None:
        """Release the port."""
        self._http.close()
        self._collector.close()

    def _respond(self, path: str) -> HttpResponse | Deferred:
        if path == "/metrics":
            return self._metrics()
        if path == "/healthz":
            return HttpResponse(200, b"ok\n")
        if path == "/readyz":
            state = self._node.state
            is_ready = state is NodeState.SERVING
            return HttpResponse(200 if is_ready else 503, f"{state.value}\n".encode())
        if path == "/":
            return HttpResponse(200, _INDEX)
        return error(404)

    def _metrics(self) -> Deferred:
        response = Deferred()

        def collected(outcome: object) -> None:
            if isinstance(outcome, bytes):
                response.resolve(HttpResponse(200, outcome, CONTENT_TYPE))
            else:
                _log.error("cannot collect metrics", exc_info=outcome)  # type: ignore[arg-type]
                response.resolve(error(500))

        self._collector.collect().on_resolved(collected)
        return response
