"""`pykbroker snapshot create`: a view of log directories that no longer changes.

It works on the files: no broker is contacted, and a running one is not disturbed.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Final

from pykbroker.cli.command import CommandError, CommandParser, add_json, print_json

DESCRIPTION: Final = (
    "Take a snapshot of log directories: closed segments are hard-linked, active segments are "
    "copied up to their current end."
)


def add_arguments(parser: CommandParser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="{create}")
    create = commands.add_parser("create", help="take a snapshot")
    create.add_argument(
        "--log-dirs", required=True, metavar="DIR,DIR", help="log directories of one node"
    )
    create.add_argument(
        "--target",
        required=True,
        metavar="DIR",
        help="new directory; on another file system segments are copied, not linked",
    )
    create.add_argument("--topics", default="", metavar="T,T", help="topics; all by default")
    create.add_argument(
        "--link-only",
        action="store_true",
        help="fail instead of copying a segment that cannot be linked",
    )
    add_json(create)


def run(options: argparse.Namespace) -> int:
    try:
        from pykbroker.offline.faults import OfflineError
        from pykbroker.offline.snapshot import create_snapshot
    except ImportError as error:
        raise CommandError(
            f"pykbroker snapshot needs {error.name}, which {sys.executable} does not have: "
            f"{sys.executable} -m pip install 'numpy>=1.26' 'pyarrow>=18'"
        ) from error
    topics = [each for each in options.topics.split(",") if each] or None
    try:
        report = create_snapshot(
            [each for each in options.log_dirs.split(",") if each],
            options.target,
            topics,
            taken_ms=int(time.time() * 1000),
            may_copy=not options.link_only,
        )
    except (OfflineError, OSError) as error:
        raise CommandError(str(error)) from error
    if options.json:
        print_json(vars(report))
        return 0
    print(
        f"Snapshot {report.target}: {report.partitions} partitions, {report.segments} segments, "
        f"{report.linked_bytes} bytes linked, {report.copied_bytes} bytes copied."
    )
    if report.not_linked is not None:
        print(f"Copied, since {report.not_linked}.")
    return 0
