"""`pykbroker groups --reset-offsets` and `--delete-offsets`."""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, Final

from pykbroker.cli.admin import AdminClient, ServerError, by_topic, check
from pykbroker.cli.command import CommandError, is_number, print_json
from pykbroker.cli.get_offsets import end_offsets, list_offsets
from pykbroker.cli.group_queries import (
    NotConsumerGroupError,
    committed_offsets,
    describe_group,
)
from pykbroker.errors import ErrorCode, error_message, error_name

Partition = tuple[str, int]
Offsets = dict[Partition, int]

_EARLIEST: Final = -2
_LATEST: Final = -1
_DURATION: Final = re.compile(
    r"([-+]?)P(?:([-+]?\d+)D)?(?:T(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+(?:\.\d+)?)S)?)?\Z",
    re.IGNORECASE,
)


def reset_offsets(client: AdminClient, options: argparse.Namespace, groups: Sequence[str]) -> int:
    """Compute, and with --execute commit, new offsets of groups without members."""
    plans: dict[str, Offsets] = {}
    code = 0
    for group in groups:
        try:
            state = _state(client, group)
        except NotConsumerGroupError as error:
            if len(groups) == 1:
                raise
            print(f"\nError: {error}", file=sys.stderr)
            code = 1
            continue
        if state in ("Empty", "Dead"):
            plans[group] = _plan(client, options, group)
            if options.execute:
                _commit(client, group, plans[group])
        else:
            print(
                f"\nError: Assignments can only be reset if the group '{group}' is inactive, "
                f"but the current state is {state}."
            )
            plans[group] = {}
            code = 1
    if options.export:
        print(_csv(plans, with_group=len(groups) > 1))
    elif options.json:
        print_json(
            [
                {"group": group, "topic": topic, "partition": number, "newOffset": offset}
                for group, plan in plans.items()
                for (topic, number), offset in sorted(plan.items())
            ]
        )
    else:
        _print_plans(plans)
    return code


def _state(client: AdminClient, group: str) -> str:
    try:
        return str(describe_group(client, group).group_state)
    except ServerError as error:
        if error.code == ErrorCode.GROUP_ID_NOT_FOUND:
            return "Dead"
        raise


def _print_plans(plans: Mapping[str, Offsets]) -> None:
    group_width = max([15, *map(len, plans)])
    topic_width = max([15, *(len(topic) for plan in plans.values() for topic, _ in plan)])
    layout = f"\n{{:<{group_width}}} {{:<{topic_width}}} {{:<10}} {{}}"
    if plans:
        print(layout.format("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"), end="")
    for group, plan in plans.items():
        for (topic, number), offset in sorted(plan.items()):
            print(layout.format(group, topic, number, offset), end="")
    print()


