"""`pykbroker perf consume`: kafka-consumer-perf-test.sh."""

from __future__ import annotations

import argparse
import random
import re
from datetime import datetime
from typing import Any, Final

from pykbroker.cli.client_library import client_errors, make_consumer, servers_of, stop_by_signal
from pykbroker.cli.client_settings import file_settings, key_values
from pykbroker.cli.command import CommandError, CommandParser, whole_number
from pykbroker.cli.connection_flags import DEFAULT_BOOTSTRAP
from pykbroker.cli.perf_statistics import now_ms, print_metrics

DESCRIPTION: Final = "Measure consuming (kafka-consumer-perf-test.sh)."

_COLUMNS: Final = "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec"
_MORE_COLUMNS: Final = "rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
_MB: Final = 1024 * 1024

# Letters of java.text.SimpleDateFormat: repeated, they mean the same here.
_DATE_PARTS: Final = {
    "yyyy": "%Y",
    "yy": "%y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "SSS": "%L",
}


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help=f"brokers to connect to, comma separated (default {DEFAULT_BOOTSTRAP})",
    )
    topics = parser.add_mutually_exclusive_group(required=True)
    topics.add_argument("--topic", help="topic to consume from")
    topics.add_argument("--include", metavar="REGEX", help="pattern of topics to consume from")
    group = f"perf-consumer-{random.randrange(100_000)}"
    parser.add_argument(
        "--group", default=group, metavar="ID", help="consumer group (default: a new one)"
    )
    sizes = {
        "fetch-size": (1024 * 1024, "maximum bytes of a partition in one fetch"),
        "socket-buffer-size": (2 * 1024 * 1024, "size of the socket's receive buffer in bytes"),
    }
    for name, (default, text) in sizes.items():
        text = f"{text} (default {default})"
        kind = whole_number(32)
        parser.add_argument(f"--{name}", type=kind, default=default, metavar="BYTES", help=text)
    parser.add_argument(
        "--command-property",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="consumer setting; overrides that of the file; may be repeated",
    )
    parser.add_argument(
        "--from-latest",
        action="store_true",
        help="begin with new records if the group has no committed offset",
    )
    config = parser.add_mutually_exclusive_group()
    for flag in ("--command-config", "--consumer.config"):
        text = "properties file of the consumer"
        config.add_argument(flag, dest="command_config", metavar="FILE", help=text)
    switches = {
        "print-metrics": "print the consumer's metrics at the end",
        "show-detailed-stats": "print a line for each --reporting-interval",
        "hide-header": "do not print the header line",
    }
    for name, text in switches.items():
        parser.add_argument(f"--{name}", action="store_true", help=text)
    parser.add_argument(
        "--timeout", type=whole_number(64), default=10_000, metavar="MS",
        help="exit if no record arrives for this many ms (default 10000)",
    )  # fmt: skip
    records = parser.add_mutually_exclusive_group(required=True)
    for flag in ("--num-records", "--messages"):
        text = "number of records to consume"
        kind = whole_number(64)
        records.add_argument(flag, dest="num_records", type=kind, metavar="N", help=text)
    parser.add_argument(
        "--reporting-interval",
        type=whole_number(64),
        default=5000,
        metavar="MS",
        help="time between progress lines (default 5000)",
    )
    parser.add_argument(
        "--date-format",
        default="yyyy-MM-dd HH:mm:ss:SSS",
        metavar="PATTERN",
        help="format of times, a pattern of Java's SimpleDateFormat",
    )


def run(options: argparse.Namespace) -> int:
    if options.reporting_interval <= 0:
        raise CommandError("Reporting interval must be greater than 0.")
    dates = DateFormat(options.date_format)
    settings = file_settings(options.command_config) | key_values(options.command_property)
    settings = {"client.id": "perf-consumer-client"} | settings
    servers = servers_of(options, settings)
    settings |= {
        "group.id": options.group,
        "receive.buffer.bytes": str(options.socket_buffer_size),
        "max.partition.fetch.bytes": str(options.fetch_size),
        "auto.offset.reset": "latest" if options.from_latest else "earliest",
        "check.crcs": "false",
    }
    if not options.hide_header:
        first = "time, threadId" if options.show_detailed_stats else "start.time, end.time"
        print(f"{first}, {_COLUMNS}, {_MORE_COLUMNS}", flush=True)
    consumer = make_consumer(servers, settings)
    with stop_by_signal(), client_errors():
        try:
            started = datetime.now(), now_ms()
            test = ConsumerTest(consumer, options, dates)
            test.consume()
            if not options.show_detailed_stats:
                print(test.total_line(*started))
            if options.print_metrics:
                print_metrics(consumer.metrics())
        finally:
            consumer.close()
    return 0


