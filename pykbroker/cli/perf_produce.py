"""`pykbroker perf produce`: kafka-producer-perf-test.sh."""

from __future__ import annotations

import argparse
import random
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from pykbroker.cli.client_library import client_errors, make_producer, servers_of, stop_by_signal
from pykbroker.cli.client_settings import file_settings, key_values
from pykbroker.cli.command import CommandError, CommandParser, whole_number
from pykbroker.cli.connection_flags import DEFAULT_BOOTSTRAP
from pykbroker.cli.perf_statistics import ProducerStatistics, now_ms, print_metrics
from pykbroker.cli.record_sender import OutgoingRecord, RecordSender

DESCRIPTION: Final = "Measure producing (kafka-producer-perf-test.sh)."

_TRANSACTION_MS: Final = 3000
_LEAST_SLEEP_S: Final = 0.002
_LETTERS: Final = bytes(65 + byte * 26 // 256 for byte in range(256))


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help=f"brokers to connect to, comma separated (default {DEFAULT_BOOTSTRAP})",
    )
    parser.add_argument("--topic", required=True, help="topic to produce to")
    count = "number of records to produce"
    parser.add_argument(
        "--num-records", required=True, type=whole_number(64), metavar="N", help=count
    )
    payload = parser.add_mutually_exclusive_group(required=True)
    size = "size of each value in bytes"
    payload.add_argument("--record-size", type=whole_number(32), metavar="BYTES", help=size)
    payload.add_argument("--payload-file", metavar="FILE", help="choose values from this text file")
    payload.add_argument(
        "--payload-monotonic", action="store_true", help="use ascending numbers as values"
    )
    parser.add_argument(
        "--payload-delimiter",
        default="\\n",
        metavar="TEXT",
        help="separator of the values in --payload-file (default: a newline)",
    )
    rate = "maximum records per second; -1: no limit"
    parser.add_argument("--throughput", required=True, type=float, metavar="N", help=rate)
    properties = parser.add_mutually_exclusive_group()
    for flag in ("--command-property", "--producer-props"):
        properties.add_argument(
            flag,
            dest="command_property",
            nargs="+",
            default=[],
            metavar="KEY=VALUE",
            help="producer settings; they override those of the file",
        )
    config = parser.add_mutually_exclusive_group()
    for flag in ("--command-config", "--producer.config"):
        text = "properties file of the producer"
        config.add_argument(flag, dest="command_config", metavar="FILE", help=text)
    parser.add_argument(
        "--print-metrics", action="store_true", help="print the producer's metrics at the end"
    )
    parser.add_argument("--transactional-id", metavar="ID", help="produce in transactions")
    parser.add_argument(
        "--key-distribution",
        choices=("none", "range", "random"),
        default="none",
        help="no keys, the keys 0 to N-1 in turn, or random keys of these (default none)",
    )
    numbers = {
        "transaction-duration-ms": (
            64,
            None,
            f"commit after N ms (default {_TRANSACTION_MS})",
        ),
        "warmup-records": (64, 0, "exclude the first N records from the steady-state figures"),
        "reporting-interval": (64, 5000, "ms between progress lines (default 5000)"),
        "record-key-range": (32, None, "number of distinct keys for --key-distribution"),
        "random-seed": (64, 0, "seed of random keys and values (default 0)"),
    }
    for name, (bits, default, text) in numbers.items():
        kind = whole_number(bits)
        parser.add_argument(f"--{name}", type=kind, default=default, metavar="N", help=text)


def run(options: argparse.Namespace) -> int:
    check(options)
    payloads = Payloads(options)
    settings = file_settings(options.command_config) | key_values(options.command_property)
    settings = {"client.id": "perf-producer-client"} | settings
    transactional_id = options.transactional_id or settings.get("transactional.id")
    if transactional_id is None and options.transaction_duration_ms is not None:
        transactional_id = f"performance-producer-{uuid.uuid4()}"
    if transactional_id is not None:
        settings["transactional.id"] = transactional_id
    producer = make_producer(servers_of(options, settings), settings)
    with stop_by_signal(), client_errors():
        test = ProducerTest(options, producer, transactional_id is not None)
        try:
            test.send_all(payloads)
            producer.flush()
            for line in test.total_lines():
                print(line)
            if options.print_metrics:
                print_metrics(producer.metrics())
        finally:
            producer.close()
    test.check()
    return 0


