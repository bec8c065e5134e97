"""The APIs and records of Kafka 4.4: names, versions, listeners and, lazily, their classes.

The modules of the message classes are imported at their first use.
Source: the schemas (generated into messages/index.py). A last version that upstream calls unstable
can be coded, but is not advertised (in ApiVersions).
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Final

from pykbroker.protocol.messages.index import APIS as _APIS
from pykbroker.protocol.messages.index import COORDINATOR_RECORDS, METADATA_RECORDS
from pykbroker.protocol.primitives import Message

_MESSAGES: Final = "pykbroker.protocol.messages."


class Api:
    """One API key. `max_version` is the last advertised one, `latest_version` may be one more."""

    __slots__ = (
        "flexible_from",
        "key",
        "latest_version",
        "listeners",
        "max_version",
        "min_version",
        "name",
    )

    def __init__(
        self,
        key: int,
        name: str,
        min_version: int,
        max_version: int,
        latest_version: int,
        flexible_from: int,
        listeners: tuple[str, ...],
    ) -> None:
        self.key = key
        self.name = name
        self.min_version = min_version
        self.max_version = max_version
        self.latest_version = latest_version
        self.flexible_from = flexible_from
        self.listeners = listeners

    def __repr__(self) -> str:
        return f"Api({self.key} {self.name} {self.min_version}-{self.max_version})"


API_VERSIONS: Final = 18

APIS: Final[dict[int, Api]] = {row[0]: Api(*row) for row in _APIS}
API_BY_NAME: Final[dict[str, Api]] = {api.name: api for api in APIS.values()}


def snake_case(name: str) -> str:
    """Kafka's name in snake case: an underscore before a capital that follows no other capital."""
    out = name[:1].lower()
    for before, char in pairwise(name):
        out += "_" + char.lower() if char.isupper() and not before.isupper() else char.lower()
    return out


@cache
def message_class(name: str) -> type[Message]:
    """The class with Kafka's name `name`, e.g. ``FetchRequest`` or ``TopicRecord``."""
    found: type[Message] = getattr(import_module(_MESSAGES + snake_case(name)), name)
    return found


@cache
def request_class(api_key: int) -> type[Message]:
    """The request class of an API; KeyError for a key that Kafka 4.4 does not have."""
    return message_class(APIS[api_key].name + "Request")


@cache
def response_class(api_key: int) -> type[Message]:
    """The response class of an API; KeyError for a key that Kafka 4.4 does not have."""
    return message_class(APIS[api_key].name + "Response")


@cache
def metadata_record_class(record_type: int) -> type[Message]:
    """The class of a record of the metadata log; KeyError for an unknown type."""
    return message_class(METADATA_RECORDS[record_type])


@cache
def _record_classes(coordinator: str, record_type: int) -> tuple[type[Message], type[Message]]:
    key, value = COORDINATOR_RECORDS[coordinator][record_type]
    return message_class(key), message_class(value)


def offsets_record_classes(record_type: int) -> tuple[type[Message], type[Message]]:
    """(key, value) classes of a record of ``__consumer_offsets``; KeyError for an unknown type."""
    return _record_classes("group_coordinator", record_type)


def transaction_record_classes(record_type: int) -> tuple[type[Message], type[Message]]:
    """(key, value) classes of a record of ``__transaction_state``; KeyError if unknown."""
    return _record_classes("transaction", record_type)


def share_record_classes(record_type: int) -> tuple[type[Message], type[Message]]:
    """(key, value) classes of a record of ``__share_group_state``; KeyError if unknown."""
    return _record_classes("share", record_type)


_TRANSACTION_STATES: Final = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)


def transaction_state_name(status: int) -> str:
    """What Kafka calls a `transaction_status` of ``__transaction_state``; unknown: the number."""
    known = 0 <= status < len(_TRANSACTION_STATES)
    return _TRANSACTION_STATES[status] if known else str(status)
