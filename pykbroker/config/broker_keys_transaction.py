"""Broker keys: transactions and their coordinator."""

from __future__ import annotations

from typing import Final

from pykbroker.config.definition import BOOLEAN, CLUSTER_WIDE, HIGH, INT, LOW, SHORT, Key
from pykbroker.config.validators import at_least

TWO_PHASE: Final = "two-phase commit of clients (KIP-939) is not built yet"

KEYS: Final = (
    Key("transaction.state.log.replication.factor", SHORT, 3, at_least(1), HIGH).honoured(
        "Replicas of __transaction_state, when it is created."
    ),
    Key("transaction.state.log.min.isr", INT, 2, at_least(1), HIGH).honoured(
        "In-sync replicas that __transaction_state needs, when it is created."
    ),
    Key("transaction.state.log.num.partitions", INT, 50, at_least(1), HIGH).honoured(
        "Partitions of __transaction_state, when it is created."
    ),
    Key("transaction.state.log.segment.bytes", INT, 104857600, at_least(1), HIGH).honoured(
        "Segment size of __transaction_state, when it is created."
    ),
    Key("transaction.state.log.load.buffer.size", INT, 5242880, at_least(1), HIGH).honoured(
        "Bytes read at a time while transactions are loaded."
    ),
    Key("transaction.max.timeout.ms", INT, 900000, at_least(1), HIGH).honoured(
        "Longest transaction timeout that a producer may request."
    ),
    Key(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms", INT, 10000, at_least(1), LOW
    ).honoured("How often transactions that took too long are aborted."),
    Key(
        "transaction.remove.expired.transaction.cleanup.interval.ms", INT, 3600000, at_least(1), LOW
    ).honoured("How often unused transactional ids are removed."),
    Key(
        "transaction.partition.verification.enable",
        BOOLEAN,
        True,
        importance=LOW,
        mode=CLUSTER_WIDE,
    ).honoured("Whether a partition must have joined a transaction before it is written."),
    Key("transaction.two.phase.commit.enable", BOOLEAN, False, importance=LOW).refused(
        "Whether transactions without a timeout are allowed.", TWO_PHASE
    ),
    Key("transactional.id.expiration.ms", INT, 604800000, at_least(1), HIGH).honoured(
        "How long an unused transactional id is remembered."
    ),
    Key("add.partitions.to.txn.retry.backoff.ms", INT, 20, at_least(1), HIGH).honoured(
        "Pause before the partitions of a batch are added to its transaction again."
    ),
    Key("add.partitions.to.txn.retry.backoff.max.ms", INT, 100, at_least(0), HIGH).honoured(
        "Longest time for which adding partitions to a transaction is retried."
    ),
)