def check(options: argparse.Namespace) -> None:
    """Reject invalid numbers, and flags that contradict each other."""
    for name in ("num_records", "record_size", "transaction_duration_ms", "reporting_interval",
                 "record_key_range"):  # fmt: skip
        value = getattr(options, name)
        if value is not None and value <= 0:
            raise CommandError(f"--{name.replace('_', '-')} should be greater than zero.")
    if options.warmup_records >= options.num_records:
        raise CommandError(
            "The value for --warmup-records must be strictly fewer than the number of records in "
            "the test, --num-records."
        )
    if options.throughput == 0:
        raise CommandError("--throughput 0 would send nothing; -1 sets no limit.")
    has_keys = options.key_distribution != "none"
    if has_keys and options.record_key_range is None:
        raise CommandError(
            "--record-key-range is required when --key-distribution is 'range' or 'random'."
        )
    if not has_keys and options.record_key_range is not None:
        raise CommandError(
            "--key-distribution must be 'range' or 'random' when --record-key-range is specified."
        )


class Payloads:
    """Keys and values by the number of the record, the same in each run with the same seed."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._random = random.Random(options.random_seed)
        self._size: int | None = options.record_size
        self._texts = _texts(options.payload_file, options.payload_delimiter)
        self._distribution: str = options.key_distribution
        self._range: int = options.record_key_range or 0

    def value(self, number: int) -> bytes:
        """The value of this record."""
        if self._texts:
            return self._random.choice(self._texts)
        if self._size is not None:
            return self._random.randbytes(self._size).translate(_LETTERS)
        return b"%d" % number

    def key(self, number: int) -> bytes | None:
        """The key of this record."""
        match self._distribution:
            case "range":
                return b"%d" % (number % self._range)
            case "random":
                return b"%d" % self._random.randrange(self._range)
        return None


def _texts(file: str | None, delimiter: str) -> list[bytes]:
    if file is None:
        return []
    path = Path(file)
    print(f"Reading payloads from: {path.absolute()}")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror or error}") from error
    if not content:
        raise CommandError("File does not exist or empty file provided.")
    end = b"\n" if delimiter == "\\n" else delimiter.encode()
    texts = content.removesuffix(end).split(end)
    print(f"Number of records read: {len(texts)}")
    return texts


class ProducerTest:
    """Sends the records of a run, and keeps its statistics."""

    def __init__(self, options: argparse.Namespace, producer: Any, is_transactional: bool) -> None:
        self._options = options
        self._producer = producer
        self._sender = RecordSender(producer)
        self._transaction_ms: int | None = None
        if is_transactional:
            self._transaction_ms = options.transaction_duration_ms or _TRANSACTION_MS
        self._all = ProducerStatistics(options.num_records, options.reporting_interval)
        self._steady: ProducerStatistics | None = None

    def send_all(self, payloads: Payloads) -> None:
        """Send every record, at the requested rate, in transactions if requested."""
        options = self._options
        if options.warmup_records > 0:
            print(
                f"Warmup first {options.warmup_records} records. Steady state results will print "
                "after the complete test summary."
            )
        if self._transaction_ms is not None:
            self._producer.init_transactions()
        throttle = Throttle(options.throughput)
        began_ms: int | None = None
        for number in range(options.num_records):
            if self._transaction_ms is not None and began_ms is None:
                self._producer.begin_transaction()
                began_ms = now_ms()
            if number and number == options.warmup_records:
                self._all.is_silent = True
                left = options.num_records - number
                self._steady = ProducerStatistics(left, options.reporting_interval, steady=True)
            key, value = payloads.key(number), payloads.value(number)
            self._sender.send(OutgoingRecord(options.topic, key, value), self._measure(len(value)))
            if began_ms is not None and now_ms() - began_ms >= (self._transaction_ms or 0):
                self._producer.commit_transaction()
                began_ms = None
            throttle.wait(number)
        if began_ms is not None:
            self._producer.commit_transaction()

    def _measure(self, size: int) -> Callable[[], None]:
        steady, sent_ms = self._steady, now_ms()

        def acknowledged() -> None:
            latency = now_ms() - sent_ms
            self._all.record(latency, size)
            if steady is not None:
                steady.record(latency, size)

        return acknowledged

    def total_lines(self) -> list[str]:
        """Return the lines at the end."""
        kept = [self._all] if self._steady is None else [self._all, self._steady]
        return [each.total_line() for each in kept]

    def check(self) -> None:
        """Raise CommandError if a record failed."""
        self._sender.check()


class Throttle:
    """Sleeps so that records are sent at a rate; below 0 there is none."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._started = time.monotonic()

    def wait(self, sent: int) -> None:
        """Sleep as needed after record number `sent`, counted from 0, has been sent."""
        if self._per_second > 0:
            ahead = (sent + 1) / self._per_second - (time.monotonic() - self._started)
            if ahead >= _LEAST_SLEEP_S:
                time.sleep(ahead)
