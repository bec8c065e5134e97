"""What a scripted client holds against a node that does not answer."""

from __future__ import annotations

import pytest

from pykbroker.errors import KafkaError
from pykbroker.protocol.messages.metadata_request import MetadataRequest
from pykbroker.testing.world.clients.client import Client
from pykbroker.testing.world.world import Violation, World
from pykbroker.types import Peer

NODE = Peer(1, "node-1", 9092)


class Asking(Client):
    """Asks a node three times, and counts its failures."""

    failures = 0

    async def script(self) -> None:
        for _ in range(3):
            try:
                await self.ask(MetadataRequest(topics=None), 12)
            except KafkaError:
                self.failures += 1


def asking(*, is_calm: bool, serves: bool) -> Asking:
    """A client of a node that refuses every connection."""
    world = World(1)
    world.add_machine(NODE.host).boot()
    if is_calm:
        world.calm_since_us = -60_000_000
    if serves:
        world.serving.add(NODE.host)
    client = Asking(world, "client", [NODE])
    client.start()
    world.run_until(lambda: client.is_done, 60_000_000)
    return client


def test_a_node_that_serves_must_answer_when_the_faults_are_over() -> None:
    with pytest.raises(Violation, match="client: no answer to MetadataRequest although no faults"):
        asking(is_calm=True, serves=True)


@pytest.mark.parametrize(("is_calm", "serves"), [(False, True), (True, False)])
def test_another_need_not(is_calm: bool, serves: bool) -> None:
    assert asking(is_calm=is_calm, serves=serves).failures == 3
