"""`pykbroker transactions`: kafka-transactions.sh."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from pykbroker.cli.admin import AdminClient
from pykbroker.cli.command import (
    CommandError,
    CommandParser,
    add_json,
    print_json,
    print_table,
    whole_number,
)
from pykbroker.cli.connection_flags import add_connection, connect
from pykbroker.cli.hanging_transactions import find_hanging, partitions_to_search
from pykbroker.cli.transaction_queries import (
    Marker,
    Partition,
    abort,
    describe_producers,
    describe_transaction,
    fence,
    list_transactions,
    partitions_of,
    shown,
)

DESCRIPTION: Final = """\
List and describe transactions, and abort hanging ones: open transactions that no coordinator will
end, so that read_committed consumers wait for ever."""

_INT16, _INT32, _INT64 = (whole_number(bits) for bits in (16, 32, 64))
_LISTED: Final = {
    "TransactionalId": "transactionalId",
    "Coordinator": "coordinator",
    "ProducerId": "producerId",
    "TransactionState": "state",
}
_DESCRIBED: Final = {
    "CoordinatorId": "coordinator",
    "TransactionalId": "transactionalId",
    "ProducerId": "producerId",
    "ProducerEpoch": "producerEpoch",
    "TransactionState": "state",
    "TransactionTimeoutMs": "timeoutMs",
    "CurrentTransactionStartTimeMs": "startTimeMs",
    "TransactionDurationMs": "durationMs",
    "TopicPartitions": "topicPartitions",
}
_PRODUCERS: Final = {
    "ProducerId": "producerId",
    "ProducerEpoch": "producerEpoch",
    "LatestCoordinatorEpoch": "coordinatorEpoch",
    "LastSequence": "lastSequence",
    "LastTimestamp": "lastTimestamp",
    "CurrentTransactionStartOffset": "startOffset",
}
_HANGING: Final = {
    "Topic": "topic",
    "Partition": "partition",
    "ProducerId": "producerId",
    "ProducerEpoch": "producerEpoch",
    "CoordinatorEpoch": "coordinatorEpoch",
    "StartOffset": "startOffset",
    "LastTimestamp": "lastTimestamp",
    "Duration(min)": "durationMinutes",
}


def add_arguments(parser: CommandParser) -> None:
    add_connection(parser)
    names = "{" + ",".join(_ACTIONS) + "}"
    commands = parser.add_subparsers(dest="action", required=True, metavar=names)
    for name, (text, add_flags, _) in _ACTIONS.items():
        action = commands.add_parser(name, help=text, description=text)
        add_connection(action, repeated=True)
        add_flags(action)


def run(options: argparse.Namespace) -> int:
    _, _, act = _ACTIONS[options.action]
    act(options)
    return 0


def _add_partition(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    parser.add_argument("--topic", required=required, metavar="NAME", help="the topic")
    parser.add_argument(
        "--partition", required=required, type=_INT32, metavar="N", help="a partition of the topic"
    )


def _add_broker(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--broker-id", type=_INT32, metavar="N", help=text)


# --- list ---------------------------------------------------------------------------------------


def _add_list_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--duration-filter",
        type=_INT64,
        default=-1,
        metavar="MS",
        help="only transactions that began longer ago than this, including completed ones",
    )
    parser.add_argument(
        "--transactional-id-pattern",
        metavar="PATTERN",
        help="only transactional ids that match this regular expression (RE2) as a whole",
    )
    add_json(parser)


def _list(options: argparse.Namespace) -> None:
    with connect(options) as client, _doing("list transactions"):
        listed = list_transactions(
            client,
            duration_ms=options.duration_filter,
            pattern=options.transactional_id_pattern,
        )
    rows = [
        (each.transactional_id, each.coordinator, each.producer_id, each.state) for each in listed
    ]
    _show(options, _LISTED, rows)


# --- describe -----------------------------------------------------------------------------------


def _add_describe_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--transactional-id", required=True, metavar="ID", help="the transactional id"
    )
    add_json(parser)


def _describe(options: argparse.Namespace) -> None:
    name = options.transactional_id
    what = f"describe transaction state of transactional-id `{name}`"
    with connect(options) as client, _doing(what):
        coordinator, state = describe_transaction(client, name)
    start_ms = state.transaction_start_time_ms if state.transaction_start_time_ms >= 0 else None
    partitions = [shown(each) for each in partitions_of(state)]
    row = (
        coordinator,
        name,
        state.producer_id,
        state.producer_epoch,
        state.transaction_state,
        state.transaction_timeout_ms,
        start_ms,
        None if start_ms is None else _now_ms() - start_ms,
        partitions if options.json else ",".join(partitions),
    )
    _show(options, _DESCRIBED, [row])


# --- describe-producers -------------------------------------------------------------------------


def _add_producer_flags(parser: argparse.ArgumentParser) -> None:
    _add_partition(parser)
    _add_broker(parser, "broker to query; the leader by default")
    add_json(parser)


def _describe_producers(options: argparse.Namespace) -> None:
    partition = options.topic, options.partition
    at = "leader" if options.broker_id is None else f"broker {options.broker_id}"
    what = f"describe producers for partition {shown(partition)} on {at}"
    with connect(options) as client, _doing(what):
        producers = describe_producers(client, [partition], options.broker_id)[partition]
    rows = [
        (
            each.producer_id,
            each.producer_epoch,
            max(each.coordinator_epoch, -1),
            each.last_sequence,
            each.last_timestamp,
            each.current_txn_start_offset if each.current_txn_start_offset >= 0 else None,
        )
        for each in producers
    ]
    _show(options, _PRODUCERS, rows)


# --- abort, forceTerminateTransaction -----------------------------------------------------------


def _add_abort_flags(parser: argparse.ArgumentParser) -> None:
    _add_partition(parser)
    parser.add_argument(
        "--start-offset", type=_INT64, metavar="N", help="first offset of the transaction"
    )
    older = parser.add_argument_group("instead of --start-offset")
    older.add_argument("--producer-id", type=_INT64, metavar="N", help="the producer's id")
    older.add_argument("--producer-epoch", type=_INT16, metavar="N", help="the producer's epoch")
    older.add_argument(
        "--coordinator-epoch",
        type=_INT32,
        metavar="N",
        help="epoch of the transaction coordinator; -1: unknown",
    )


def _abort(options: argparse.Namespace) -> None:
    if options.start_offset is None:
        if options.producer_id is None:
            raise CommandError(
                "The transaction to abort must be identified either with --start-offset or with "
                "--producer-id, --producer-epoch, and --coordinator-epoch"
            )
        for flag in ("producer_epoch", "coordinator_epoch"):
            if getattr(options, flag) is None:
                raise CommandError(f"Missing required argument --{flag.replace('_', '-')}")
    partition = options.topic, options.partition
    with connect(options) as client:
        if options.start_offset is None:
            # An unknown coordinator epoch is sent as 0, which no partition considers outdated
            # unless it knows a later one.
            epoch = max(options.coordinator_epoch, 0)
            marker = Marker(partition, options.producer_id, options.producer_epoch, epoch)
        else:
            marker = _marker_of(client, partition, options.start_offset)
        with _doing(f"abort transaction {marker}"):
            abort(client, marker)


def _marker_of(client: AdminClient, partition: Partition, start_offset: int) -> Marker:
    with _doing(f"validate producer state for partition {shown(partition)}"):
        producers = describe_producers(client, [partition])[partition]
    for each in producers:
        if each.current_txn_start_offset == start_offset >= 0:
            epoch = max(each.coordinator_epoch, 0)
            return Marker(partition, each.producer_id, each.producer_epoch, epoch)
    raise CommandError(
        f"Could not find any open transactions starting at offset {start_offset} on partition "
        f"{shown(partition)}"
    )


def _add_termination_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--transactionalId", required=True, metavar="ID", help="the transactional id"
    )


def _force_terminate(options: argparse.Namespace) -> None:
    name = options.transactionalId
    with connect(options) as client, _doing(f"force terminate transactionalId `{name}`"):
        fence(client, name)


# --- find-hanging -------------------------------------------------------------------------------


def _add_hanging_flags(parser: argparse.ArgumentParser) -> None:
    _add_broker(parser, "search the partitions of this broker")
    parser.add_argument(
        "--max-transaction-timeout",
        type=_INT32,
        default=15,
        metavar="MINUTES",
        help="maximum duration of a transaction in minutes (default 15)",
    )
    _add_partition(parser, required=False)
    add_json(parser)


def _find_hanging(options: argparse.Namespace) -> None:
    topic, number, broker = options.topic, options.partition, options.broker_id
    if topic is None and broker is None:
        raise CommandError(
            "The `find-hanging` command requires either --topic or --broker-id to limit the scope "
            "of the search"
        )
    if number is not None and topic is None:
        raise CommandError("The --partition argument requires --topic to be provided")
    now_ms = _now_ms()
    before_ms = now_ms - options.max_transaction_timeout * 60_000
    with connect(options) as client, _doing("find hanging transactions"):
        if number is None:
            partitions = partitions_to_search(client, topic, broker)
        else:
            partitions = [(topic, number)]
        found = find_hanging(client, partitions, broker, before_ms)
    rows = [
        (
            *each.partition,
            each.producer.producer_id,
            each.producer.producer_epoch,
            max(each.producer.coordinator_epoch, -1),
            each.producer.current_txn_start_offset,
            each.producer.last_timestamp,
            int((now_ms - each.producer.last_timestamp) / 60_000),
        )
        for each in found
    ]
    _show(options, _HANGING, rows)


# --- what they share ----------------------------------------------------------------------------


@contextmanager
def _doing(what: str) -> Iterator[None]:
    """Prefix an error with the action that failed."""
    try:
        yield
    except CommandError as error:
        raise CommandError(f"Failed to {what}: {error}") from error


def _show(
    options: argparse.Namespace, columns: dict[str, str], rows: list[tuple[Any, ...]]
) -> None:
    """Print a table, or JSON; a missing value is None or null."""
    if options.json:
        print_json([dict(zip(columns.values(), row, strict=True)) for row in rows])
    else:
        print_table(tuple(columns), [[str(value) for value in row] for row in rows])


def _now_ms() -> int:
    return int(time.time() * 1000)


_Action = tuple[
    str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], None]
]
_ACTIONS: Final[dict[str, _Action]] = {
    "list": ("list transactional ids", _add_list_flags, _list),
    "describe": ("describe a transactional id", _add_describe_flags, _describe),
    "describe-producers": (
        "describe the producers of a partition",
        _add_producer_flags,
        _describe_producers,
    ),
    "abort": ("abort a hanging transaction in a partition", _add_abort_flags, _abort),
    "find-hanging": ("find hanging transactions", _add_hanging_flags, _find_hanging),
    "forceTerminateTransaction": (
        "abort the open transaction of a transactional id, and fence its producer",
        _add_termination_flags,
        _force_terminate,
    ),
}
