"""Every configuration key of a node, and how keys of different names mean the same thing.

The keys themselves stand in broker_keys_<subject>.py, one file per subject.
"""

from __future__ import annotations

import re
from typing import Final

from pykbroker.config import (
    broker_keys_group,
    broker_keys_log,
    broker_keys_network,
    broker_keys_oauth,
    broker_keys_quorum,
    broker_keys_remote,
    broker_keys_replication,
    broker_keys_security,
    broker_keys_server,
    broker_keys_share,
    broker_keys_transaction,
    own_keys,
)
from pykbroker.config.definition import CLUSTER_WIDE, LONG, LONG_MAX, Key, key_table
from pykbroker.config.validators import at_least

SUBJECTS: Final[tuple[tuple[str, tuple[Key, ...]], ...]] = (
    ("The node", broker_keys_server.KEYS),
    ("Listeners and connections", broker_keys_network.KEYS),
    ("The log", broker_keys_log.KEYS),
    ("The metadata quorum", broker_keys_quorum.KEYS),
    ("Groups", broker_keys_group.KEYS),
    ("Share groups", broker_keys_share.KEYS),
    ("Transactions", broker_keys_transaction.KEYS),
    ("Replication and quotas", broker_keys_replication.KEYS),
    ("Security", broker_keys_security.KEYS),
    ("OAUTHBEARER", broker_keys_oauth.KEYS),
    ("Tiered storage", broker_keys_remote.KEYS),
    ("pykbroker's own", own_keys.KEYS),
)

BROKER_KEYS: Final = key_table(key for _, keys in SUBJECTS for key in keys)

_QUOTAS: Final = "quotas are not built yet"

# Keys that Kafka knows as dynamic configuration of brokers only (QuotaConfig.brokerQuotaConfigs).
DYNAMIC_ONLY_KEYS: Final = key_table(
    (
        Key(
            "leader.replication.throttled.rate", LONG, LONG_MAX, at_least(0), mode=CLUSTER_WIDE
        ).refused("Bytes per second that leaders send to throttled followers.", _QUOTAS),
        Key(
            "follower.replication.throttled.rate", LONG, LONG_MAX, at_least(0), mode=CLUSTER_WIDE
        ).refused("Bytes per second that throttled followers fetch.", _QUOTAS),
        Key(
            "replica.alter.log.dirs.io.max.bytes.per.second",
            LONG,
            LONG_MAX,
            at_least(0),
            mode=CLUSTER_WIDE,
        ).refused("Bytes per second of moves between directories.", _QUOTAS),
    )
)

# Keys that mean the same in other units: the first that is set decides.
_ALTERNATIVES: Final = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
_FLUSH: Final = ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")

LISTENER_KEY: Final = re.compile(r"listener\.name\.([^.]*)\.(.*)\Z")


def broker_synonyms(name: str) -> tuple[str, ...]:
    """Names that decide the value of `name`, strongest first.

    As DynamicBrokerConfig.brokerConfigSynonyms: flushing falls back to the interval of the
    scheduler, but the interval of the scheduler is only itself.
    """
    for group in _ALTERNATIVES:
        if name in group:
            return group
    if name == _FLUSH[0]:
        return _FLUSH
    match = LISTENER_KEY.match(name)
    return (name, match[2]) if match else (name,)
