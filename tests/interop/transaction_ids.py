"""The part of transaction_script about transactional ids: their coordinator, InitProducerId."""

from __future__ import annotations

from pykbroker.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from tests.interop.transaction_play import Play
from tests.interop.transaction_producer import Producer


def find_coordinators(play: Play) -> None:
    play.part = "coordinators"
    for version in range(1, 7):
        for label, keys in (("an id", ["an id"]), ("no id", [""]), ("two", ["one", "two"])):
            if version >= 4:
                request = FindCoordinatorRequest(key_type=1, coordinator_keys=keys)
            else:
                request = FindCoordinatorRequest(key_type=1, key=keys[0])
            play.ask(label, "FindCoordinator", version, request)


def init_ids(play: Play) -> None:
    """Fresh, again, refused; without a transactional id too."""
    play.part = "ids"
    for version in range(6):
        Producer(play, None).init("without a transactional id", version)
        Producer(play, None).init("without a transactional id, timeout 0", version, 0)
        Producer(play, "").init("an empty transactional id", version)
        for timeout_ms in (0, -1, 900_000, 900_001, 2**31 - 1):
            name = f"timeout {timeout_ms} v{version}"
            Producer(play, name).init(f"timeout {timeout_ms}", version, timeout_ms)
        producer = Producer(play, f"again v{version}")
        for time in ("first", "second", "third"):
            producer.init(time, version)
        producer.init("again with a timeout that is too long", version, 900_001)
        producer.init("again with another timeout", version, 60_000)


def init_with_epochs(play: Play) -> None:
    """KIP-360: a client that says who it was gets its next epoch, or is fenced."""
    play.part = "epochs"
    for version in (3, 4, 5):
        producer = Producer(play, f"known v{version}").init("fresh", version)
        own = {"producer_id": producer.id, "producer_epoch": producer.epoch}
        producer.init("with its epoch", version, **own)
        producer.init("with its last epoch: the same answer", version, **own)
        producer.init("without an epoch", version)
        producer.init("with an epoch of two before", version, **own)
        producer.init("with an epoch to come", version, producer_id=producer.id, producer_epoch=99)
        producer.init("another producer id", version, producer_id=424242, producer_epoch=0)
        producer.init("no producer id", version, producer_epoch=0)
        producer.init("no epoch", version, producer_id=producer.id)
        producer.init("a negative epoch", version, producer_id=producer.id, producer_epoch=-2)
        stranger = Producer(play, f"stranger v{version}")
        stranger.init("an unknown id with an epoch", version, producer_id=5, producer_epoch=3)
        stranger.init("that id without one", version)
        nobody = Producer(play, None)
        nobody.init("no transactional id, with an epoch", version, producer_id=5, producer_epoch=3)
        nobody.init("no transactional id, no epoch", version, producer_id=5)


def init_over_open_transactions(play: Play) -> None:
    """The transaction is aborted first, and its producer fenced."""
    play.part = "over open transactions"
    for version in range(6):
        older = Producer(play, f"over v{version}").init("fresh", version).begin(0, 1, topic="over")
        newer = Producer(play, older.name).init("while it is open", version)
        play.settle(str(older.name))
        newer.init("once it is aborted", version)
        older.produce("by the older", 11, "over")
        older.add("by the older", 3, {"over": [0]})
        older.end("by the older", 4, True)
        older.add_offsets("by the older", 3, "group")
        if version >= 3:
            known = {"producer_id": older.id, "producer_epoch": older.epoch}
            older.init("by the older, with its epoch", version, **known)
            newer.begin(0, topic="over")
            known = {"producer_id": newer.id, "producer_epoch": newer.epoch}
            newer.init("with its epoch, while its own is open", version, **known)
            play.settle(str(newer.name))
            newer.init("with its epoch, once it is aborted", version, **known)
            newer.begin(0, topic="over")
            newer.end("of the new epoch", 4, True)
