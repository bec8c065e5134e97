"""A long conversation about transactions: pykbroker must answer as Apache Kafka does.

`play` speaks to a fresh broker and returns what came back, line by line; `play_again` goes on after
a restart. What an answer gives (ids, epochs) the next request uses, as a client does.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from tests.interop.transaction_ends import (
    describe,
    describe_producers,
    end,
    end_while_another_ends,
    stuck_name,
    time_out,
    views,
)
from tests.interop.transaction_ids import (
    find_coordinators,
    init_ids,
    init_over_open_transactions,
    init_with_epochs,
)
from tests.interop.transaction_markers import write_markers
from tests.interop.transaction_offsets import (
    add_offsets,
    commit_offsets,
    commit_offsets_as_members,
    offset_batches,
)
from tests.interop.transaction_partitions import (
    add_partitions,
    mix,
    produce,
    read_mixed,
)
from tests.interop.transaction_play import Play
from tests.interop.transaction_producer import Producer, fetch_offsets

CONFIG = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
}
PARTS = (
    find_coordinators,
    init_ids,
    init_with_epochs,
    init_over_open_transactions,
    add_partitions,
    produce,
    mix,
    write_markers,
    add_offsets,
    commit_offsets,
    offset_batches,
    commit_offsets_as_members,
    end,
    end_while_another_ends,
    time_out,
    views,
)


def play(bootstrap_servers: str, transaction_version: int, only: str = "") -> list[tuple[str, Any]]:
    """Speak all parts, or those with `only` in their names; leave a transaction open."""
    story = Play(bootstrap_servers, transaction_version)
    story.prepare()
    for part in PARTS:
        if only in part.__name__:
            part(story)
    leave_open(story)
    story.client.close()
    return story.heard


def leave_open(story: Play) -> None:
    story.part = "left open"
    producer = Producer(story, "left open").init("fresh").begin(0, 1)
    producer.add_offsets("a group", 3, "left open")
    producer.commit_offsets("an offset", 3, "left open")
    describe(story, "left open")


def play_again(bootstrap_servers: str, transaction_version: int) -> list[tuple[str, Any]]:
    """After a restart: what is still known, and the end of what was left open."""
    story = Play(bootstrap_servers, transaction_version)
    story.join()
    story.part = "after a restart"
    describe(story, "left open", "view a", "view b", "view c", "commit v5", "abort v4")
    for version, committed in product(story.end_versions[4:], (True, False)):
        name = stuck_name(version, committed)
        story.settle(name)
        describe(story, name)
        producer = Producer(story, name).init("once it has ended").begin(0, topic="stuck")
        producer.end("the next", version, committed)
    read_mixed(story)
    describe_producers(story, "mixed", 0)
    fetch_offsets(story, "pending", "left open", stable=True)
    producer = Producer(story, "left open")
    producer.init("while it is open")
    story.settle("left open")
    describe(story, "left open")
    fetch_offsets(story, "once aborted", "left open", stable=True)
    producer.init("once it is aborted")
    producer.begin(1)
    producer.end("a new one", story.end_versions[-1], True)
    story.client.close()
    return story.heard
