"""`pykbroker groups --describe`: offsets and lag, members, or state of groups."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pykbroker.cli.admin import AdminClient, ServerError
from pykbroker.cli.command import CommandError, print_json
from pykbroker.cli.get_offsets import end_offsets
from pykbroker.cli.group_queries import (
    NotConsumerGroupError,
    committed_offsets,
    describe_group,
)
from pykbroker.protocol.primitives import DecodeError
from pykbroker.values import NamedTuple

MISSING: Final = "-"
_REBALANCING: Final = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")


class Member(NamedTuple):
    """A member with its assignment decoded."""

    id: str
    instance_id: str | None
    client_id: str
    host: str
    partitions: list[tuple[str, int]]


class Row(NamedTuple):
    """One line of the description of offsets."""

    topic: str | None
    partition: int | None
    leader_epoch: int | None
    offset: int | None
    end_offset: int | None
    consumer_id: str
    host: str
    client_id: str

    @property
    def lag(self) -> int | None:
        if self.offset is None or self.end_offset is None:
            return None
        return self.end_offset - self.offset


def describe(client: AdminClient, options: argparse.Namespace, groups: Sequence[str]) -> int:
    descriptions: dict[str, Any] = {}
    failures: list[CommandError] = []
    for group in groups:
        try:
            descriptions[group] = describe_group(client, group)
        except (NotConsumerGroupError, ServerError) as error:
            if len(groups) == 1:
                raise
            failures.append(error)
    if options.members:
        shown = _members(options, descriptions)
    elif options.state is not None:
        shown = _states(client, options, descriptions)
    else:
        shown = _offsets(client, options, descriptions)
    if options.json:
        print_json(shown)
    for failure in failures:
        print(f"\nError: {failure}", file=sys.stderr)
    return 1 if failures else 0


def members_of(description: Any) -> list[Member]:
    from pykbroker.protocol.messages.consumer_protocol_assignment import (
        ConsumerProtocolAssignment,
    )

    result = []
    for each in description.members:
        content = bytes(each.member_assignment)
        partitions: list[tuple[str, int]] = []
        if len(content) >= 2:
            # A version newer than those known here begins like the newest known one.
            version = min(
                int.from_bytes(content[:2], "big"), ConsumerProtocolAssignment.MAX_VERSION
            )
            try:
                assignment, _ = ConsumerProtocolAssignment.decode(content, 2, version)
            except DecodeError as error:
                why = f"the assignment of member {each.member_id} cannot be read: {error}"
                print(f"\nWarning: {why}", file=sys.stderr)
            else:
                partitions = sorted(
                    (topic.topic, number)
                    for topic in assignment.assigned_partitions
                    for number in topic.partitions
                )
        result.append(
            Member(
                each.member_id, each.group_instance_id, each.client_id, each.client_host, partitions
            )
        )
    return result


def _should_print(group: str, state: str, rows: int) -> bool:
    """Print a notice about the state of a group; return whether there is more to print."""
    if state == "Dead":
        print(f"\nError: Consumer group '{group}' does not exist.")
    elif state == "Empty":
        print(f"\nConsumer group '{group}' has no active members.", file=sys.stderr)
    elif state in _REBALANCING:
        print(f"\nWarning: Consumer group '{group}' is rebalancing.", file=sys.stderr)
    return state != "Dead" and rows > 0


# --- offsets ----------------------------------------------------------------------------------


def _offsets(
    client: AdminClient, options: argparse.Namespace, descriptions: Mapping[str, Any]
) -> object:
    shown = []
    for group in sorted(descriptions):
        state = descriptions[group].group_state
        rows = [] if state == "Dead" else offset_rows(client, group, descriptions[group])
        if options.json:
            shown.append({"group": group, "state": state, "partitions": list(map(_row_json, rows))})
        elif _should_print(group, state, len(rows)):
            _print_rows(group, rows, verbose=options.verbose)
    return shown


def offset_rows(client: AdminClient, group: str, description: Any) -> list[Row]:
    """Return partitions of members first, starting with the member with most, then the others."""
    committed = committed_offsets(client, group)
    members = sorted(members_of(description), key=lambda each: -len(each.partitions))
    assigned = {partition for each in members for partition in each.partitions}
    free = sorted(set(committed) - assigned)
    ends = end_offsets(client, assigned | set(free))
    rows: list[Row] = []

    def add(partitions: Sequence[tuple[str, int]], owner: tuple[str, str, str]) -> None:
        for topic, number in partitions:
            offset, epoch = committed.get((topic, number), (None, None))
            if epoch is not None and epoch < 0:
                epoch = None
            end = ends.get((topic, number))
            rows.append(Row(topic, number, epoch, offset, end, *owner))

    for each in members:
        add(each.partitions, (each.id, each.host, each.client_id))
    add(free, (MISSING, MISSING, MISSING))
    return rows


def _print_rows(group: str, rows: Sequence[Row], *, verbose: bool) -> None:
    titles = ["GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"]
    titles += ["CONSUMER-ID", "HOST", "CLIENT-ID"]
    group_width = max(15, len(group))
    topic_width = max([15, *(len(each.topic or MISSING) for each in rows)])
    id_width = max([15, *(len(each.consumer_id) for each in rows)])
    host_width = max([15, *(len(each.host) for each in rows)])
    widths = [group_width, topic_width, 10, 15, 15, 15, id_width, host_width, 0]
    if verbose:
        titles.insert(3, "LEADER-EPOCH")
        widths.insert(3, 15)
    print("\n" + _columns(titles, widths), end="")
    for each in rows:
        cells: list[object] = [group, each.topic, each.partition]
        if verbose:
            cells.append(each.leader_epoch)
        cells += [each.offset, each.end_offset, each.lag]
        cells += [each.consumer_id, each.host, each.client_id]
        print("\n" + _columns(cells, widths), end="")
    print()


def _columns(cells: Sequence[object], widths: Sequence[int]) -> str:
    texts = (MISSING if cell is None else str(cell) for cell in cells)
    return " ".join(f"{text:<{width}}" for text, width in zip(texts, widths, strict=True))


def _row_json(row: Row) -> Mapping[str, object]:
    owned = row.consumer_id != MISSING
    return {
        "topic": row.topic,
        "partition": row.partition,
        "leaderEpoch": row.leader_epoch,
        "currentOffset": row.offset,
        "logEndOffset": row.end_offset,
        "lag": row.lag,
        "consumerId": row.consumer_id if owned else None,
        "host": row.host if owned else None,
        "clientId": row.client_id if owned else None,
    }


# --- members ----------------------------------------------------------------------------------


def _members(options: argparse.Namespace, descriptions: Mapping[str, Any]) -> object:
    shown = []
    for group in sorted(descriptions):
        state = descriptions[group].group_state
        members = members_of(descriptions[group])
        if options.json:
            entries = [_member_json(each) for each in members]
            shown.append({"group": group, "state": state, "members": entries})
        else:
            _should_print(group, state, len(members))
            _print_members(group, members, verbose=options.verbose)
    return shown


def _member_json(member: Member) -> Mapping[str, object]:
    return {
        "consumerId": member.id,
        "groupInstanceId": member.instance_id,
        "host": member.host,
        "clientId": member.client_id,
        "assignment": [{"topic": t, "partition": p} for t, p in member.partitions],
    }


def _print_members(group: str, members: Sequence[Member], *, verbose: bool) -> None:
    with_instance = any(each.instance_id for each in members)
    titles = ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"]
    rows: list[list[object]] = [
        [group, each.id, each.host, each.client_id, len(each.partitions)] for each in members
    ]
    least = [15, 15, 15, 15, 15]
    if with_instance:
        titles.insert(2, "GROUP-INSTANCE-ID")
        least.insert(2, 17)
        for row, each in zip(rows, members, strict=True):
            row.insert(2, each.instance_id or "")
    if verbose:
        titles += ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT"]
        least += [15, 20, 15, 20]
        for row, each in zip(rows, members, strict=True):
            row += [None, _assignment(each.partitions), None, None]
    widths = [
        max([low, *(len(MISSING if row[n] is None else str(row[n])) for row in rows)])
        for n, low in enumerate(least)
    ]
    if verbose:
        print("\n" + _columns(titles, widths), end="")
    else:
        print("\n" + _columns(titles, widths) + " ", end="")
    print()
    for row in rows:
        print(_columns(row, widths) + ("" if verbose else " "))


def _assignment(partitions: Sequence[tuple[str, int]]) -> str | None:
    """Return `topic:0,1;other:2`; None without partitions."""
    numbers: dict[str, list[str]] = {}
    for topic, number in partitions:
        numbers.setdefault(topic, []).append(str(number))
    joined = (f"{topic}:{','.join(each)}" for topic, each in sorted(numbers.items()))
    return ";".join(joined) or None


# --- state ------------------------------------------------------------------------------------


def _states(
    client: AdminClient, options: argparse.Namespace, descriptions: Mapping[str, Any]
) -> object:
    shown = []
    for group in sorted(descriptions):
        description = descriptions[group]
        node = client.coordinator(group)
        coordinator = f"{node.host}:{node.port}  ({node.id})"
        if options.json:
            shown.append(
                {
                    "group": group,
                    "coordinator": node.id,
                    "assignmentStrategy": description.protocol_data or None,
                    "state": description.group_state,
                    "members": len(description.members),
                }
            )
        elif _should_print(group, description.group_state, 1):
            titles = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"]
            cells: list[object] = [group, coordinator, description.protocol_data or None]
            cells += [description.group_state, len(description.members)]
            widths = [max(15, len(group)), max(25, len(coordinator)), 20, 20, 0]
            if options.verbose:
                titles[4:4] = ["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH"]
                cells[4:4] = [None, None]
                widths[4:4] = [15, 25]
            print("\n" + _columns(titles, widths), end="")
            print("\n" + _columns(cells, widths))
    return shown
