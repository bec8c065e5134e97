"""`pykbroker start`: runs one node until it is stopped.

In: a configuration file, the environment, flags. Out: one line `ready ...` on standard output once
the node serves; logs on standard error. SIGTERM and SIGINT stop it cleanly (exit code 0); a second
one ends the wait for a controller that takes over its leaderships.
If the node cannot start, it prints one line on standard error and exits with 1. A wrong
configuration, a port in use and a directory of another node leave no trace.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import signal
import stat
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pykbroker.cli.command import CommandError, CommandParser, is_number
from pykbroker.config.broker_config import BrokerConfig
from pykbroker.config.definition import ConfigError
from pykbroker.config.load import (
    Properties,
    complete_standalone,
    describes_quorum,
    foreign_variables,
    load_config,
)
from pykbroker.errors import KafkaError, StartError

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.environment import Environment

DESCRIPTION: Final = """\
Start a node: broker and controller in one process. An empty data directory is formatted first.

Without --config, or with a file that sets neither roles nor quorum, the node is standalone: its id
is 1, it listens on 127.0.0.1:9092 and keeps its data in ./pykbroker-data. Each of these sources
overrides the ones before it: the file, KAFKA_... environment variables, the flags, --override.
docs/configuration.md lists every key."""

_ADVERTISED_BY_HAND: Final = ("KAFKA_ADVERTISED_LISTENERS",)
_LEVELS: Final = ("DEBUG", "INFO", "WARN", "ERROR")
_LOG_VARIABLE: Final = "PYKBROKER_LOG"

# Apache's container image takes the cluster id of a fresh node from here.
_CLUSTER_ID_VARIABLE: Final = "CLUSTER_ID"

_log = logging.getLogger("pykbroker.start")


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("--config", metavar="FILE", help="server.properties or YAML file")
    parser.add_argument("--data-dir", metavar="DIR", help="data directory (log.dirs)")
    parser.add_argument(
        "--listen", metavar="HOST:PORT", help="address for clients; port 0 picks a free port"
    )
    parser.add_argument(
        "--metrics-listen",
        metavar="HOST:PORT",
        help="serve metrics for Prometheus at http://HOST:PORT/metrics, with /healthz and /readyz "
        "(pykbroker.metrics.listen)",
    )
    parser.add_argument("--node-id", metavar="N", help="node id (node.id)")
    parser.add_argument(
        "--override",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="set a configuration key; may be repeated",
    )
    parser.add_argument(
        "--stop-with-stdin",
        action="store_true",
        help="stop when standard input, a pipe, is closed; a program that starts a node this way "
        "leaves no node behind if it is killed",
    )
    parser.add_argument(
        "--log-level",
        type=str.upper,
        choices=_LEVELS,
        default="INFO",
        help="lowest level to log",
    )


def run(options: argparse.Namespace) -> int:
    gc.disable()  # while modules are imported there is nothing to collect; see settle_collector
    configure_logging(options.log_level, os.environ.get(_LOG_VARIABLE, ""))
    try:
        properties = gather(options, os.environ)
    except ConfigError as error:
        raise CommandError(f"pykbroker start: {error.message}") from error
    for warning in foreign_variables(os.environ):
        _log.warning("%s", warning)
    try:
        config = BrokerConfig.from_properties(properties)
    except ConfigError as error:
        raise CommandError(f"pykbroker start: {properties.locate(error)}") from error
    from pykbroker.broker.server import BrokerServer
    from pykbroker.environment.files import LogDirFailure
    from pykbroker.kraft.storage_format import StorageError

    try:
        cluster_id = os.environ.get(_CLUSTER_ID_VARIABLE)
        pipe = _pipe_of_stdin() if options.stop_with_stdin else None
        return _run_loop(lambda world: BrokerServer(world, config, cluster_id), config, pipe)
    except ConfigError as error:
        raise CommandError(f"pykbroker start: {properties.locate(error)}") from error
    except (StartError, StorageError, LogDirFailure, KafkaError) as error:
        raise CommandError(f"pykbroker start: {error}") from error
    except OSError as error:
        raise CommandError(f"pykbroker start: {_os_error(error)}") from error


def gather(
    options: argparse.Namespace, environment: os._Environ[str] | dict[str, str]
) -> Properties:
    """Return all configuration text of this start."""
    properties = load_config(options.config, environment)
    if options.data_dir is not None:
        properties.put("log.dirs", options.data_dir, "--data-dir")
    if options.node_id is not None:
        properties.put("node.id", options.node_id, "--node-id")
        properties.pop("broker.id", None)
    if options.metrics_listen is not None:
        properties.put("pykbroker.metrics.listen", options.metrics_listen, "--metrics-listen")
    if options.listen is not None:
        _listen(properties, options.listen)
    for name, value in load_config(overrides=options.override).items():
        properties.put(name, value, "--override")
    if options.config is None or not describes_quorum(properties):
        complete_standalone(properties)
    return properties


def _listen(properties: Properties, address: str) -> None:
    """Replace the broker listeners with one PLAINTEXT listener; controllers keep theirs."""
    host, colon, port = address.rpartition(":")
    if not colon or not is_number(port):
        raise ConfigError(f"--listen {address}: expected HOST:PORT")
    names = {
        name.strip().upper()
        for name in properties.get("controller.listener.names", "CONTROLLER").split(",")
    }
    kept = [
        entry.strip()
        for entry in properties.get("listeners", "").split(",")
        if entry.strip().partition(":")[0].upper() in names
    ]
    properties.put("listeners", ",".join([f"PLAINTEXT://{host}:{port}", *kept]), "--listen")
    if properties.origins.get("advertised.listeners") not in (None, *_ADVERTISED_BY_HAND):
        del properties["advertised.listeners"]  # the file's, which belong to its own listeners


def _os_error(error: OSError) -> str:
    why = error.strerror or str(error)
    return f"{error.filename}: {why}" if error.filename else why


# --- running ------------------------------------------------------------------------------------


def _pipe_of_stdin() -> int:
    """Return the descriptor of standard input; CommandError if it is no pipe or socket."""
    number = 0
    try:
        mode = os.fstat(number).st_mode
    except OSError:
        mode = 0
    if not stat.S_ISFIFO(mode) and not stat.S_ISSOCK(mode):
        raise CommandError("pykbroker start: --stop-with-stdin: standard input is not a pipe")
    return number


def _run_loop(
    make: Callable[[Environment], BrokerServer], config: BrokerConfig, pipe: int | None
) -> int:
    from pykbroker.broker.process_settings import raise_descriptor_limit
    from pykbroker.environment.real.world import real_environment

    raise_descriptor_limit()  # before the environment shares the descriptors out
    runner = asyncio.Runner(loop_factory=_loop_factory())
    with runner:
        server = make(real_environment(runner.get_loop()))
        return runner.run(_serve(server, config, pipe))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None  # asyncio's own loop serves as well, a little slower
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


async def _serve(server: BrokerServer, config: BrokerConfig, pipe: int | None) -> int:
    from pykbroker.broker.process_settings import (
        keep_freed_memory,
        settle_collector,
        switch_threads_soon,
    )
    from pykbroker.environment.real.scheduler import in_asyncio

    loop = asyncio.get_running_loop()
    ending: asyncio.Future[int] = loop.create_future()

    def end(code: int, level: int, message: str, *arguments: object) -> None:
        if not ending.done():
            _log.log(level, message, *arguments)
            ending.set_result(code)

    def signalled(name: str) -> None:
        if ending.done():
            server.leave_at_once()
        end(0, logging.INFO, "Terminating process due to %s", name)

    def has_closed(number: int) -> None:
        if not os.read(number, 4096):
            loop.remove_reader(number)
            server.leave_at_once()  # do not wait for a clean hand-over
            end(0, logging.INFO, "Terminating process: standard input was closed")

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, signalled, signal.Signals(number).name)
    if pipe is not None:
        loop.add_reader(pipe, has_closed, pipe)
    server.follow_fatal(lambda message: end(1, logging.CRITICAL, "%s", message))
    switch_threads_soon()
    starting = asyncio.ensure_future(in_asyncio(server.start()))
    await asyncio.wait((starting, ending), return_when=asyncio.FIRST_COMPLETED)
    if starting.done():
        await starting
        settle_collector()
        _announce(server, config)
        keep_freed_memory()
        await ending
    else:
        starting.cancel()
        await asyncio.wait((starting,))
    _log.info("[BrokerServer id=%d] shutting down", config.node_id)
    await in_asyncio(server.stop())
    _log.info("[BrokerServer id=%d] shut down completed", config.node_id)
    return ending.result()


def _announce(server: BrokerServer, config: BrokerConfig) -> None:
    # Tools that start Kafka in containers wait for this line of its log.
    _log.info(
        "[BrokerLifecycleManager id=%d] The broker has been unfenced. "
        "Transitioning from RECOVERY to RUNNING.",
        config.node_id,
    )
    _log.info("[KafkaServer id=%d] started", config.node_id)
    listeners = ",".join(map(str, server.listeners))
    directories = ",".join(config.log_directories)
    line = f"ready node={config.node_id} listeners={listeners} log.dirs={directories}"
    if server.monitoring is not None:
        line += f" metrics={server.monitoring.url}/metrics"
    try:
        print(line, flush=True)
    except OSError:
        _log.warning("Nobody reads standard output")


# --- logs ---------------------------------------------------------------------------------------


class KafkaFormatter(logging.Formatter):
    """Kafka's pattern `[%d] %p %m (%c)`. One message is one line: clients choose some of its text
    (group ids, reasons), and must not be able to write lines of their own. Only the traceback of an
    exception follows on further lines, as it is.
    """

    _ESCAPES: Final = {code: f"\\x{code:02x}" for code in (*range(32), 127, 0x85, 0x2028, 0x2029)}

    _NAMES: Final = {logging.WARNING: "WARN", logging.CRITICAL: "FATAL"}

    def __init__(self) -> None:
        super().__init__("[%(asctime)s] %(kafka_level)s %(message)s (%(name)s)")

    def format(self, record: logging.LogRecord) -> str:
        record.kafka_level = self._NAMES.get(record.levelno, record.levelname)
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:
        return super().formatMessage(record).translate(self._ESCAPES)


def configure_logging(level: str, loggers: str = "") -> None:
    """Send logs to standard error; standard output contains only the line `ready ...`.

    `loggers` is the text of PYKBROKER_LOG: levels of single loggers, `NAME=LEVEL,NAME=LEVEL`.
    """
    from pykbroker.broker.requests.worker import REQUEST_LOG

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(KafkaFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.getLevelNamesMapping()[level])
    # Two lines for every request are not what `--log-level DEBUG` asks for: only their name does.
    logging.getLogger(REQUEST_LOG).setLevel(logging.INFO)
    for each in filter(None, (each.strip() for each in loggers.split(","))):
        name, _, its_level = each.partition("=")
        if not name or its_level.upper() not in _LEVELS:
            wanted = f"expected LOGGER=LEVEL, with a level of {', '.join(_LEVELS)}"
            raise CommandError(f"pykbroker start: {_LOG_VARIABLE}: {each}: {wanted}")
        logging.getLogger(name).setLevel(its_level.upper())
    # Fields that the format does not use are not collected: each costs time in every log call.
    logging.logThreads = False
    logging.logProcesses = False
    logging.logMultiprocessing = False
