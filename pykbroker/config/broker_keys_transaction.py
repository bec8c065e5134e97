"""Broker keys: transactions and their coordinator."""

from __future__ import annotations

from typing import Final

from pykbroker.config.definition import BOOLEAN, CLUSTER_WIDE, HIGH, INT, LOW, SHORT, Key
from pykbroker.config.validators import at_least

TRANSACTION: Final = "transactions are not built yet"
NO_TOPIC: Final = "the topic is made only with transactions, which are not built yet"

KEYS: Final = (
    Key("transaction.state.log.replication.factor", SHORT, 3, at_least(1), HIGH).accepted(
        "Replicas of __transaction_state.", NO_TOPIC
    ),
    Key("transaction.state.log.min.isr", INT, 2, at_least(1), HIGH).accepted(
        "In-sync replicas that __transaction_state needs.", NO_TOPIC
    ),
    Key("transaction.state.log.num.partitions", INT, 50, at_least(1), HIGH).accepted(
        "Partitions of __transaction_state.", NO_TOPIC
    ),
    Key("transaction.state.log.segment.bytes", INT, 104857600, at_least(1), HIGH).accepted(
        "Segment size of __transaction_state.", NO_TOPIC
    ),
    Key("transaction.state.log.load.buffer.size", INT, 5242880, at_least(1), HIGH).unused(
        "Bytes read at once while transactions are loaded.", TRANSACTION
    ),
    Key("transaction.max.timeout.ms", INT, 900000, at_least(1), HIGH).unused(
        "Longest transaction timeout that a producer may ask for.", TRANSACTION
    ),
    Key(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms", INT, 10000, at_least(1), LOW
    ).unused("How often transactions that took too long are aborted.", TRANSACTION),
    Key(
        "transaction.remove.expired.transaction.cleanup.interval.ms", INT, 3600000, at_least(1), LOW
    ).unused("How often unused transactional ids are removed.", TRANSACTION),
    Key(
        "transaction.partition.verification.enable",
        BOOLEAN,
        True,
        importance=LOW,
        mode=CLUSTER_WIDE,
    ).unused(
        "Whether a partition must have been added to a transaction before it is written.",
        TRANSACTION,
    ),
    Key("transaction.two.phase.commit.enable", BOOLEAN, False, importance=LOW).refused(
        "Whether transactions without a timeout are allowed.", TRANSACTION
    ),
    Key("transactional.id.expiration.ms", INT, 604800000, at_least(1), HIGH).unused(
        "How long an unused transactional id is remembered.", TRANSACTION
    ),
    Key("add.partitions.to.txn.retry.backoff.ms", INT, 20, at_least(1), HIGH).unused(
        "Pause before a partition is verified again.", TRANSACTION
    ),
    Key("add.partitions.to.txn.retry.backoff.max.ms", INT, 100, at_least(0), HIGH).unused(
        "Longest time for which verifying is tried again.", TRANSACTION
    ),
)
