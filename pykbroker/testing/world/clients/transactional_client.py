"""What clients of transactions share: one topic, its ledger, answers of before a power failure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.api import API_BY_NAME
from pykbroker.protocol.primitives import Message
from pykbroker.testing.world.catalog import Catalog, TopicPromise
from pykbroker.testing.world.clients.client import REQUEST_TIMEOUT_MS
from pykbroker.testing.world.clients.routed_client import RoutedClient
from pykbroker.testing.world.transaction_ledger import TransactionLedger
from pykbroker.testing.world.world import World
from pykbroker.types import Peer, TopicPartition


class TransactionalClient(RoutedClient):
    """The base class of clients of transactions."""

    def __init__(
        self,
        world: World,
        name: str,
        bootstrap: Sequence[Peer],
        catalog: Catalog,
        topic: TopicPromise,
        ledger: TransactionLedger,
    ) -> None:
        super().__init__(world, name, bootstrap)
        self.catalog = catalog
        self.topic = topic
        self.ledger = ledger

    def version_between(self, api_name: str, least: int, most: int) -> int:
        """Return a version of an API within these bounds."""
        api = API_BY_NAME[api_name]
        most = min(most, api.max_version)
        least = max(least, api.min_version)
        return min(most, self.version_of(api_name, least))

    async def ask_within_life(self, message: Message, version: int, **named: Any) -> Any:
        """Like `ask`, but also raises KafkaError if power failed between the request and the
        response, unless everything is durable: the logs, not the response, then show what was kept.
        """
        failures = self.catalog.power_failures
        response = await self.ask(message, version, **named)
        if self.catalog.power_failures != failures and not self.ledger.is_durable:
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION)
        return response

    async def by_leader(self, indexes: Iterable[int]) -> dict[Peer, list[int]]:
        """Return partitions of the topic by their leaders; those without a known one are left
        out.
        """
        wanted = [TopicPartition(self.topic.name, index) for index in indexes]
        found = await self.leaders_of(wanted)
        return {peer: [each.partition for each in owned] for peer, owned in found.items()}

    async def ask_coordinator(
        self, kind: int, key: str, message: Message, version: int, purpose: str
    ) -> Any:
        """Return the answer of the coordinator to a request. Raises KafkaError, as `coordinator`
        and `ask_within_life` do.
        """
        peer = await self.coordinator(kind, key)
        return await self.ask_within_life(
            message, version, peer=peer, timeout_ms=REQUEST_TIMEOUT_MS, purpose=purpose
        )
