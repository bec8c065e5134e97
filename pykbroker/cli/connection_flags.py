"""How a console command reaches the brokers: its two flags, and the client they make.

In: --bootstrap-server; --command-config, a properties file. Out: an AdminClient, whose module is
imported no earlier.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from pykbroker.cli.command import CommandError, is_number

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
        if not is_number(settings.get(name, "1")):
            raise CommandError(f"{settings.origins[name]}: {name} must be a number")
    return settings
