"""`Did you mean ...?` for commands and flags that do not exist."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Mapping
from typing import Final

_CUTOFF: Final = 0.6
_UNKNOWN_FLAG: Final = re.compile(r"unrecognized arguments: (?:.* )?(--[\w.-]+)")
_UNKNOWN_CHOICE: Final = re.compile(r"invalid choice: '([^']*)' \(choose from ([^)]*)\)")


def near_command(name: str, commands: Mapping[str, str]) -> str:
    """Return a hint for a name that is not in `commands`: command -> line of help.

    The names of Apache's scripts, which the help contains, count as our own.
    """
    scripts: dict[str, str] = {}
    for command, text in commands.items():
        for script in re.findall(r"kafka-([\w-]+)\.sh", text):
            scripts[script] = command
    plain = name.removesuffix(".sh").removeprefix("kafka-")
    known = scripts | {command: command for command in commands}
    near = difflib.get_close_matches(plain, known, n=1, cutoff=_CUTOFF)
    return f" Did you mean {known[near[0]]}?" if near else ""


def near_flag(message: str, parser: argparse.ArgumentParser) -> str:
    """Return a hint for a usage error of argparse: the flag or subcommand probably meant."""
    if match := _UNKNOWN_FLAG.search(message):
        known = [flag for action in parser._actions for flag in action.option_strings]
    elif match := _UNKNOWN_CHOICE.search(message):
        known = [each.strip(" '") for each in match[2].split(",")]
    else:
        return ""
    near = difflib.get_close_matches(match[1], known, n=1, cutoff=_CUTOFF)
    return f". Did you mean {near[0]}?" if near else ""
