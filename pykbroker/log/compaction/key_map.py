"""The latest offset of each key: the map of one round of compaction.

State   key -> latest offset, and the offset up to which keys have been added.
In      keys with ascending offsets, until `is_full`.
Invariants
    The map takes at most about as much memory as allowed (log.cleaner.dedupe.buffer.size, divided
    among the cleaners) and one batch of keys more: when it is full, the round covers the offsets so
    far, and the next one continues from there.

Kafka keeps a 16-byte hash of the key. The keys themselves cannot collide, and Python's dict hashes
them anyway.
"""

from __future__ import annotations

#: The size of a dict entry, the bytes object and the integer, excluding the bytes of the key.
ENTRY_OVERHEAD_BYTES = 160


class KeyMap:
    """A map of keys, filled by `put_all` and queried by `offset_of`, or in `offsets` itself."""

    __slots__ = ("_max_bytes", "_used_bytes", "latest_offset", "offsets")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._used_bytes = 0
        self.offsets: dict[bytes, int] = {}
        self.latest_offset = -1

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def is_full(self) -> bool:
        return self._used_bytes >= self._max_bytes

    def put_all(self, keys: list[bytes], offsets: list[int]) -> None:
        """Add the keys of one batch; later offsets replace earlier ones."""
        known = self.offsets
        before = len(known)
        known.update(zip(keys, offsets, strict=True))
        added = len(known) - before
        if added:
            key_bytes = sum(map(len, keys)) * added // len(keys)
            self._used_bytes += added * ENTRY_OVERHEAD_BYTES + key_bytes

    def offset_of(self, key: bytes) -> int:
        """Return the latest offset of the key, -1 if it has not been seen."""
        return self.offsets.get(key, -1)

    def advance_to(self, offset: int) -> None:
        """Record that all offsets up to this one have been added."""
        self.latest_offset = max(self.latest_offset, offset)