def _csv(plans: Mapping[str, Offsets], *, with_group: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for group, plan in plans.items():
        for (topic, number), offset in sorted(plan.items()):
            row = (topic, number, offset)
            writer.writerow((group, *row) if with_group else row)
    return text.getvalue()


# --- which partitions, which offsets ----------------------------------------------------------


def _plan(client: AdminClient, options: argparse.Namespace, group: str) -> Offsets:
    if options.from_file:
        wanted = _read_plan(options.from_file, group, single=len(options.group) == 1)
        _check_known(client, wanted)
        return _within_log(client, wanted)
    if options.all_topics:
        partitions = list(committed_offsets(client, group))
    else:
        partitions = parse_partitions(client, options.topic)
    _check_known(client, partitions)
    if options.to_offset is not None:
        return _within_log(client, dict.fromkeys(partitions, options.to_offset))
    if options.to_earliest:
        return _offsets_at(client, partitions, _EARLIEST)
    if options.to_latest:
        return end_offsets(client, partitions)
    if options.to_datetime:
        return _offsets_at_time(client, partitions, parse_datetime(options.to_datetime))
    if options.by_duration:
        ago_ms = parse_duration_ms(options.by_duration)
        return _offsets_at_time(client, partitions, int(time.time() * 1000) - ago_ms)
    committed = {key: offset for key, (offset, _) in committed_offsets(client, group).items()}
    if options.to_current:
        ends = end_offsets(client, [each for each in partitions if each not in committed])
        return {each: committed.get(each, ends.get(each, 0)) for each in partitions}
    for topic, number in partitions:
        if (topic, number) not in committed:
            raise CommandError(
                f"Cannot shift offset for partition {topic}-{number} since there is no current "
                "committed offset"
            )
    return _within_log(client, {each: committed[each] + options.shift_by for each in partitions})


def parse_partitions(client: AdminClient, arguments: Iterable[str]) -> list[Partition]:
    """Parse `topic` (all its partitions) or `topic:0,1`."""
    result: list[Partition] = []
    whole = [each for each in arguments if ":" not in each]
    for each in arguments:
        if ":" not in each:
            continue
        topic, *rest = each.split(":")
        if len(rest) != 1 or not topic:
            raise CommandError(f"Invalid topic arg '{each}', expected topic name and partitions")
        for number in rest[0].split(","):
            if not is_number(number):
                raise CommandError(f"Invalid partition '{number}' specified in topic arg '{each}'")
            result.append((topic, int(number)))
    if whole:
        for topic in client.metadata(whole).topics:
            check(topic.error_code)
            result += [(topic.name, part.partition_index) for part in topic.partitions]
    return list(dict.fromkeys(result))


def _check_known(client: AdminClient, partitions: Iterable[Partition]) -> None:
    """Check that every partition exists and has a leader."""
    for node, missing in client.leaders(partitions).items():
        if node < 0:
            shown = ",".join(f"{topic}-{number}" for topic, number in missing)
            raise CommandError(f'The partitions "{shown}" do not exist')


def _offsets_at(client: AdminClient, partitions: Iterable[Partition], time_ms: int) -> Offsets:
    offsets, errors = list_offsets(client, dict.fromkeys(partitions, time_ms))
    for (topic, number), why in errors.items():
        raise CommandError(f"Error getting offset of topic partition {topic}-{number}: {why}")
    return offsets


def _offsets_at_time(client: AdminClient, partitions: Iterable[Partition], time_ms: int) -> Offsets:
    """Return the offsets of the first records at or after a time; the end if there is none."""
    offsets = _offsets_at(client, partitions, time_ms)
    late = [key for key, offset in offsets.items() if offset == -1]
    for topic, number in late:
        print(
            f"\nWarn: Partition {number} from topic {topic} is empty. Falling back to latest "
            "known offset."
        )
    return offsets | end_offsets(client, late)


def _within_log(client: AdminClient, wanted: Offsets) -> Offsets:
    """Limit offsets outside of their log to its start or end, with a warning."""
    starts = _offsets_at(client, wanted, _EARLIEST)
    ends = _offsets_at(client, wanted, _LATEST)
    result: Offsets = {}
    for (topic, number), offset in wanted.items():
        start, end = starts[topic, number], ends[topic, number]
        bound = min(max(offset, start), end)
        if bound != offset:
            side, kind = ("higher", "latest") if offset > end else ("lower", "earliest")
            print(
                f"WARN New offset ({offset}) is {side} than {kind} offset for topic partition "
                f"{topic}-{number}. Value will be set to {bound}.",
                file=sys.stderr,
            )
        result[topic, number] = bound
    return result


def _read_plan(file: str, group: str, *, single: bool) -> Offsets:
    """Read a CSV file of `topic,partition,offset` (one group) or `group,topic,partition,offset`."""
    wanted: Offsets = {}
    try:
        with open(file, encoding="utf-8", newline="") as stream:
            for number, row in enumerate(csv.reader(stream), 1):
                if not row:
                    continue
                cells = [group, *row] if single and len(row) == 3 else row
                if len(cells) != 4 or not all(map(is_number, cells[2:])):
                    raise CommandError(f"{file}, line {number}: expected topic,partition,offset")
                if cells[0] == group:
                    wanted[cells[1], int(cells[2])] = int(cells[3])
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    if not wanted:
        print(f"\nError: No reset plan for group {group} found.")
    return wanted


def parse_datetime(text: str) -> int:
    """Parse a time like Utils.getDateTime, in ms; without a zone it is UTC."""
    match = re.fullmatch(
        r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,3}))?(Z|[+-]\d{2}(?::?\d{2})?)?", text
    )
    if match is None:
        raise CommandError(f'Unparseable date: "{text}": expected YYYY-MM-DDThh:mm:ss.sss')
    zone = match[3] or "Z"
    if len(zone) == 3:
        zone += ":00"
    try:
        moment = datetime.fromisoformat(f"{match[1]}{'+00:00' if zone == 'Z' else zone}")
    except ValueError as error:
        raise CommandError(f'Unparseable date: "{text}"') from error
    seconds = int(moment.astimezone(timezone.utc).timestamp())  # noqa: UP017
    return seconds * 1000 + int(match[2] or 0)


