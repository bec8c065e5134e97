"""How a console command connects to the cluster: its flags, and the client they create.

In: --bootstrap-server or, for some commands, --bootstrap-controller; --command-config, a properties
file. Out: an AdminClient, whose module is imported only then.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from pykbroker.cli.command import CommandError, is_number

if TYPE_CHECKING:
    from pykbroker.cli.admin import AdminClient

DEFAULT_BOOTSTRAP: Final = "127.0.0.1:9092"

# Settings of --command-config that have an effect here; all others are rejected by name.
_CLIENT_SETTINGS: Final = (
    "bootstrap.servers",
    "client.id",
    "default.api.timeout.ms",
    "request.timeout.ms",
    "security.protocol",
)


def add_connection(
    parser: argparse.ArgumentParser, *, controllers: bool = False, repeated: bool = False
) -> None:
    """Add --bootstrap-server and --command-config, with `controllers` also --bootstrap-controller.

    `repeated`: the parser is of a subcommand, and the flags may precede its name as well.
    """
    default = argparse.SUPPRESS if repeated else None
    parser.add_argument(
        "--bootstrap-server",
        default=default,
        metavar="HOST:PORT",
        help=f"brokers to connect to, comma separated (default {DEFAULT_BOOTSTRAP})",
    )
    if controllers:
        parser.add_argument(
            "--bootstrap-controller",
            default=default,
            metavar="HOST:PORT",
            help="controllers to connect to instead of brokers, comma separated",
        )
    parser.add_argument(
        "--command-config",
        default=default,
        metavar="FILE",
        help="properties file of the connection: " + ", ".join(_CLIENT_SETTINGS),
    )


def connect(options: argparse.Namespace, timeout_ms: int | None = None) -> AdminClient:
    """Return a client of the brokers or controllers that the options name."""
    from pykbroker.cli.admin import AdminClient

    settings = _client_settings(options.command_config)
    controllers: str | None = vars(options).get("bootstrap_controller")
    if controllers is not None and options.bootstrap_server is not None:
        raise CommandError("Give either --bootstrap-server or --bootstrap-controller, not both")
    servers = options.bootstrap_server or settings.get("bootstrap.servers", DEFAULT_BOOTSTRAP)
    if timeout_ms is None:
        timeout_ms = int(settings.get("default.api.timeout.ms", "60000"))
    request_timeout = settings.get("request.timeout.ms")
    return AdminClient(
        servers if controllers is None else controllers,
        client_id=settings.get("client.id"),
        timeout_ms=timeout_ms,
        request_timeout_ms=None if request_timeout is None else int(request_timeout),
        of_controllers=controllers is not None,
    )


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
