"""`pykbroker dump-log`: kafka-dump-log.sh, and `--verify`, which only reports faults.

In: files of a data directory; no broker is contacted. Out: the lines that Apache's DumpLogSegments
prints; inconsistencies go to standard error. Exit code 1 means that a file could not be read, or
with --verify that a fault was found.
"""

from __future__ import annotations

import argparse
import os
import re
import stat
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pykbroker.cli.command import CommandError, CommandParser
from pykbroker.cli.log_files import base_offset_of, batches, map_file
from pykbroker.protocol.old_messages import old_checksums
from pykbroker.protocol.record import CorruptBatch
from pykbroker.protocol.record_batch import MAGIC_V2, BatchHeader
from pykbroker.protocol.stored_batch import has_right_crc, stored_records

if TYPE_CHECKING:
    from pykbroker.cli.dump_indexes import IndexDump
    from pykbroker.cli.dump_records import RecordDecoder
    from pykbroker.protocol.record import Record

DESCRIPTION: Final = """\
Print log segments, indexes, producer snapshots and metadata snapshots, or with --verify only the
problems found in them."""

NO_LIMIT: Final = (1 << 31) - 1
_CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
_TIMESTAMP_TYPES: Final = ("CreateTime", "LogAppendTime")
_SUFFIXES: Final = ".log, .index, .timeindex, .snapshot, .txnindex or .checkpoint"
_SNAPSHOT_NAME: Final = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint\Z")


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "--files",
        required=True,
        metavar="F,F",
        help="files, comma separated; with --verify also directories",
    )
    flags = (
        ("print-data-log", "print keys and values"),
        ("deep-iteration", "print every record, not only batches"),
        ("verify-index-only", "compare indexes with their log without printing entries"),
        ("index-sanity-check", "make only the index checks that a broker makes at startup"),
        ("offsets-decoder", "decode records of __consumer_offsets"),
        ("transaction-log-decoder", "decode records of __transaction_state"),
        ("cluster-metadata-decoder", "decode records of __cluster_metadata"),
        ("share-group-state-decoder", "decode records of __share_group_state"),
        ("skip-record-metadata", "print records without their offsets and times"),
        ("verify", "check files or directories, and print only problems"),
    )
    for name, text in flags:
        parser.add_argument(f"--{name}", action="store_true", help=text)
    for kind in ("key", "value"):
        parser.add_argument(
            f"--{kind}-decoder-class",
            metavar="CLASS",
            help=f"how {kind}s are shown: String-, Integer-, Long- or DoubleDecoder",
        )
    parser.add_argument(
        "--max-message-size",
        type=int,
        default=5 << 20,
        metavar="N",
        help="accepted for compatibility: batches of any size are printed",
    )
    parser.add_argument(
        "--max-bytes",
        type=int,
        default=NO_LIMIT,
        metavar="N",
        help="maximum bytes to read from each log",
    )


def run(options: argparse.Namespace) -> int:
    if options.verify:
        from pykbroker.cli.verify_log import verify

        return verify(options.files.split(","))
    from pykbroker.cli.dump_indexes import IndexDump
    from pykbroker.cli.dump_records import decoder_for

    decoder = decoder_for(options)
    printing = options.print_data_log or decoder.chosen
    deep = options.deep_iteration or printing
    logs = LogDump(decoder, printing=printing, deep=deep, options=options)
    indexes = IndexDump(options)
    unread: list[str] = []
    for name in options.files.split(","):
        path = _as_java_file(name)
        print(f"Dumping {path}")
        try:
            unread += _dump(path, logs, indexes)
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
    for line in [*indexes.complaints(), *logs.complaints()]:
        print(line, file=sys.stderr)
    for line in unread:
        print(line, file=sys.stderr)
    return 1 if unread else 0


def _as_java_file(name: str) -> str:
    """Normalise a path like java.io.File, which drops repeated and trailing slashes."""
    plain = re.sub("/+", "/", name)
    return plain.rstrip("/") if len(plain) > 1 else plain


def _dump(path: str, logs: LogDump, indexes: IndexDump) -> list[str]:
    """Print one file; return the reason if it cannot be printed."""
    if stat.S_ISDIR(os.stat(path).st_mode):
        return [f"{path}: is a directory; name the files in it, or check them all by --verify"]
    _, suffix = os.path.splitext(os.path.basename(path))
    if suffix in (".log", ".checkpoint"):
        logs.dump(path)
    elif suffix == ".index":
        indexes.dump_offset_index(path)
    elif suffix == ".timeindex":
        indexes.dump_time_index(path)
    elif suffix == ".snapshot":
        indexes.dump_snapshot(path)
    elif suffix == ".txnindex":
        indexes.dump_transaction_index(path)
    else:
        return [f"{path}: not a file that can be dumped; the name has to end in {_SUFFIXES}"]
    return []


