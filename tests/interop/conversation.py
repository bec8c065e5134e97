"""What the long conversations with both brokers have in common: a line, and unknown names."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from pykbroker.protocol.primitives import Message

UNKNOWN_ID = b"nobody knows me!"


class Line(NamedTuple):
    """What to say; `label` names it in a failure."""

    label: str
    api: str
    version: int
    message: Message
    timeout_s: float = 60.0


class Story(Protocol):
    """What the lines need to know of what came before."""

    ids: dict[str, bytes]
