"""The operations a client may perform, as the bit fields of Metadata and describe responses.

Without an authorizer every client may perform every operation supported by the resource. The bits
are the codes of Kafka's `AclOperation`; the supported ones are in `AclEntry.supportedOperations`.
"""

from __future__ import annotations

from typing import Final

READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, CLUSTER_ACTION = 3, 4, 5, 6, 7, 8, 9
DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE = 10, 11, 12

# In responses to clients that did not request them.
NOT_ASKED: Final = -(2**31)


def bit_field(*operations: int) -> int:
    """Return a bit field with one bit for each operation."""
    field = 0
    for operation in operations:
        field |= 1 << operation
    return field


TOPIC_OPERATIONS: Final = bit_field(
    READ, WRITE, CREATE, DESCRIBE, DELETE, ALTER, DESCRIBE_CONFIGS, ALTER_CONFIGS
)
CLUSTER_OPERATIONS: Final = bit_field(
    CREATE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE, ALTER, DESCRIBE
)
GROUP_OPERATIONS: Final = bit_field(READ, DESCRIBE, DELETE, DESCRIBE_CONFIGS, ALTER_CONFIGS)
