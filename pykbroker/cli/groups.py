"""`pykbroker groups`: kafka-consumer-groups.sh."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pykbroker.cli.admin import AdminClient, ServerError, check, exception_name
from pykbroker.cli.command import CommandError, CommandParser, add_json, print_json
from pykbroker.cli.connection_flags import add_connection, connect
from pykbroker.cli.group_queries import list_groups

DESCRIPTION: Final = "List, describe and delete groups, and set their offsets."

_ACTIONS: Final = ("list", "describe", "delete", "reset_offsets", "delete_offsets")
_TYPES: Final = {"classic": "Classic", "consumer": "Consumer"}
_STATES: Final = {
    "empty": "Empty",
    "dead": "Dead",
    "stable": "Stable",
    "preparingrebalance": "PreparingRebalance",
    "completingrebalance": "CompletingRebalance",
    "assigning": "Assigning",
    "reconciling": "Reconciling",
}
_WAYS: Final = (
    "to_offset",
    "shift_by",
    "to_datetime",
    "by_duration",
    "to_earliest",
    "to_latest",
    "to_current",
    "from_file",
)


def add_arguments(parser: CommandParser) -> None:
    add_connection(parser)
    for name, text in (
        ("list", "list all groups"),
        ("describe", "describe groups and their lag"),
        ("delete", "delete groups"),
        ("reset-offsets", "set offsets of a group without members"),
        ("delete-offsets", "delete offsets of a group"),
    ):
        parser.add_argument(f"--{name}", action="store_true", help=text)
    parser.add_argument(
        "--validate-regex", metavar="REGEX", help="check a regular expression for topic names"
    )
    parser.add_argument(
        "--group", action="append", default=[], metavar="ID", help="group id; may be repeated"
    )
    parser.add_argument("--all-groups", action="store_true", help="all groups")
    parser.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="T[:N,N]",
        help="a topic, or some of its partitions, for --reset-offsets and --delete-offsets",
    )
    parser.add_argument("--all-topics", action="store_true", help="all topics of the group")
    parser.add_argument("--offsets", action="store_true", help="describe offsets (the default)")
    parser.add_argument("--members", action="store_true", help="describe members")
    parser.add_argument("--verbose", action="store_true", help="describe in more detail")
    parser.add_argument(
        "--state",
        nargs="?",
        const="",
        metavar="S,S",
        help="describe the state; with --list, show states, or only groups in these",
    )
    parser.add_argument(
        "--type", nargs="?", const="", metavar="T,T", help="with --list, show types, or only these"
    )
    parser.add_argument(
        "--timeout", type=int, default=30_000, metavar="MS", help="time to wait (default 30000)"
    )
    _add_reset_arguments(parser)
    add_json(parser)
    parser.set_defaults(parser=parser)


def _add_reset_arguments(parser: CommandParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show what would be reset")
    parser.add_argument("--execute", action="store_true", help="perform the reset")
    parser.add_argument("--export", action="store_true", help="print the reset as CSV")
    parser.add_argument("--to-offset", type=int, metavar="N", help="reset to this offset")
    parser.add_argument("--to-earliest", action="store_true", help="reset to the first offset")
    parser.add_argument("--to-latest", action="store_true", help="reset to the end")
    parser.add_argument("--to-current", action="store_true", help="reset to the committed offset")
    parser.add_argument(
        "--shift-by", type=int, metavar="N", help="reset by N offsets; a negative N moves back"
    )
    parser.add_argument(
        "--to-datetime", metavar="TIME", help="reset to a time, YYYY-MM-DDThh:mm:ss.sss"
    )
    parser.add_argument(
        "--by-duration", metavar="PnDTnHnMnS", help="reset to the time this long before now"
    )
    parser.add_argument("--from-file", metavar="FILE", help="reset to the offsets in a CSV file")


def run(options: argparse.Namespace) -> int:
    action = _checked_action(options)
    if options.validate_regex is not None:
        return _validate_regex(options.validate_regex)
    try:
        with connect(options, options.timeout) as client:
            return _run(action, client, options)
    except CommandError as error:
        # The script prints this on standard output and leaves with 0; an error is an error.
        print(f"\nError: Executing consumer group command failed due to {error}", file=sys.stderr)
        return 1


def _run(action: str, client: AdminClient, options: argparse.Namespace) -> int:
    if action == "list":
        return _list(client, options)
    if action == "describe":
        from pykbroker.cli.group_description import describe

        return describe(client, options, _groups(client, options))
    if action == "delete":
        return _delete(client, _groups(client, options))
    from pykbroker.cli.group_offsets import delete_offsets, reset_offsets

    if action == "reset_offsets":
        return reset_offsets(client, options, _groups(client, options))
    return delete_offsets(client, options.group[0], options.topic)


def _checked_action(options: argparse.Namespace) -> str:
    error = options.parser.error
    actions = [name for name in _ACTIONS if getattr(options, name)]
    if len(actions) + (options.validate_regex is not None) != 1:
        flags = ", ".join("--" + name.replace("_", "-") for name in _ACTIONS)
        error(f"Command must include exactly one action: {flags}, --validate-regex")
    action = actions[0] if actions else ""
    if action in ("describe", "delete", "reset_offsets"):
        if not options.group and not options.all_groups:
            flag = action.replace("_", "-")
            error(f"Option [{flag}] takes one of these options: [group], [all-groups]")
        if options.group and options.all_groups:
            error('Option "[group]" can\'t be used with option "[all-groups]"')
    if action == "describe":
        _check_describe(options)
    elif options.members or options.offsets or options.verbose:
        error("Options --members, --offsets and --verbose need --describe")
    if action == "delete" and options.topic:
        error("The consumer does not support topic-specific offset deletion from a consumer group.")
    if action == "delete_offsets" and not (options.group and options.topic):
        error("Option [delete-offsets] takes the following options: [group], [topic]")
    if action == "reset_offsets":
        _check_reset(options)
    if options.type is not None and action != "list":
        error("Option --type needs --list")
    return action


def _check_describe(options: argparse.Namespace) -> None:
    asked = [options.members, options.offsets, options.state is not None]
    if sum(asked) > 1:
        options.parser.error(
            "Option [describe] takes at most one of these options: [members], [offsets], [state]"
        )
    if options.state:
        options.parser.error("Option [describe] does not take a value for [state]")


def _check_reset(options: argparse.Namespace) -> None:
    error = options.parser.error
    if options.dry_run and options.execute:
        error("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    if not options.dry_run and not options.execute:
        print(
            "WARN: No action will be performed as the --execute option is missing. Add --dry-run "
            "to say that this is what you want.",
            file=sys.stderr,
        )
    ways = [name for name in _WAYS if getattr(options, name) not in (None, False)]
    if len(ways) != 1:
        flags = ", ".join("[" + name.replace("_", "-") + "]" for name in _WAYS)
        error(f"Option '[reset-offsets]' requires one of the following scenarios: {flags}")
    if not (options.topic or options.all_topics or options.from_file):
        error("One of the reset scopes should be defined: --all-topics, --topic.")


def _validate_regex(pattern: str) -> int:
    try:
        re.compile(pattern)
    except re.error as error:
        print(f"The regular expression `{pattern}` is invalid: {error}.")
        return 1
    print(f"The regular expression `{pattern}` is valid.")
    return 0


# --- list -------------------------------------------------------------------------------------


def _consumer_groups(groups: Iterable[Any]) -> list[Any]:
    """Return groups of consumers (ListGroupsOptions.forConsumerGroups), not those of other
    programs.
    """
    return [
        each
        for each in groups
        if each.protocol_type == "consumer"
        or (each.protocol_type == "" and each.group_type.lower() in ("classic", ""))
    ]


def _list(client: AdminClient, options: argparse.Namespace) -> int:
    states = _names(options.state, _STATES, "state")
    types = _names(options.type, _TYPES, "types")
    groups = _consumer_groups(list_groups(client, states, types))
    if options.json:
        print_json(
            [
                {"group": each.group_id, "type": _type(each), "state": each.group_state}
                for each in groups
            ]
        )
        return 0
    if options.state is None and options.type is None:
        for each in groups:
            print(each.group_id)
        return 0
    width = max([15, *(len(each.group_id) for each in groups)]) + 10
    columns: list[tuple[str, list[str]]] = []
    if options.type is not None:
        columns.append(("TYPE", [_type(each) for each in groups]))
    if options.state is not None:
        columns.append(("STATE", [each.group_state for each in groups]))
    print(f"{'GROUP':<{width}} " + " ".join(f"{title:<20}" for title, _ in columns))
    for number, each in enumerate(groups):
        cells = " ".join(f"{values[number]:<20}" for _, values in columns)
        print(f"{each.group_id:<{width}} {cells}")
    return 0


def _type(group: Any) -> str:
    return _TYPES.get(group.group_type.lower(), "Unknown")


def _names(text: str | None, known: Mapping[str, str], what: str) -> list[str]:
    if not text:
        return []
    names = []
    for each in text.split(","):
        name = known.get(each.strip().lower().replace("_", ""))
        if name is None:
            valid = ", ".join(known.values())
            raise CommandError(f"Invalid {what} list '{text}'. Valid {what} are: {valid}")
        names.append(name)
    return names


def _groups(client: AdminClient, options: argparse.Namespace) -> list[str]:
    if options.all_groups:
        return [each.group_id for each in _consumer_groups(list_groups(client))]
    return list(dict.fromkeys(options.group))


# --- delete -----------------------------------------------------------------------------------


def _delete(client: AdminClient, groups: Sequence[str]) -> int:
    from pykbroker.protocol.messages.delete_groups_request import DeleteGroupsRequest

    failed: dict[str, str] = {}
    for group in groups:
        request = DeleteGroupsRequest(groups_names=[group])

        def ask(connection: Any, request: Any = request) -> None:
            (result,) = connection.send(request).results
            check(result.error_code)

        try:
            client.at_coordinator(group, ask)
        except ServerError as error:
            failed[group] = f"{exception_name(error.code)}: {error}"
    deleted = ", ".join(f"'{group}'" for group in groups if group not in failed)
    if not failed:
        print(f"Deletion of requested consumer groups ({deleted}) was successful.")
        return 0
    print("\nError: Deletion of some consumer groups failed:")
    for group, why in failed.items():
        print(f"* Group '{group}' could not be deleted due to: {why}")
    if deleted:
        print(f"\nThese consumer groups were deleted successfully: {deleted}")
    return 1
