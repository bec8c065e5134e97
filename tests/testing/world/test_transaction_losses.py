"""What a power failure may take from transactions."""

from __future__ import annotations

from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from pykbroker.testing.world.transaction_losses import losses_of
from pykbroker.testing.world.transactions import TOPIC
from tests.testing.world.transactional_life import transactional_life


def test_what_was_not_flushed_may_be_lost() -> None:
    life = transactional_life()
    assert life.transactions is not None
    life.transactions.add_clients(1)
    for client in life.transactions.clients():
        client.start()
    ledger = life.transactions.ledger
    life.world.run_until(lambda: ledger.commits > 2, life.world.now_us + 60_000_000)
    server = life.node.server
    assert server is not None
    before = losses_of(server, TOPIC)
    assert before.transactional_ids <= {at.transactional_id for at in ledger.instances}
    assert before.transactional_ids
    assert before.lost
    assert before.lost <= ledger._transaction_of.keys()
    for partition in server.replica_manager.partitions():
        if partition.topic in (TOPIC, TRANSACTION_STATE_TOPIC, GROUP_METADATA_TOPIC):
            partition.log.flush()
    assert not losses_of(server, TOPIC).is_anything_lost
