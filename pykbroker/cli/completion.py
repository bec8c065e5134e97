"""`pykbroker completion SHELL`: a script for the shell, which needs no Python when it runs."""

from __future__ import annotations

import argparse
import shlex
from typing import Final

from pykbroker.cli.command import CommandParser
from pykbroker.cli.completion_words import Flag, Words, all_words

DESCRIPTION: Final = """Print a script that completes commands, flags and values.

  bash: eval "$(pykbroker completion bash)"           in ~/.bashrc
  zsh:  eval "$(pykbroker completion zsh)"            in ~/.zshrc, after compinit
  fish: pykbroker completion fish | source            in ~/.config/fish/config.fish"""

_SHELLS: Final = ("bash", "zsh", "fish")


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, help="shell to complete for")


def run(options: argparse.Namespace) -> int:
    from pykbroker.cli.main import COMMANDS

    words = all_words(COMMANDS)
    match options.shell:
        case "bash":
            print(bash_script(words))
        case "zsh":
            print(zsh_script(words))
        case _:
            print(fish_script(words))
    return 0


def bash_script(words: list[Words]) -> str:
    """Return a function for `complete -F`."""
    lines = [
        "_pykbroker() {",
        '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
        '    local path="" word words="" index',
        "    COMPREPLY=()",
        "    for ((index = 1; index < COMP_CWORD; index++)); do",
        '        word="${COMP_WORDS[index]}"',
        '        case "$path/$word" in',
        f'            {_patterns(words)}) path="$path/$word" ;;',
        "        esac",
        "    done",
        '    case "$path $prev" in',
    ]
    for each in words:
        for flag in each.flags:
            if flag.takes_value:
                lines.append(f"        {_quoted_path(each)}\\ {shlex.quote(flag.name)})")
                lines.append(f"            {_bash_values(flag)}")
                lines.append("            return ;;")
    lines += ["    esac", '    case "$path" in']
    top = " ".join([each.path[0] for each in words if len(each.path) == 1])
    lines.append(f"        '') words={shlex.quote(top + ' --help --version')} ;;")
    for each in words:
        flags = " ".join((*each.subcommands, *(flag.name for flag in each.flags)))
        lines.append(f"        {_quoted_path(each)}) words={shlex.quote(flags)} ;;")
    lines += [
        "    esac",
        '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        "}",
        "complete -F _pykbroker pykbroker",
    ]
    return "\n".join(lines)


def _quoted_path(words: Words) -> str:
    return "/" + "/".join(words.path)


def _patterns(words: list[Words]) -> str:
    """Every path there is: the words before the cursor are followed as far as they are one."""
    return "|".join(_quoted_path(each) for each in words)


def _bash_values(flag: Flag) -> str:
    if flag.values:
        values = shlex.quote(" ".join(flag.values))
        return f'COMPREPLY=($(compgen -W {values} -- "$cur"))'
    if flag.is_file:
        return 'COMPREPLY=($(compgen -f -- "$cur"))'
    return ":"


def zsh_script(words: list[Words]) -> str:
    """Return the script for bash, run by zsh's own emulation of it."""
    return "autoload -U +X bashcompinit && bashcompinit\n" + bash_script(words)


def fish_script(words: list[Words]) -> str:
    """Return one `complete` line for each word."""
    lines = ["complete -c pykbroker -f"]
    top = [each for each in words if len(each.path) == 1]
    for each in top:
        lines.append(
            f"complete -c pykbroker -n __fish_use_subcommand -a {each.path[0]} "
            f"-d {_fish_quoted(each.text)}"
        )
    for each in words:
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in each.path)
        condition = f"complete -c pykbroker -n {_fish_quoted(seen)}"
        for name in each.subcommands:
            lines.append(f"{condition} -a {name}")
        for flag in each.flags:
            lines.append(f"{condition} -l {flag.name[2:]} {_fish_flag(flag)}")
    return "\n".join(lines)


def _fish_flag(flag: Flag) -> str:
    parts = []
    if flag.is_file:
        parts.append("-r -F")
    elif flag.values:
        parts.append(f"-x -a {_fish_quoted(' '.join(flag.values))}")
    elif flag.takes_value:
        parts.append("-x")
    parts.append(f"-d {_fish_quoted(flag.text)}")
    return " ".join(parts)


def _fish_quoted(text: str) -> str:
    line = " ".join(text.split()).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{line}'"
