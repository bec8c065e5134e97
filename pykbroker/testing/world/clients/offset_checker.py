"""Compares the committed offsets of all transactional ids with their transactions, at the end."""

from __future__ import annotations

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.testing.world.clients.offset_requests import fetched_offset, offset_fetch
from pykbroker.testing.world.clients.routed_client import GROUP
from pykbroker.testing.world.clients.transactional_client import TransactionalClient
from pykbroker.testing.world.clients.transactor_requests import FIRST_WITH_STABLE_OFFSETS

RETRIED = frozenset(
    (
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NETWORK_EXCEPTION,
    )
)
TRIES = 20


class OffsetChecker(TransactionalClient):
    """A scripted client that compares committed offsets with transactions."""

    async def script(self) -> None:
        """Check each partition in the group of each transactional id that got a producer id."""
        for transactional_id in sorted({at.transactional_id for at in self.ledger.instances}):
            for index in range(self.topic.partitions):
                offset = await self._fetch(f"group-of-{transactional_id}", index)
                self.ledger.check_last_offset(transactional_id, index, offset)

    async def _fetch(self, group: str, index: int) -> int:
        version = self.version_of("OffsetFetch", FIRST_WITH_STABLE_OFFSETS)
        message = offset_fetch(group, self.topic, index, version)
        for _ in range(TRIES):
            try:
                response = await self.ask_coordinator(GROUP, group, message, version, "offsets")
                return fetched_offset(response, version)
            except KafkaError as failure:
                if failure.code not in RETRIED:
                    raise self.violated(f"{group} {index}: {failure.code}") from failure
            self.forget_coordinators()
            await self.pause(50, 300)
        raise self.violated(f"{group} {index}: no offset although no faults are active")
