"""`pykbroker COMMAND ...`: finds the command and runs it.

The module of a command is imported only on request, so that `pykbroker start` and
`pykbroker --help` are fast.
"""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Sequence
from typing import Final, cast

from pykbroker.cli.command import Command, CommandParser, run_guarded

# Command -> one line of help; its module has the same name with underscores.
COMMANDS: Final = {
    "start": "start a broker",
    "cluster": "run several nodes on this machine; print a cluster's id (kafka-cluster.sh)",
    "storage": "format data directories, or describe them",
    "topics": "create, delete, describe or change topics (kafka-topics.sh)",
    "config": "check a configuration file, without starting",
    "configs": "describe or change configuration at run time (kafka-configs.sh)",
    "groups": "list, describe and delete groups, reset offsets (kafka-consumer-groups.sh)",
    "get-offsets": "print offsets of partitions (kafka-get-offsets.sh)",
    "delete-records": "delete records before an offset (kafka-delete-records.sh)",
    "log-dirs": "describe the log directories of brokers (kafka-log-dirs.sh)",
    "features": "describe or change the features of a cluster (kafka-features.sh)",
    "leader-election": "elect leaders of partitions (kafka-leader-election.sh)",
    "quorum": "describe the quorum of controllers (kafka-metadata-quorum.sh)",
    "reassign": "move partitions between brokers (kafka-reassign-partitions.sh)",
    "transactions": "list, describe and abort transactions (kafka-transactions.sh)",
    "produce": "produce records from the shell",
    "consume": "print the records of a topic",
    "console-producer": "produce lines of standard input (kafka-console-producer.sh)",
    "console-consumer": "print the records of topics (kafka-console-consumer.sh)",
    "perf": "measure producing and consuming (kafka-producer-perf-test.sh and others)",
    "completion": "print a script that completes commands and flags in bash, zsh or fish",
    "snapshot": "take a snapshot of log directories with hard links, while a broker runs",
    "dump-log": "print and verify log, index and checkpoint files (kafka-dump-log.sh)",
}


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage(), file=sys.stdout if words else sys.stderr)
        return 0 if words else 1
    if words[0] == "--version":
        from importlib.metadata import version

        print(f"pykbroker {version('pykbroker')}")
        return 0
    name = words[0]
    if name not in COMMANDS:
        from pykbroker.cli.near_names import near_command

        near = near_command(name, COMMANDS)
        print(f"pykbroker: unknown command {name}.{near} See pykbroker --help.", file=sys.stderr)
        return 1
    module = importlib.import_module("pykbroker.cli." + name.replace("-", "_"))
    command = cast(Command, module)
    parser = CommandParser(prog=f"pykbroker {name}", description=command.DESCRIPTION)
    command.add_arguments(parser)
    options = parser.parse_args(words[1:])
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names and records contain any text; a terminal's encoding may not support all of it.
        sys.stdout.reconfigure(errors="backslashreplace")
    return run_guarded(lambda: command.run(options))


def usage() -> str:
    width = max(map(len, COMMANDS))
    lines = ["usage: pykbroker COMMAND [OPTIONS]", "", "commands:"]
    lines += [f"  {name:<{width}}  {line}" for name, line in COMMANDS.items()]
    lines += [
        "",
        "pykbroker COMMAND --help shows the options of a command.",
        "pykbroker --version shows the version.",
    ]
    return "\n".join(lines)
