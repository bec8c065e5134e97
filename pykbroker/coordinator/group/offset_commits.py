"""The records and responses of committed offsets, for OffsetCommit and TxnOffsetCommit.

The two APIs have the same fields in separate classes (`Forms`).
In:  a topic of the request, whose partitions exist and for which commits are allowed.
Out: the topic of the response; the records are added to the step's decision.
"""

from __future__ import annotations

from typing import Any

from pykbroker.coordinator.group.records import offset_commit_record
from pykbroker.coordinator.group.step import Step
from pykbroker.coordinator.partitioning import java_string_length
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.values import NamedTuple

NO_EXPIRY = -1


class Forms(NamedTuple):
    """The classes of one API's response: of a topic and of a partition."""

    topic: Any
    partition: Any


def commit_topic(
    step: Step, group_id: str, topic: Any, forms: Forms, expires_ms: int = NO_EXPIRY
) -> Any:
    """Commit the offsets of one topic; they expire at `expires_ms` if given."""
    limit = step.settings.offset_metadata_max_bytes
    # Version 1, the one with an expiry, holds neither leader epoch nor topic id.
    is_whole = expires_ms == NO_EXPIRY
    answers = []
    for partition in paced(topic.partitions, step.breathe):
        index = partition.partition_index
        metadata = partition.committed_metadata or ""
        code = 0
        if is_too_long(metadata, limit):
            code = int(ErrorCode.OFFSET_METADATA_TOO_LARGE)
        else:
            value = OffsetCommitValue(
                offset=partition.committed_offset,
                leader_epoch=partition.committed_leader_epoch if is_whole else -1,
                metadata=metadata,
                commit_timestamp=step.now_ms,
                expire_timestamp=expires_ms,
                topic_id=topic.topic_id if is_whole else ZERO_UUID,
            )
            step.decision.records.append(offset_commit_record(group_id, topic.name, index, value))
        answers.append(forms.partition(partition_index=index, error_code=code))
    return forms.topic(name=topic.name, topic_id=topic.topic_id, partitions=answers)


def is_too_long(metadata: str, limit: int) -> bool:
    """Return whether a commit's metadata exceeds offset.metadata.max.bytes
    (UTF-16 units, as Java).
    """
    return len(metadata) * 2 > limit and java_string_length(metadata) > limit
