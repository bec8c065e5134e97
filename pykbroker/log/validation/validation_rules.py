"""The settings and results of validation.

State   ValidationRules: one partition's settings, recreated when its topic's config changes.
Out     ValidationOutcome; inside the checks, the exception `Refused` carries one with an error.
"""

from __future__ import annotations

from typing import Protocol

from pykbroker.protocol import compression
from pykbroker.protocol.record_batch import CODEC_MASK, CONTROL_BIT, NO_TIMESTAMP, BatchHeader

#: The origin of an append: Kafka's AppendOrigin.
CLIENT = 0
COORDINATOR = 1
REPLICATION = 2


#: From this many bytes on, decompressing a batch takes longer than a trip to a thread and back...
HEAVY_COMPRESSED_BYTES = 64 * 1024
#: ... and from this many on when it must be compressed again as well.
HEAVY_RECOMPRESSED_BYTES = 8 * 1024
#: A batch below HEAVY_COMPRESSED_BYTES is decompressed on the event loop up to this size.
LIGHT_DECOMPRESSED_BYTES = 256 * 1024


class TopicRules(Protocol):
    """The attributes of a TopicConfig that validation needs."""

    max_message_bytes: int
    max_decompressed_message_bytes: int
    segment_bytes: int
    compression_type: str
    compression_gzip_level: int
    compression_lz4_level: int
    compression_zstd_level: int
    message_timestamp_before_max_ms: int
    message_timestamp_after_max_ms: int

    @property
    def compact(self) -> bool: ...
    @property
    def log_append_time(self) -> bool: ...


class ValidationRules:
    """The settings of one partition, ready for `validate`."""

    __slots__ = (
        "after_max_ms",
        "before_max_ms",
        "codec",
        "compact",
        "level",
        "log_append_time",
        "max_message_bytes",
        "max_record_bytes",
        "partition",
        "plain_bytes",
        "segment_bytes",
    )

    def __init__(
        self,
        partition: str,
        *,
        max_message_bytes: int = 1_048_588,
        max_record_bytes: int = 2_147_483_639,
        segment_bytes: int = 1_073_741_824,
        compact: bool = False,
        codec: int | None = None,
        level: int | None = None,
        log_append_time: bool = False,
        before_max_ms: int = 0x7FFF_FFFF_FFFF_FFFF,
        after_max_ms: int = 3_600_000,
    ) -> None:
        self.partition = partition
        self.max_message_bytes = max_message_bytes
        self.max_record_bytes = max_record_bytes
        self.segment_bytes = segment_bytes
        self.compact = compact
        self.codec = codec  # None: the producer's choice
        self.level = level
        self.log_append_time = log_append_time
        self.before_max_ms = before_max_ms
        self.after_max_ms = after_max_ms
        changes = log_append_time or codec not in (None, compression.NONE)
        self.plain_bytes = 0 if changes else min(max_message_bytes, segment_bytes)
        """The size up to which a batch may be plain (plain_batch.py); 0: none is."""

    @classmethod
    def of(cls, config: TopicRules, partition: str) -> ValidationRules:
        name = config.compression_type
        if name == "producer":
            codec = None
        else:
            codec = compression.NONE if name == "uncompressed" else compression.CODEC_IDS[name]
        levels = {
            compression.GZIP: config.compression_gzip_level,
            compression.LZ4: config.compression_lz4_level,
            compression.ZSTD: config.compression_zstd_level,
        }
        return cls(
            partition,
            max_message_bytes=config.max_message_bytes,
            max_record_bytes=config.max_decompressed_message_bytes,
            segment_bytes=config.segment_bytes,
            compact=config.compact,
            codec=codec,
            level=None if codec is None else levels.get(codec),
            log_append_time=config.log_append_time,
            before_max_ms=config.message_timestamp_before_max_ms,
            after_max_ms=config.message_timestamp_after_max_ms,
        )

    def recompresses(self, attributes: int) -> bool:
        """Return whether a batch with these attributes has to change its codec."""
        if self.codec is None or self.codec == attributes & CODEC_MASK:
            return False
        return not (attributes & CONTROL_BIT and attributes & CODEC_MASK == compression.NONE)

    def is_heavy(self, attributes: int, size_bytes: int) -> bool:
        """Return whether a batch is so large, as sent, that validation takes too long for the event
        loop.
        """
        if size_bytes >= HEAVY_COMPRESSED_BYTES and attributes & CODEC_MASK:
            return True
        return size_bytes >= HEAVY_RECOMPRESSED_BYTES and self.recompresses(attributes)

    def light_bytes(self, attributes: int) -> int:
        """Return the maximum decompressed size of a compressed batch that is checked on the event
        loop.
        """
        if self.recompresses(attributes):
            return HEAVY_RECOMPRESSED_BYTES
        return LIGHT_DECOMPRESSED_BYTES


class ValidationOutcome:
    """The result of validation: either `error` is 0 and `batch` may be
    appended, or an error for the producer.
    """

    __slots__ = (
        "batch",
        "error",
        "error_message",
        "header",
        "log_append_time",
        "record_errors",
        "rewritten",
    )

    header: BatchHeader
    batch: bytearray | memoryview

    def __init__(
        self,
        error: int = 0,
        error_message: str | None = None,
        record_errors: list[tuple[int, str]] | None = None,
    ) -> None:
        self.error = error
        self.error_message = error_message
        self.record_errors = record_errors
        self.log_append_time = NO_TIMESTAMP
        self.rewritten = False


class HeavyBatch(Exception):
    """A batch holds more, once decompressed, than this call of `validate` may process."""


class Refused(Exception):
    """Ends the checks of one batch with its outcome."""

    def __init__(
        self, error: int, message: str, record_errors: list[tuple[int, str]] | None = None
    ) -> None:
        super().__init__(message)
        self.outcome = ValidationOutcome(error, message, record_errors)
