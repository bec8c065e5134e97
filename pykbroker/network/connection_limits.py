"""The limits on a node's connections: `max.connections`, `max.connections.per.ip`.

State: the limits; open connections: in total, by listener and by address.
In: `opened`, `closed`, new limits and listeners. Out: whether a listener may accept, whether an
address has reached its limit, whether a connection has to be closed.
Invariants: as in Kafka's `ConnectionQuotas`,

* a listener at its own or the broker's `max.connections` stops accepting until one closes or the
  limit is raised: the clients wait in the backlog and are not rejected;
* with several listeners the inter-broker one is protected: it may exceed the broker's limit, and
  the longest idle connection of another listener is closed in its favour;
* further connections of an address that is at its `max.connections.per.ip` (or its entry in the
  overrides) are accepted and closed.

The controller's listeners are counted separately: Kafka's controller has its own `SocketServer`.
"""

from __future__ import annotations

from collections.abc import Mapping

from pykbroker.environment.transport import Transport
from pykbroker.errors import StartError


class UnknownHost(StartError):
    """A name in `max.connections.per.ip.overrides` that has no address."""


def limits_by_address(overrides: Mapping[str, int], transport: Transport) -> dict[str, int]:
    """Return the limits by address; `max.connections.per.ip.overrides` may contain host names,
    whose look-up blocks. Raises UnknownHost.
    """
    limits: dict[str, int] = {}
    for host, limit in overrides.items():
        try:
            addresses = transport.addresses_of(host)
        except OSError as fault:
            why = f"max.connections.per.ip.overrides: {host}: {fault.strerror or fault}"
            raise UnknownHost(why) from fault
        for address in addresses:
            limits[address.removeprefix("::ffff:")] = limit
    return limits


class ConnectionLimits:
    """Counts connections against the limits."""

    __slots__ = (
        "_by_address",
        "_by_listener",
        "_listener_max",
        "_max_connections",
        "_max_per_address",
        "_max_per_address_overrides",
        "_protected_listener",
        "total",
    )

    def __init__(
        self,
        max_connections: int,
        max_per_address: int,
        max_per_address_overrides: Mapping[str, int],
        protected_listener: str | None,
    ) -> None:
        self._max_connections = max_connections
        self._max_per_address = max_per_address
        self._max_per_address_overrides = dict(max_per_address_overrides)
        self._protected_listener = protected_listener
        self._listener_max: dict[str, int] = {}
        self._by_listener: dict[str, int] = {}
        self._by_address: dict[str, int] = {}
        self.total = 0

    def update(self, max_connections: int, max_per_address: int) -> None:
        """Apply new limits; `exceeded` tells whether connections have to be closed."""
        self._max_connections = max_connections
        self._max_per_address = max_per_address

    def update_addresses(self, overrides: Mapping[str, int]) -> None:
        """Apply new limits for addresses; open connections are kept."""
        self._max_per_address_overrides = dict(overrides)

    def add_listener(self, listener_name: str, max_connections: int) -> None:
        """Add a listener with its `max.connections`; call it again if that changes."""
        self._listener_max[listener_name] = max_connections
        self._by_listener.setdefault(listener_name, 0)

    def is_protected(self, listener_name: str) -> bool:
        """Return whether this is the inter-broker listener, and one of several counted here."""
        return len(self._listener_max) > 1 and listener_name == self._protected_listener

    def may_accept(self, listener_name: str) -> bool:
        """Return whether the listener may accept another connection now."""
        if self._by_listener[listener_name] >= self._listener_max[listener_name]:
            return False
        return self.total < self._max_connections or self.is_protected(listener_name)

    def exceeded(self) -> bool:
        """Return whether more connections are open than the limit, which was lowered or exceeded by
        a protected listener.
        """
        return self.total > self._max_connections

    def max_for_address(self, address: str) -> int:
        """Return the limit for `address`."""
        return self._max_per_address_overrides.get(address, self._max_per_address)

    def opened(self, listener_name: str, address: str) -> bool:
        """Count a new connection; return False without counting it if its address has too many."""
        of_address = self._by_address.get(address, 0)
        if of_address >= self.max_for_address(address):
            return False
        self._by_address[address] = of_address + 1
        self._by_listener[listener_name] += 1
        self.total += 1
        return True

    def closed(self, listener_name: str, address: str) -> None:
        """Forget a connection that `opened` counted."""
        of_address = self._by_address[address] - 1
        if of_address:
            self._by_address[address] = of_address
        else:
            del self._by_address[address]
        self._by_listener[listener_name] -= 1
        self.total -= 1
