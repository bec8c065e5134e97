"""The table of served APIs: what it advertises is what Apache Kafka 4.4 does, and it is served."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers import HANDLERS, Route, make_routes
from pykbroker.protocol.api import APIS

# ApiVersions of a 4.4.0 broker: key -> (min, max).
KAFKA_4_4 = {
    0: (0, 13), 1: (4, 18), 2: (1, 11), 3: (0, 13), 8: (2, 10), 9: (1, 10), 10: (0, 6),
    11: (0, 9), 12: (0, 4), 13: (0, 5), 14: (0, 5), 15: (0, 6), 16: (0, 5), 18: (0, 5),
    19: (2, 7), 20: (1, 6), 21: (0, 2), 22: (0, 5), 23: (2, 4), 24: (0, 5), 25: (0, 4),
    26: (0, 5), 27: (1, 2), 28: (0, 6),
    32: (1, 4), 33: (0, 2),
    34: (1, 2), 35: (1, 5), 37: (0, 3), 42: (0, 3), 43: (0, 2), 44: (0, 1), 45: (0, 1),
    46: (0, 0), 47: (0, 0), 55: (0, 2), 57: (0, 2),
    60: (0, 2), 61: (0, 0), 65: (0, 0), 66: (0, 2), 74: (0, 1), 75: (0, 0),
    64: (0, 0), 94: (0, 0),
}  # fmt: skip
# On the listener of a controller.
ON_CONTROLLER = {
    1, 18, 19, 20, 32, 33, 37, 43, 44, 45, 46, 52, 53, 54, 55, 56, 57, 58, 59, 60, 62, 63, 64, 67,
    70, 73, 82, 94,
}  # fmt: skip


def test_the_apis_and_versions_are_those_of_kafka() -> None:
    served = {
        route.api.key: (route.advertised_min_version, route.max_version)
        for route in make_routes()
        if route.on_broker
    }
    assert served == KAFKA_4_4


def test_the_apis_of_a_controller_listener() -> None:
    on_controller = {route.api.key for route in make_routes() if route.on_controller}
    assert on_controller == ON_CONTROLLER
    assert all("controller" in APIS[key].listeners for key in on_controller)


@pytest.mark.parametrize("served", HANDLERS, ids=lambda served: served.module)
def test_every_handler_serves_what_the_table_says(served: Any) -> None:
    route = Route(*served)
    before = (route.min_version, route.max_version)
    route.load()
    assert (route.min_version, route.max_version) == before
    assert callable(route.handle)
    assert callable(route.error_reply)


def test_routes_come_in_the_order_of_their_keys() -> None:
    for on_broker in (True, False):
        routes = [route for route in make_routes() if route.on_broker == on_broker]
        keys = [route.api.key for route in routes]
        assert keys == sorted(set(keys))
