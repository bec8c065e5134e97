"""What clients of transactions share: leaders and coordinators, answers of before a power failure.

Leaders of partitions are asked for with Metadata, coordinators with FindCoordinator; both are
forgotten when a node says that it is not the one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.api import API_BY_NAME
from pykbroker.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from pykbroker.protocol.primitives import Message
from pykbroker.testing.world.catalog import Catalog, TopicPromise
from pykbroker.testing.world.clients.client import REQUEST_TIMEOUT_MS, Client
from pykbroker.testing.world.transaction_ledger import TransactionLedger
from pykbroker.testing.world.world import World
from pykbroker.types import Peer

FIRST_WITH_KEYS_LIST = 4
FIRST_METADATA_THAT_CREATES_NOTHING = 4


class TransactionalClient(Client):
    """See the module's text."""

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
        self._leaders: dict[int, Peer] = {}
        self._coordinators: dict[tuple[int, str], Peer] = {}

    def version_between(self, api_name: str, least: int, most: int) -> int:
        """A version of an API within these bounds."""
        api = API_BY_NAME[api_name]
        most = min(most, api.max_version)
        least = max(least, api.min_version)
        return min(most, self.version_of(api_name, least))

    async def ask_within_life(self, message: Message, version: int, **named: Any) -> Any:
        """As `ask`. KafkaError, too, when a power failure lies between: what the node promised
        before is told by the logs."""
        failures = self.catalog.power_failures
        response = await self.ask(message, version, **named)
        if self.catalog.power_failures != failures and not self.ledger.is_durable:
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION)
        return response

    # ---------------------------------------------------------------- who leads

    async def by_leader(self, indexes: Iterable[int]) -> dict[Peer, list[int]]:
        """The partitions by their leaders; those without one are left out."""
        indexes = list(indexes)
        if any(index not in self._leaders for index in indexes):
            try:
                await self._learn_leaders()
            except KafkaError as failure:
                self.note(f"learns no leaders: {failure.code}")
        found: dict[Peer, list[int]] = {}
        for index in indexes:
            if index in self._leaders:
                found.setdefault(self._leaders[index], []).append(index)
        return found

    def forget_leaders(self) -> None:
        """Ask again."""
        self._leaders.clear()

    async def _learn_leaders(self) -> None:
        version = self.version_of("Metadata", FIRST_METADATA_THAT_CREATES_NOTHING)
        response = await self.ask(
            MetadataRequest(
                topics=[MetadataRequestTopic(name=self.topic.name)],
                allow_auto_topic_creation=False,
            ),
            version,
        )
        peers = {at.node_id: Peer(at.node_id, at.host, at.port) for at in response.brokers}
        for topic in response.topics:
            for partition in topic.partitions:
                if not partition.error_code and partition.leader_id in peers:
                    self._leaders[partition.partition_index] = peers[partition.leader_id]

    # ---------------------------------------------------------------- who coordinates

    async def coordinator(self, kind: int, key: str) -> Peer:
        """The coordinator of a group (0) or a transactional id (1); KafkaError when there is none
        now."""
        found = self._coordinators.get((kind, key))
        if found is not None:
            return found
        version = self.version_of("FindCoordinator", kind)  # version 0 knows groups only
        message = FindCoordinatorRequest(key_type=kind)
        if version >= FIRST_WITH_KEYS_LIST:
            message.coordinator_keys = [key]
        else:
            message.key = key
        response = await self.ask(message, version)
        answer = response.coordinators[0] if version >= FIRST_WITH_KEYS_LIST else response
        if answer.error_code:
            raise KafkaError(answer.error_code)
        found = Peer(answer.node_id, answer.host, answer.port)
        self._coordinators[kind, key] = found
        return found

    def forget_coordinators(self) -> None:
        """Ask again."""
        self._coordinators.clear()

    async def ask_coordinator(
        self, kind: int, key: str, message: Message, version: int, purpose: str
    ) -> Any:
        """The answer of the coordinator to a request."""
        peer = await self.coordinator(kind, key)
        return await self.ask_within_life(
            message, version, peer=peer, timeout_ms=REQUEST_TIMEOUT_MS, purpose=purpose
        )
