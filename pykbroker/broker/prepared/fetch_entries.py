"""The partitions of a Fetch request, by version.

    topic count | name or id | partition count | partition ... | tags | name or id ...

What is unusual (tags, a long name or an id of zero, very many partitions, for example) is left to
the general decoder.
"""

from __future__ import annotations

from functools import cache
from struct import Struct

from pykbroker.broker.requests.session_shard import Entry
from pykbroker.protocol.primitives import ZERO_UUID

FIRST_WITH_LOG_START = 5
FIRST_WITH_EPOCH = 9
FIRST_FLEXIBLE = 12
FIRST_BY_ID = 13

ID_BYTES = 16
MOST_NAMED = 100
"""Topics, and partitions of all. A count above 126 has more than one byte in flexible versions."""
MOST_NAME_BYTES = 100

_unpack_i16 = Struct(">h").unpack_from
_unpack_i32 = Struct(">i").unpack_from

NamedPartition = tuple[str | None, bytes, Entry]
"""A partition that a request names: by its topic's name, or by the id if that is None."""


class EntryLayout:
    """One partition of a request, by version; `unpack` gives what `read` picks from."""

    __slots__ = ("has_epoch", "has_log_start", "has_tags", "size", "unpack")

    def __init__(self, version: int) -> None:
        self.has_log_start = version >= FIRST_WITH_LOG_START
        self.has_epoch = version >= FIRST_WITH_EPOCH
        self.has_tags = version >= FIRST_FLEXIBLE
        if version >= FIRST_FLEXIBLE:
            layout = Struct(">iiqiqib")  # last fetched epoch, tags
        elif version >= FIRST_WITH_EPOCH:
            layout = Struct(">iiqqi")
        elif version >= FIRST_WITH_LOG_START:
            layout = Struct(">iqqi")
        else:
            layout = Struct(">iqi")
        self.size = layout.size
        self.unpack = layout.unpack_from

    def read(self, frame: bytes | bytearray, position: int) -> Entry | None:
        """Return the entry at `position`; None if it has tags."""
        fields = self.unpack(frame, position)
        if self.has_tags:
            return None if fields[6] else fields[:6]
        if self.has_epoch:
            index, epoch, offset, log_start, limit = fields
            return index, epoch, offset, -1, log_start, limit
        if self.has_log_start:
            index, offset, log_start, limit = fields
            return index, -1, offset, -1, log_start, limit
        index, offset, limit = fields
        return index, -1, offset, -1, -1, limit


class TopicsLayout:
    """The topics of a request, by version."""

    __slots__ = ("_by_id", "_entry", "_is_flexible")

    def __init__(self, version: int) -> None:
        self._entry = EntryLayout(version)
        self._is_flexible = version >= FIRST_FLEXIBLE
        self._by_id = version >= FIRST_BY_ID

    def read(
        self, frame: bytes | bytearray, position: int, end: int
    ) -> tuple[list[NamedPartition], int] | None:
        """Return the partitions from the topic count on, and the position behind the topics; None
        if they are unusual (tags, long names, more than MOST_NAMED).
        """
        named: list[NamedPartition] = []
        count, position = self._count(frame, position, end)
        for _ in range(count):
            name, topic_id, position = self._topic(frame, position, end)
            partitions, position = self._count(frame, position, end)
            behind = position + partitions * self._entry.size
            if (
                partitions < 0
                or len(named) + partitions > MOST_NAMED
                or behind + self._is_flexible > end
            ):
                return None
            for at in range(position, behind, self._entry.size):
                entry = self._entry.read(frame, at)
                if entry is None:
                    return None
                named.append((name, topic_id, entry))
            position = behind
            if self._is_flexible:
                if frame[position]:
                    return None  # tags
                position += 1
        return None if count < 0 else (named, position)

    def _count(self, frame: bytes | bytearray, position: int, end: int) -> tuple[int, int]:
        """Return a number of elements and the position behind it; -1 for an unusual one."""
        if self._is_flexible:
            count = frame[position] - 1 if position < end else -1
            return (count if count <= MOST_NAMED else -1), position + 1
        count = _unpack_i32(frame, position)[0] if position + 4 <= end else -1
        return (count if count <= MOST_NAMED else -1), position + 4

    def _topic(
        self, frame: bytes | bytearray, position: int, end: int
    ) -> tuple[str | None, bytes, int]:
        """Return the name or id of a topic, and the position behind it; one behind `end` if it is
        unusual.
        """
        if self._by_id:
            behind = position + ID_BYTES
            topic_id = bytes(frame[position:behind])
            return None, topic_id, end + 1 if topic_id == ZERO_UUID else behind
        if self._is_flexible:
            size = frame[position] - 1 if position < end else -1
            position += 1
        else:
            size = _unpack_i16(frame, position)[0] if position + 2 <= end else -1
            position += 2
        behind = position + size
        name = bytes(frame[position:behind])
        if size < 0 or size > MOST_NAME_BYTES or not name.isascii():
            return None, ZERO_UUID, end + 1
        return name.decode(), ZERO_UUID, behind


class OnlyEntry:
    """Requests that name one partition, the same as the last one that was remembered.

    `behind`: what follows the topics.
    """

    __slots__ = ("_behind", "_entry", "_head", "_name", "_one_topic", "_topic_id")

    def __init__(self, version: int, behind: bytes) -> None:
        self._entry = EntryLayout(version)
        is_flexible = version >= FIRST_FLEXIBLE
        self._behind = b"\0" + behind if is_flexible else behind
        self._one_topic = b"\2" if is_flexible else b"\0\0\0\1"
        self._head = b""
        self._name: str | None = None
        self._topic_id = ZERO_UUID

    def remember(
        self, frame: bytes | bytearray, start: int, end: int, named: NamedPartition
    ) -> None:
        """Remember the only partition of a request that ends at `end`; its topics begin at
        `start`. A request that also names topics without partitions is not remembered.
        """
        if not frame.startswith(self._one_topic, start):
            return
        self._head = bytes(frame[start : end - len(self._behind) - self._entry.size])
        self._name, self._topic_id, _ = named

    def read(self, frame: bytes | bytearray, start: int, end: int) -> NamedPartition | None:
        """Return the only partition, from the topic count on; None if the request is not
        like the one that was remembered, or none was.
        """
        head, behind, layout = self._head, self._behind, self._entry
        at = start + len(head)
        after = at + layout.size
        if (
            not head
            or after + len(behind) != end
            or not frame.startswith(head, start)
            or not frame.startswith(behind, after)
        ):
            return None
        entry = layout.read(frame, at)
        return None if entry is None else (self._name, self._topic_id, entry)


@cache
def topics_layout(version: int) -> TopicsLayout:
    """Return the layout of a version."""
    return TopicsLayout(version)
