"""The part of transaction_script about how transactions end: EndTxn, retries, timeouts, views."""

from __future__ import annotations

from typing import Any

from pykbroker.protocol.messages import describe_producers_request
from pykbroker.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from pykbroker.protocol.messages.list_transactions_request import ListTransactionsRequest
from tests.interop.transaction_markers import mark, marker
from tests.interop.transaction_play import Play
from tests.interop.transaction_producer import Producer

SLOW_MS = 8000
"""Long enough for what happens in the transaction on a slow machine."""
STATES = ("Empty", "Ongoing", "CompleteCommit", "CompleteAbort", "PrepareCommit")


def end(play: Play) -> None:
    """Every version: an open, an ended, an empty transaction, and whoever may not end it."""
    play.part = "ends"
    for version in play.end_versions:
        for committed in (True, False):
            _end(play, version, committed)


def _end(play: Play, version: int, committed: bool) -> None:
    what = "commit" if committed else "abort"
    empty = Producer(play, f"empty {what} v{version}").init("fresh")
    empty.end(f"{what} of nothing", version, committed)
    empty.end(f"{what} of nothing again", version, committed)
    producer = Producer(play, f"{what} v{version}").init("fresh").init("again").begin(0, 1)
    producer.end(f"{what} with an older epoch", version, committed, epoch=producer.epoch - 1)
    producer.end(f"{what} with a later epoch", version, committed, epoch=producer.epoch + 1)
    producer.end(f"{what} of another producer", version, committed, id=424242)
    producer.end(f"{what} of an unknown id", version, committed, name="stranger")
    producer.end(f"{what} of an empty id", version, committed, name="")
    before = {"id": producer.id, "epoch": producer.epoch}
    producer.end(f"{what}", version, committed)
    producer.end(f"{what} repeated", version, committed, **before)
    producer.end(f"the other end, not {what}", version, not committed, **before)
    producer.end(f"{what} with what it has become", version, committed)
    producer.end(f"not {what} with what it has become", version, not committed)
    producer.begin(2)
    producer.end(f"{what} of a second one", version, committed)
    producer.init(f"behind {what}", version)


def end_while_another_ends(play: Play) -> None:
    """A partition that knows a later coordinator takes no marker: the transaction stays prepared.

    Until the broker starts again, and coordinates in a later epoch.
    """
    play.part = "ending"
    for version in play.end_versions[4:]:
        for committed in (True, False):
            _stick(play, stuck_name(version, committed), version, committed)


def stuck_name(version: int, committed: bool) -> str:
    return f"stuck {committed} v{version}"


def _stick(play: Play, name: str, version: int, committed: bool) -> None:
    producer = Producer(play, name).init("fresh")
    mark(
        play,
        "by a later coordinator",
        2,
        marker(producer, ("stuck", [0]), coordinator_epoch=1),
    )
    producer.begin(0, topic="stuck")
    before = {"id": producer.id, "epoch": producer.epoch}
    producer.end("ends", version, committed, waits=False)
    describe(play, name)
    for which in ("before", "after"):
        who: dict[str, Any] = before if which == "before" else {}
        producer.end(f"again, as {which}", version, committed, waits=False, **who)
        producer.end(f"the other end, as {which}", version, not committed, waits=False, **who)
        producer.add(f"a partition, as {which}", 3, {"ledger": [0]}, **who)
        producer.add(f"the same partition, as {which}", 3, {"stuck": [0]}, **who)
        producer.add(f"verify, as {which}", 5, {"stuck": [0]}, verify_only=True, **who)
        producer.add_offsets(f"a group, as {which}", 3, "group", **who)
        for api_version in play.produce_versions[7:10]:
            producer.produce(f"a record, as {which}", api_version, sequence=0, **who)
        for api_version in play.offset_versions[3:6]:
            producer.commit_offsets(f"an offset, as {which}", api_version, name, **who)
    producer.init("another instance", 5)
    producer.init("with its epoch", 5, producer_id=producer.id, producer_epoch=producer.epoch)


