"""`pykbroker console-producer`: kafka-console-producer.sh."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator
from typing import Final

from pykbroker.cli.client_library import make_producer, servers_of, stop_by_signal
from pykbroker.cli.client_settings import file_settings, key_values
from pykbroker.cli.command import CommandError, CommandParser, whole_number
from pykbroker.cli.connection_flags import DEFAULT_BOOTSTRAP
from pykbroker.cli.console_lines import LineReader
from pykbroker.cli.record_sender import RecordSender

DESCRIPTION: Final = "Produce a record for each line of standard input."

_READER: Final = "org.apache.kafka.tools.LineMessageReader"

# Flag -> (setting of the producer, its bits, the default, help). None: kafka-python has no such
# setting; the flag is accepted, for scripts that give it.
_NUMBERS: Final[dict[str, tuple[str | None, int, int, str]]] = {
    "batch-size": ("batch.size", 32, 16384, "maximum bytes of a batch"),
    "message-send-max-retries": ("retries", 32, 3, "number of retries before a record fails"),
    "retry-backoff-ms": ("retry.backoff.ms", 64, 100, "time in ms between retries"),
    "timeout": ("linger.ms", 64, 1000, "time in ms that a batch waits for more records"),
    "request-timeout-ms": ("request.timeout.ms", 32, 1500, "time in ms to wait for a response"),
    "metadata-expiry-ms": (
        "metadata.max.age.ms",
        64,
        300_000,
        "age in ms after which metadata is refreshed",
    ),
    "max-block-ms": ("max.block.ms", 64, 60_000, "time in ms to wait for metadata"),
    "socket-buffer-size": (
        "send.buffer.bytes",
        32,
        102_400,
        "size of the socket's send buffer in bytes",
    ),
    "max-memory-bytes": (None, 64, 33_554_432, "maximum bytes of records that wait to be sent"),
    "max-partition-memory-bytes": ("batch.size", 32, 16384, "deprecated: --batch-size"),
}


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help=f"brokers to connect to, comma separated (default {DEFAULT_BOOTSTRAP})",
    )
    parser.add_argument("--topic", required=True, help="the topic to produce to")
    parser.add_argument(
        "--sync", action="store_true", help="wait for each record to be acknowledged"
    )
    parser.add_argument(
        "--compression-codec",
        nargs="?",
        const="gzip",
        default="none",
        metavar="CODEC",
        help="none, gzip, snappy, lz4 or zstd; without a value gzip",
    )
    parser.add_argument(
        "--request-required-acks", metavar="ACKS", help="0, 1, -1 or all (default -1)"
    )
    for flag, (_, bits, default, text) in _NUMBERS.items():
        parser.add_argument(
            f"--{flag}", type=whole_number(bits), metavar="N", help=f"{text} (default {default})"
        )
    parser.add_argument("--line-reader", default=_READER, metavar="CLASS", help=f"only {_READER}")
    known = "parse.key, parse.headers, ignore.error, key.separator, headers.delimiter, "
    known += "headers.separator, headers.key.separator, null.marker"
    add_properties(parser, "reader-property", "property", f"of the reader: {known}")
    parser.add_argument("--reader-config", metavar="FILE", help="properties file of the reader")
    add_properties(parser, "command-property", "producer-property", "of the producer")
    add_config(parser, "producer.config", "producer")


def add_properties(parser: CommandParser, flag: str, old: str, what: str) -> None:
    """Add --FLAG KEY=VALUE, and the deprecated flag of the same meaning."""
    both = parser.add_mutually_exclusive_group()
    name = flag.replace("-", "_")
    for each, text in ((flag, f"property {what}"), (old, f"deprecated: --{flag}")):
        both.add_argument(
            f"--{each}", dest=name, action="append", default=[], metavar="KEY=VALUE", help=text
        )


def add_config(parser: CommandParser, old: str, what: str) -> None:
    """Add --command-config FILE, and the deprecated flag of the same meaning."""
    both = parser.add_mutually_exclusive_group()
    both.add_argument("--command-config", metavar="FILE", help=f"properties file of the {what}")
    both.add_argument(
        f"--{old}", dest="command_config", metavar="FILE", help="deprecated: --command-config"
    )


def run(options: argparse.Namespace) -> int:
    if options.line_reader.rpartition(".")[2] != "LineMessageReader":
        raise CommandError(f"--line-reader {options.line_reader}: only {_READER} is supported")
    properties = file_settings(options.reader_config) | key_values(options.reader_property)
    reader = LineReader(options.topic, properties)
    settings = producer_settings(options)
    producer = make_producer(servers_of(options, settings), settings)
    sender = RecordSender(producer, synchronous=options.sync)
    with stop_by_signal():
        try:
            for record in reader.records(_lines()):
                sender.send(record)
        finally:
            sender.close()
    sender.check()
    return 0


def producer_settings(options: argparse.Namespace) -> dict[str, str]:
    """Return the settings: given flags override settings, which override the defaults of flags.

    compression.type is always that of the flag, even if it is not given, as with Apache's script.
    """
    settings = file_settings(options.command_config) | key_values(options.command_property)
    given = {
        setting: str(value)
        for flag, (setting, _, _, _) in _NUMBERS.items()
        if setting and (value := getattr(options, flag.replace("-", "_"))) is not None
    }
    defaults = {
        setting: str(default)
        for flag, (setting, _, default, _) in _NUMBERS.items()
        if setting and flag != "max-partition-memory-bytes"
    }
    if options.request_required_acks is not None:
        given["acks"] = options.request_required_acks
    given["compression.type"] = options.compression_codec
    return defaults | {"acks": "-1", "client.id": "console-producer"} | settings | given


def _lines() -> Iterator[str]:
    """Yield lines of standard input, with a prompt on a terminal."""
    prompt = sys.stdin.isatty() and sys.stdout.isatty()
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape", newline=None)
    while True:
        if prompt:
            print(">", end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        yield line