class DateFormat:
    """Times in a pattern of java.text.SimpleDateFormat, of its common letters."""

    def __init__(self, pattern: str) -> None:
        self._parts: list[str] = []
        for part in re.findall(r"([A-Za-z])(\1*)|([^A-Za-z]+)", pattern):
            letters = part[0] + part[1]
            if letters and letters not in _DATE_PARTS:
                known = ", ".join(_DATE_PARTS)
                raise CommandError(f"--date-format {pattern}: {letters} is not one of {known}")
            self._parts.append(_DATE_PARTS[letters] if letters else part[2].replace("%", "%%"))

    def text(self, time: datetime) -> str:
        """Return a time in this pattern."""
        milliseconds = f"{time.microsecond // 1000:03}"
        return "".join(
            milliseconds if part == "%L" else time.strftime(part) for part in self._parts
        )


class ConsumerTest:
    """Consumes until there are enough records, and prints its measurements on the way."""

    def __init__(self, consumer: Any, options: argparse.Namespace, dates: DateFormat) -> None:
        self._consumer = consumer
        self._options = options
        self._dates = dates
        self._assigned: set[Any] = set()
        self._join_started_ms = now_ms()
        self._join_ms = self._window_join_ms = 0
        self._records = self._bytes = 0

    def consume(self) -> None:
        """Consume the requested records, or until none arrives for too long."""
        options = self._options
        listener = _listener(self)
        if options.topic is not None:
            self._consumer.subscribe([options.topic], listener=listener)
        else:
            self._consumer.subscribe(pattern=f"(?:{options.include})$", listener=listener)
        window_ms = now_ms()
        before = (0, 0)
        while self._records < options.num_records:
            # Not in short polls: see Receiver of console_consumer.py.
            polled = self._consumer.poll(timeout_ms=options.timeout)
            if not polled:
                break
            at_ms = now_ms()
            for records in polled.values():
                self._records += len(records)
                self._bytes += sum(
                    len(each.key or b"") + len(each.value or b"") for each in records
                )
            if at_ms - window_ms >= options.reporting_interval:
                if options.show_detailed_stats:
                    print(self._window_line(at_ms - window_ms, *before), flush=True)
                self._window_join_ms = 0
                window_ms, before = at_ms, (self._records, self._bytes)
        if self._records < options.num_records:
            print(
                "WARNING: Exiting before consuming the expected number of records: timeout "
                f"({options.timeout} ms) exceeded. You can use the --timeout option to increase "
                "the timeout."
            )

    def _window_line(self, elapsed_ms: int, records_before: int, bytes_before: int) -> str:
        records, megabytes = self._records - records_before, (self._bytes - bytes_before) / _MB
        fetch_ms = elapsed_ms - self._window_join_ms
        rates = _rates(megabytes, records, fetch_ms) if fetch_ms > 0 else "0.0000, 0.0000"
        seconds = elapsed_ms / 1000
        return (
            f"{self._dates.text(datetime.now())}, 0, {self._bytes / _MB:.4f}, "
            f"{megabytes / seconds:.4f}, {self._records}, {records / seconds:.4f}, "
            f"{self._window_join_ms}, {fetch_ms}, {rates}"
        )

    def total_line(self, started: datetime, started_ms: int) -> str:
        """Return the line at the end of a run."""
        elapsed_ms = max(1, now_ms() - started_ms)
        megabytes, seconds = self._bytes / _MB, elapsed_ms / 1000
        fetch_ms = elapsed_ms - self._join_ms
        return (
            f"{self._dates.text(started)}, {self._dates.text(datetime.now())}, {megabytes:.4f}, "
            f"{megabytes / seconds:.4f}, {self._records}, {self._records / seconds:.4f}, "
            f"{self._join_ms}, {fetch_ms}, {_rates(megabytes, self._records, max(1, fetch_ms))}"
        )

    def revoked(self, partitions: Any) -> None:
        """Handle the loss of partitions."""
        self._assigned -= set(partitions)
        if not self._assigned:
            self._join_started_ms = now_ms()

    def assigned(self, partitions: Any) -> None:
        """Handle new partitions; without any before, the time was spent joining."""
        if not self._assigned:
            elapsed_ms = now_ms() - self._join_started_ms
            self._join_ms += elapsed_ms
            self._window_join_ms += elapsed_ms
        self._assigned |= set(partitions)


def _rates(megabytes: float, records: int, elapsed_ms: int) -> str:
    return f"{megabytes * 1000 / elapsed_ms:.4f}, {records * 1000 / elapsed_ms:.4f}"


def _listener(test: ConsumerTest) -> Any:
    from kafka import ConsumerRebalanceListener

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        """Forwards the events of the group."""

        def on_partitions_revoked(self, revoked: Any) -> None:
            test.revoked(revoked)

        def on_partitions_assigned(self, assigned: Any) -> None:
            test.assigned(assigned)

    return Listener()