def time_out(play: Play) -> None:
    """The coordinator aborts what takes too long, and fences its producer."""
    play.part = "timeouts"
    slow: dict[int, Producer] = {}
    for version in play.end_versions[4:]:
        name = f"slow v{version}"
        slow[version] = Producer(play, name).init("fresh", version, SLOW_MS).begin(0, topic="slow")
        slow[version].add_offsets("a group", 3, name)
        slow[version].commit_offsets("an offset", 3, name)
    for producer in slow.values():
        play.settle(str(producer.name))
    for version, producer in slow.items():
        _too_late(play, producer, version)


def _too_late(play: Play, producer: Producer, version: int) -> None:
    name = str(producer.name)
    describe(play, name)
    for committed in (True, False):
        producer.end(f"too late {committed}", version, committed)
    producer.produce("too late", 11, "slow")
    producer.add("too late", 3, {"slow": [0]})
    producer.add_offsets("too late", 3, name)
    producer.commit_offsets("too late", 3, name)
    own = {"producer_id": producer.id, "producer_epoch": producer.epoch}
    producer.init("with its epoch", version, **own)
    play.settle(name)
    producer.init("anew", version)
    producer.begin(0, topic="slow")
    producer.end("in time", version, True)


def describe(play: Play, *names: str) -> None:
    request = DescribeTransactionsRequest(transactional_ids=list(names))
    play.ask(", ".join(names), "DescribeTransactions", 0, request)


def views(play: Play) -> None:
    """What operators see: a handful of ids in every state, and every filter."""
    play.part = "views"
    producers = [Producer(play, f"view {name}").init("fresh") for name in "abcde"]
    for producer in producers[1:]:
        producer.begin(1, 2)
    producers[1].end("commit", 4, True)
    producers[2].end("abort", 4, False)
    producers[3].add_offsets("a group", 3, "view group")
    names = [str(producer.name) for producer in producers]
    describe(play, *names)
    describe(play, "stranger")
    describe(play, "")
    describe(play)
    describe(play, "stranger", names[3])
    _list(play, [producer.id for producer in producers])
    for partition in (1, 2, 9):
        describe_producers(play, "ledger", partition)
    describe_producers(play, "mixed", 0)
    describe_producers(play, "missing", 0)


def _list(play: Play, producer_ids: list[int]) -> None:
    everything = {"producer_id_filters": producer_ids}
    states: list[tuple[str, int, dict[str, object]]]
    states = [(f"state {state}", 0, {"state_filters": [state]}) for state in STATES]
    filters: list[tuple[str, int, dict[str, object]]] = [
        ("all of them", 0, {}),
        *states,
        ("two states", 0, {"state_filters": ["Ongoing", "Empty"]}),
        ("unknown states", 0, {"state_filters": ["Ongoing", "Sleeping", "ongoing", ""]}),
        ("only unknown states", 0, {"state_filters": ["Sleeping"]}),
        ("Dead", 0, {"state_filters": ["Dead", "PrepareEpochFence"]}),
        ("one producer", 0, {"producer_id_filters": producer_ids[:1]}),
        ("no such producer", 0, {"producer_id_filters": [987_654_321]}),
        ("a short duration", 1, {"duration_filter": 0}),
        ("a long duration", 1, {"duration_filter": 86_400_000}),
        ("a negative duration", 1, {"duration_filter": -7}),
        ("a pattern", 2, {"transactional_id_pattern": "view [ab]"}),
        ("a part of a name", 2, {"transactional_id_pattern": "view"}),
        ("an empty pattern", 2, {"transactional_id_pattern": ""}),
        ("a wrong pattern", 2, {"transactional_id_pattern": "("}),
        ("a pattern that RE2 has not", 2, {"transactional_id_pattern": "(?=view).*"}),
    ]
    for version in range(3):
        for label, since, fields in filters:
            if version >= since:
                request = ListTransactionsRequest(**everything | fields)  # type: ignore[arg-type]
                play.ask(label, "ListTransactions", version, request)


def describe_producers(play: Play, topic: str, partition: int) -> None:
    request = describe_producers_request.DescribeProducersRequest(
        topics=[describe_producers_request.TopicRequest(name=topic, partition_indexes=[partition])]
    )
    play.ask(f"{topic}-{partition}", "DescribeProducers", 0, request)
