"""The part of transaction_script about offsets that are committed in transactions."""

from __future__ import annotations

from typing import Any

from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.protocol.messages import (
    fetch_request,
    join_group_request,
    offset_commit_request,
    sync_group_request,
)
from pykbroker.protocol.record_batch import iter_headers
from tests.interop.transaction_play import Play
from tests.interop.transaction_producer import Producer, fetch_offsets


def add_offsets(play: Play) -> None:
    play.part = "groups added"
    for version in range(5):
        producer = Producer(play, f"groups v{version}").init("fresh").init("again")
        producer.add_offsets("a group", version, "some group")
        producer.add_offsets("again", version, "some group")
        producer.add_offsets("an empty group id", version, "")
        producer.add_offsets("an older epoch", version, "some group", epoch=producer.epoch - 1)
        producer.add_offsets("a later epoch", version, "some group", epoch=producer.epoch + 1)
        producer.add_offsets("another producer", version, "some group", id=424242)
        producer.add_offsets("an unknown id", version, "some group", name="stranger")
        producer.add_offsets("an empty id", version, "some group", name="")
        producer.end("an end", 4, version % 2 == 0)


def commit_offsets(play: Play) -> None:
    play.part = "offsets"
    for version in play.offset_versions:
        group = f"offsets v{version}"
        producer = Producer(play, group).init("fresh").init("again")
        producer.commit_offsets("without AddOffsetsToTxn", version, group)
        if play.state(group) == "Ongoing":
            producer.end("implicit", 5, True)
        producer.add_offsets("its group", 3, group)
        _refusals(producer, version, group)
        fetch_offsets(play, "before", group, stable=True)
        producer.commit_offsets("the first", version, group)
        for stable in (False, True):
            fetch_offsets(play, f"pending, stable {stable}", group, stable=stable)
            fetch_offsets(play, f"pending, stable {stable}", group, stable=stable, version=7)
        producer.end("aborted", 4 if version < 5 else 5, False)
        fetch_offsets(play, "once aborted", group, stable=True)
        producer.add_offsets("a second time", 3, group)
        both = [("ledger", 0, 7), ("ledger", 1, 8)]
        producer.commit_offsets("two", version, group, both)
        producer.commit_offsets("one of them again", version, group, [("ledger", 1, 9)])
        producer.end("committed", 4 if version < 5 else 5, True)
        fetch_offsets(play, "once committed", group, stable=True)
        producer.commit_offsets("behind the end", version, group)
        _plain_commit(play, group)
        if play.state(group) == "Ongoing":
            producer.end("whatever there is", 5, False)
        fetch_offsets(play, "at last", group, stable=True)


def _refusals(producer: Producer, version: int, group: str) -> None:
    def ask(label: str, to: str = group, **fields: object) -> None:
        producer.commit_offsets(label, version, to, **fields)  # type: ignore[arg-type]

    ask("an unknown topic", offsets=[("missing", 0, 1), ("ledger", 1, 1)])
    ask("an unknown partition", offsets=[("ledger", 9, 1)])
    ask("no topics", offsets=[])
    ask("a negative offset", offsets=[("ledger", 0, -5)])
    ask("long metadata", metadata="m" * 5000)
    ask("no metadata", metadata=None)
    ask("an older epoch", epoch=producer.epoch - 1)
    ask("a later epoch", epoch=producer.epoch + 1)
    ask("another producer", id=424242)
    ask("another group", "another group")
    ask("an empty group", "")
    if version >= 3:
        ask("a generation", generation_id_or_member_epoch=5)
        ask("a member", member_id="nobody")
        ask("a member of a generation", member_id="nobody", generation_id_or_member_epoch=5)
        ask("an instance", member_id="nobody", group_instance_id="nobody either")
    producer.commit_offsets("an unknown id", version, group, name="stranger")
    producer.commit_offsets("an empty id", version, group, name="")


def _plain_commit(play: Play, group: str) -> None:
    """A commit outside of any transaction, which overtakes those that are pending."""
    partition = offset_commit_request.OffsetCommitRequestPartition(
        partition_index=0, committed_offset=20, committed_metadata=""
    )
    topic = offset_commit_request.OffsetCommitRequestTopic(name="ledger", partitions=[partition])
    request = offset_commit_request.OffsetCommitRequest(group_id=group, topics=[topic])
    play.ask("plain", "OffsetCommit", 8, request)


def offset_batches(play: Play) -> None:
    """The headers of the group coordinator's own batches."""
    play.part = "offset batches"
    partition = fetch_request.FetchPartition(partition=0, partition_max_bytes=1 << 24)
    topic = fetch_request.FetchTopic(topic=GROUP_METADATA_TOPIC, partitions=[partition])
    request = fetch_request.FetchRequest(
        max_wait_ms=0, min_bytes=0, max_bytes=1 << 24, session_epoch=-1, topics=[topic]
    )
    (found,) = play.client.ask("Fetch", 11, request).responses[0].partitions
    headers = [header for _, header in iter_headers(bytes(found.records))]
    assert len(headers) > 20
    for header in headers:
        producer = f"{play.name_of(header.producer_id)} epoch {header.producer_epoch}"
        kind = f"sequence {header.base_sequence} attributes {header.attributes}"
        batch = f"{header.record_count} records of {producer} {kind}"
        play.heard.append((f"{play.part}: at {header.base_offset}", batch))


def commit_offsets_as_members(play: Play) -> None:
    """KIP-447: a member that is no more, or of an earlier generation, commits nothing."""
    play.part = "members"
    for version in play.offset_versions[3:]:
        group = f"members v{version}"
        member, generation = _join(play, group)
        producer = Producer(play, group).init("fresh")
        producer.add_offsets("its group", 3, group)
        right: dict[str, Any] = {"member_id": member, "generation_id_or_member_epoch": generation}
        asked: list[tuple[str, dict[str, Any]]] = [
            ("the member", right),
            ("an earlier generation", right | {"generation_id_or_member_epoch": generation - 1}),
            ("a later generation", right | {"generation_id_or_member_epoch": generation + 1}),
            ("no generation", right | {"generation_id_or_member_epoch": -1}),
            ("another member", right | {"member_id": "nobody"}),
            ("no member", right | {"member_id": ""}),
            ("no member of any generation", {}),
            ("an instance of it", right | {"group_instance_id": "nobody"}),
        ]
        for label, fields in asked:
            producer.commit_offsets(label, version, group, **fields)
        fetch_offsets(play, "pending", group, stable=True)
        producer.end("committed", 4, True)
        fetch_offsets(play, "once committed", group, stable=True)


def _join(play: Play, group: str) -> tuple[str, int]:
    """The only member of a group, and its generation; outside of the transcript."""
    protocol = join_group_request.JoinGroupRequestProtocol(name="range", metadata=b"")
    join = join_group_request.JoinGroupRequest(
        group_id=group,
        session_timeout_ms=600_000,
        rebalance_timeout_ms=600_000,
        protocol_type="consumer",
        protocols=[protocol],
    )
    joined = play.client.ask("JoinGroup", 3, join)
    assert joined.error_code == 0
    sync = sync_group_request.SyncGroupRequest(
        group_id=group, generation_id=joined.generation_id, member_id=joined.member_id
    )
    assert play.client.ask("SyncGroup", 2, sync).error_code == 0
    return joined.member_id, joined.generation_id