class LogDump:
    """Prints logs and metadata snapshots; records gaps between offsets."""

    def __init__(
        self, decoder: RecordDecoder, *, printing: bool, deep: bool, options: argparse.Namespace
    ) -> None:
        self._decoder = decoder
        self._printing = printing
        self._deep = deep
        self._with_metadata = not options.skip_record_metadata
        self._max_bytes: int = options.max_bytes
        self._gaps: dict[str, dict[int, int]] = {}

    def dump(self, path: str) -> None:
        name = os.path.basename(path)
        if name.endswith(".log"):
            print(f"Log starting offset: {base_offset_of(path)}")
        elif name == "bootstrap.checkpoint":
            print("KRaft bootstrap snapshot")
        else:
            match = _SNAPSHOT_NAME.match(name)
            if match is None:
                raise CommandError(f"{path}: the name is not that of a snapshot")
            print(f"Snapshot end offset: {int(match[1])}, epoch: {int(match[2])}")
        content = map_file(path)[: self._max_bytes]
        valid = 0
        last_offset = -1
        for position, header in batches(content, path):
            batch = content[position : position + header.size_bytes]
            print(batch_line(header, position, batch))
            if self._deep:
                last_offset = self._dump_records(path, header, batch, last_offset)
            valid = position + header.size_bytes
        if len(content) > valid and self._max_bytes == NO_LIMIT:
            print(f"Found {len(content) - valid} invalid bytes at the end of {name}")

    def _dump_records(
        self, path: str, header: BatchHeader, batch: memoryview, last_offset: int
    ) -> int:
        try:
            sums = iter(() if header.magic == MAGIC_V2 else old_checksums(batch, header))
            for record in stored_records(batch, header):
                if record.offset != last_offset + 1:
                    self._gaps.setdefault(os.path.abspath(path), {})[last_offset] = record.offset
                last_offset = record.offset
                print(self._record_line(header, record, next(sums, None)))
        except CorruptBatch as error:
            raise CommandError(
                f"{path}: batch at offset {header.base_offset} cannot be read: {error}"
            ) from error
        return last_offset

    def _record_line(
        self, header: BatchHeader, record: Record, checksum: tuple[int, bool] | None
    ) -> str:
        parts: list[str] = []
        if self._with_metadata:
            parts.append(record_metadata(header, record, checksum))
            if header.is_control:
                from pykbroker.cli.dump_records import control_text

                parts.append(control_text(record))
        if self._printing and not header.is_control:
            prefix = " " if self._with_metadata else "| "
            key, value = self._decoder.decode(record)
            if key is not None:
                parts.append(f"{prefix}key: {key}")
                prefix = " "
            if value is not None:
                parts.append(f"{prefix}payload: {value}")
        return "".join(parts)

    def complaints(self) -> Iterator[str]:
        for path, gaps in self._gaps.items():
            yield f"Non-consecutive offsets in {path}"
            for before, after in sorted(gaps.items()):
                yield f"  {before} is followed by {after}"


def batch_line(header: BatchHeader, position: int, batch: memoryview) -> str:
    codec = header.codec
    fields = _batch_fields(header) if header.magic == MAGIC_V2 else f"offset: {header.last_offset}"
    return (
        f"{fields} position: {position} {_time_name(header)}: {header.max_timestamp} "
        f"size: {header.size_bytes} magic: {header.magic} "
        f"compresscodec: {_CODECS[codec] if codec < len(_CODECS) else codec} "
        f"crc: {header.crc} isvalid: {_java(has_right_crc(batch, header))}"
    )


def _batch_fields(header: BatchHeader) -> str:
    horizon = header.delete_horizon_ms
    shown_horizon = "OptionalLong.empty" if horizon is None else f"OptionalLong[{horizon}]"
    return (
        f"baseOffset: {header.base_offset} lastOffset: {header.last_offset} "
        f"count: {header.record_count} baseSequence: {header.base_sequence} "
        f"lastSequence: {header.last_sequence} producerId: {header.producer_id} "
        f"producerEpoch: {header.producer_epoch} "
        f"partitionLeaderEpoch: {header.partition_leader_epoch} "
        f"isTransactional: {_java(header.is_transactional)} "
        f"isControl: {_java(header.is_control)} deleteHorizonMs: {shown_horizon}"
    )


def _time_name(header: BatchHeader) -> str:
    return _TIMESTAMP_TYPES[header.timestamp_type] if header.magic else "NoTimestampType"


def record_metadata(
    header: BatchHeader, record: Record, checksum: tuple[int, bool] | None = None
) -> str:
    """`checksum`: of a message before magic 2, and whether it is right."""
    shown = (
        f"| offset: {record.offset} {_time_name(header)}: {record.timestamp} "
        f"keySize: {_size(record.key)} valueSize: {_size(record.value)}"
    )
    if checksum is not None:
        return f"{shown} isValid: {_java(checksum[1])} crc: {checksum[0]}"
    sequence = -1
    if header.base_sequence >= 0:
        sequence = (header.base_sequence + record.offset - header.base_offset) & 0x7FFFFFFF
    keys = ",".join(str(key) for key, _ in record.headers)
    return f"{shown} sequence: {sequence} headerKeys: [{keys}]"


def _size(content: bytes | None) -> int:
    return -1 if content is None else len(content)


def _java(value: bool) -> str:
    return "true" if value else "false"
