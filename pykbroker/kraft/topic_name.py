"""Valid topic names, and Kafka's internal topics. Source: Kafka's `Topic.java`."""

from __future__ import annotations

import re
from typing import Final

CLUSTER_METADATA_TOPIC: Final = "__cluster_metadata"
GROUP_METADATA_TOPIC: Final = "__consumer_offsets"
TRANSACTION_STATE_TOPIC: Final = "__transaction_state"
SHARE_GROUP_STATE_TOPIC: Final = "__share_group_state"
INTERNAL_TOPICS: Final = frozenset(
    {GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC, SHARE_GROUP_STATE_TOPIC}
)
MAX_TOPIC_NAME_LENGTH: Final = 249

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+\Z").match


def topic_name_fault(name: str) -> str | None:
    """Return why `name` is not a valid topic name, in Kafka's words; None if it is valid."""
    if not name:
        reason = "the empty string is not allowed"
    elif name in (".", ".."):
        reason = f"'{name}' is not allowed"
    elif len(name) > MAX_TOPIC_NAME_LENGTH:
        reason = f"the length of '{name}' is longer than the max allowed length 249"
    elif not _LEGAL(name):
        reason = (
            f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' "
            "and '-'"
        )
    else:
        return None
    return f"Topic name is invalid: {reason}"


def normalized(name: str) -> str:
    """Return the name as used in metrics, where `.` and `_` are the same."""
    return name.replace(".", "_")


def is_internal(name: str) -> bool:
    """Return whether it is an internal topic, which clients can see; only one with the client id
    `__admin_client` can produce to it.
    """
    return name in INTERNAL_TOPICS
