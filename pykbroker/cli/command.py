"""What every command shares: its parser, its error, and the flags of a connection.

A command is a module with `DESCRIPTION`, `add_arguments(parser)` and `run(options) -> int`.
Flags and output are those of Apache Kafka's script of the same name. Exit codes are 0 when all
went well and 1 for anything else, wrong usage included, as with Apache's scripts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

if TYPE_CHECKING:
    from pykbroker.cli.admin import AdminClient

DEFAULT_BOOTSTRAP: Final = "127.0.0.1:9092"

# Settings of --command-config that mean something here; all others are refused by name.
_CLIENT_SETTINGS: Final = (
    "bootstrap.servers",
    "client.id",
    "default.api.timeout.ms",
    "request.timeout.ms",
    "security.protocol",
)


class Command(Protocol):
    DESCRIPTION: str

    def add_arguments(self, parser: CommandParser) -> None: ...

    def run(self, options: argparse.Namespace) -> int: ...


class CommandError(Exception):
    """A command cannot do what was asked: one line on standard error, exit code 1."""


class CommandParser(argparse.ArgumentParser):
    """An ArgumentParser whose usage errors leave with exit code 1."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(**settings)

    def error(self, message: str) -> NoReturn:
        self.exit(1, f"{self.prog}: {message}\nSee {self.prog} --help for its options.\n")


def add_connection(parser: argparse.ArgumentParser) -> None:
    """--bootstrap-server and --command-config."""
    parser.add_argument(
        "--bootstrap-server",
        default=None,
        metavar="HOST:PORT",
        help=f"brokers to connect to, comma separated (default {DEFAULT_BOOTSTRAP})",
    )
    parser.add_argument(
        "--command-config",
        metavar="FILE",
        help="properties file of the connection: " + ", ".join(_CLIENT_SETTINGS),
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def connect(options: argparse.Namespace, timeout_ms: int | None = None) -> AdminClient:
    """A client of the brokers that the options name."""
    from pykbroker.cli.admin import AdminClient

    settings = _client_settings(options.command_config)
    servers = options.bootstrap_server or settings.get("bootstrap.servers", DEFAULT_BOOTSTRAP)
    if timeout_ms is None:
        timeout_ms = int(settings.get("default.api.timeout.ms", "60000"))
    return AdminClient(servers, client_id=settings.get("client.id"), timeout_ms=timeout_ms)


def _client_settings(file: str | None) -> dict[str, str]:
    if file is None:
        return {}
    from pykbroker.config.definition import ConfigError
    from pykbroker.config.load import load_file

    try:
        settings = load_file(file)
    except ConfigError as error:
        raise CommandError(error.message) from error
    for name in settings:
        if name not in _CLIENT_SETTINGS:
            raise CommandError(f"{settings.origins[name]}: {name} is not supported")
    if settings.get("security.protocol", "PLAINTEXT") != "PLAINTEXT":
        raise CommandError(f"{file}: only security.protocol=PLAINTEXT is built yet")
    for name in ("default.api.timeout.ms", "request.timeout.ms"):
        if not settings.get(name, "1").isdigit():
            raise CommandError(f"{settings.origins[name]}: {name} must be a number")
    return settings


def print_json(value: object) -> None:
    import json

    print(json.dumps(value, indent=2))


def run_guarded(action: Callable[[], int]) -> int:
    """Run a command; what it cannot do becomes one line on standard error and 1."""
    try:
        return action()
    except CommandError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): nothing more can be said to it.
        sys.stderr.close()
        return 1
