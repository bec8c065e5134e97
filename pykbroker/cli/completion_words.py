"""The words to complete: commands, subcommands, flags and their values, from the parsers."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator, Mapping
from typing import Final, cast

from pykbroker.cli.command import Command, CommandParser
from pykbroker.values import NamedTuple

_FILES: Final = frozenset(("FILE", "DIR", "PATH", "FILE,..."))


class Flag(NamedTuple):
    """A flag; `values` are its choices; file names complete if it takes one."""

    name: str
    text: str
    takes_value: bool
    values: tuple[str, ...]
    is_file: bool


class Words(NamedTuple):
    """The words that may follow a command, or a command with its subcommand."""

    path: tuple[str, ...]
    text: str
    flags: tuple[Flag, ...]
    subcommands: tuple[str, ...]


def all_words(commands: Mapping[str, str]) -> list[Words]:
    """Return those of every command (name -> line of help), followed by its subcommands."""
    found: list[Words] = []
    for name, text in commands.items():
        module = importlib.import_module("pykbroker.cli." + name.replace("-", "_"))
        parser = CommandParser(prog=name)
        cast(Command, module).add_arguments(parser)
        found += _words((name,), text, parser)
    return found


def _words(path: tuple[str, ...], text: str, parser: argparse.ArgumentParser) -> Iterator[Words]:
    inner: dict[str, tuple[str, argparse.ArgumentParser]] = {}
    choices: tuple[str, ...] = ()
    flags = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts = {each.dest: each.help or "" for each in action._choices_actions}
            inner |= {name: (texts.get(name, ""), each) for name, each in action.choices.items()}
        elif not action.option_strings:
            choices += tuple(map(str, action.choices or ()))
        elif action.help != argparse.SUPPRESS:
            flags += [_flag(name, action) for name in action.option_strings]
    long = tuple(each for each in flags if each.name.startswith("--"))
    yield Words(path, text, long, (*inner, *choices))
    for name, (line, each) in inner.items():
        yield from _words((*path, name), line, each)


def _flag(name: str, action: argparse.Action) -> Flag:
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    return Flag(
        name,
        (action.help or "").replace("%%", "%"),
        action.nargs != 0,
        tuple(map(str, action.choices or ())),
        metavar in _FILES,
    )