def parse_duration_ms(text: str) -> int:
    """Parse an ISO 8601 duration like java.time.Duration; rounded to ms, and a T at the end counts
    as nothing.
    """
    match = _DURATION.match(text)
    if match is None or not any(match.group(2, 3, 4, 5)):
        raise CommandError("Text cannot be parsed to a Duration")
    days, hours, minutes = (int(each or 0) for each in match.group(2, 3, 4))
    seconds = float(match[5] or 0)
    total = round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000)
    return -total if match[1] == "-" else total


# --- commit, delete -----------------------------------------------------------------------------


def _commit(client: AdminClient, group: str, offsets: Offsets) -> None:
    from pykbroker.protocol.messages.offset_commit_request import (
        OffsetCommitRequest,
        OffsetCommitRequestPartition,
        OffsetCommitRequestTopic,
    )

    if not offsets:
        return
    request = OffsetCommitRequest(
        group_id=group,
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=n, committed_offset=offsets[topic, n], committed_metadata=""
                    )
                    for n in numbers
                ],
            )
            for topic, numbers in by_topic(offsets).items()
        ],
    )

    def ask(connection: Any) -> None:
        # Version 9: version 10 names topics by id.
        for topic in connection.send(request, 9).topics:
            for each in topic.partitions:
                check(each.error_code)

    client.at_coordinator(group, ask)


_GROUP_ERRORS: Final = frozenset(
    (
        ErrorCode.INVALID_GROUP_ID,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.NON_EMPTY_GROUP,
    )
)


def delete_offsets(client: AdminClient, group: str, topics: Sequence[str]) -> int:
    """Delete the offsets of topics or of some of their partitions."""
    outcomes, code = _delete(client, group, topics)
    if code == ErrorCode.NONE and not any(outcomes.values()):
        print(f"Request succeeded for deleting offsets from group {group}.")
    elif code in _GROUP_ERRORS:
        print(f"\nError: {error_message(code)}")
    elif code == ErrorCode.NONE:
        print("\nError: Encountered some partition-level error, see the follow-up details.")
    else:
        print(f"\nError: Encountered some unknown error: {error_name(code)}")
    width = max([15, *(len(topic) for topic, _ in outcomes)])
    print(f"\n{'TOPIC':<{width}} {'PARTITION':<10} {'STATUS':<15}", end="")
    for (topic, number), error in sorted(outcomes.items()):
        failed = error or code
        status = f"Error: {error_message(failed)}" if failed else "Successful"
        shown = str(number) if number >= 0 else "-"
        print(f"\n{topic:<{width}} {shown:<10} {status:<15}", end="")
    print()
    return 1 if code or any(outcomes.values()) else 0


def _delete(
    client: AdminClient, group: str, topics: Sequence[str]
) -> tuple[dict[Partition, int], int]:
    """Return (error of each partition, error of the whole request)."""
    from pykbroker.protocol.messages.offset_delete_request import (
        OffsetDeleteRequest,
        OffsetDeleteRequestPartition,
        OffsetDeleteRequestTopic,
    )

    outcomes: dict[Partition, int] = {}
    partitions: list[Partition] = []
    for each in topics:
        try:
            partitions += parse_partitions(client, [each])
        except ServerError as error:
            outcomes[each, -1] = error.code
    request = OffsetDeleteRequest(
        group_id=group,
        topics=[
            OffsetDeleteRequestTopic(
                name=topic,
                partitions=[OffsetDeleteRequestPartition(partition_index=n) for n in numbers],
            )
            for topic, numbers in by_topic(partitions).items()
        ],
    )

    def ask(connection: Any) -> None:
        response = connection.send(request)
        check(response.error_code)
        for topic in response.topics:
            for part in topic.partitions:
                outcomes[topic.name, part.partition_index] = part.error_code

    if not partitions:
        return outcomes, ErrorCode.NONE
    try:
        client.at_coordinator(group, ask)
    except ServerError as error:
        return dict.fromkeys(partitions, 0) | outcomes, error.code
    return outcomes, ErrorCode.NONE
