"""Broker keys: the metadata quorum and the metadata log."""

from __future__ import annotations

from typing import Final

from pykbroker.config.definition import BOOLEAN, HIGH, INT, LIST, LONG, LOW, STRING, Key
from pykbroker.config.validators import at_least, quorum_bootstrap_servers, quorum_voters

QUORUM: Final = "voters cannot be added while the quorum runs yet"

KEYS: Final = (
    Key("controller.quorum.voters", LIST, (), quorum_voters(), HIGH).honoured(
        "The voters, id@host:port, of a quorum whose voters never change."
    ),
    Key("controller.quorum.bootstrap.servers", LIST, (), quorum_bootstrap_servers(), HIGH).honoured(
        "Addresses of some voters, host:port."
    ),
    Key("controller.quorum.auto.join.enable", BOOLEAN, False, importance=LOW).refused(
        "Whether this node adds itself to the voters.", QUORUM
    ),
    Key("controller.quorum.append.linger.ms", INT, 25, at_least(0)).accepted(
        "Longest time that records of the metadata log are gathered before they are written.",
        "records are written at once, those of one decision together",
    ),
    Key("controller.quorum.election.timeout.ms", INT, 1000, at_least(0), HIGH).honoured(
        "How long a voter waits without a leader before it starts an election."
    ),
    Key("controller.quorum.election.backoff.max.ms", INT, 1000, at_least(0), HIGH).honoured(
        "Longest pause before another election."
    ),
    Key("controller.quorum.fetch.timeout.ms", INT, 2000, at_least(0), HIGH).honoured(
        "How long a follower of the quorum waits for its leader."
    ),
    Key("controller.quorum.request.timeout.ms", INT, 2000, at_least(0)).honoured(
        "How long requests within the quorum may take."
    ),
    Key("controller.quorum.retry.backoff.ms", INT, 20, at_least(0), LOW).honoured(
        "Pause before a request within the quorum is sent again."
    ),
    Key("controller.quorum.fetch.max.bytes", INT, 1048576, at_least(1), LOW).honoured(
        "Maximum bytes of the metadata log in one fetch of a follower."
    ),
    Key("controller.quorum.fetch.snapshot.max.bytes", INT, 1048576, at_least(1), LOW).honoured(
        "Maximum bytes of a metadata snapshot in one fetch of a follower."
    ),
    Key("controller.quota.window.num", INT, 11, at_least(1), LOW).accepted(
        "Windows in which changes of metadata are counted against quotas.",
        "no controller quota can be set yet",
    ),
    Key("controller.quota.window.size.seconds", INT, 1, at_least(1), LOW).accepted(
        "Length of one quota window.", "no controller quota can be set yet"
    ),
    Key("controller.socket.timeout.ms", INT, 30000).accepted(
        "Timeout of the connection from a broker to the controller.",
        "Apache Kafka 4.4 defines this key and does not use it either",
    ),
    Key(
        "controller.performance.always.log.threshold.ms", LONG, 2000, at_least(0), internal=True
    ).refused(
        "Controller events slower than this are logged.", "events of the controller are not timed"
    ),
    Key(
        "controller.performance.sample.period.ms", LONG, 60000, at_least(100), internal=True
    ).refused(
        "How often durations of controller events are summarised in the log.",
        "events of the controller are not timed",
    ),
    Key("metadata.log.dir", STRING, None, importance=HIGH).honoured(
        "Directory of the metadata log; the first of log.dirs when not set."
    ),
    Key("metadata.log.segment.bytes", INT, 1073741824, at_least(8388608), HIGH).honoured(
        "A segment of the metadata log is closed at this size."
    ),
    Key("metadata.log.segment.ms", LONG, 604800000, importance=HIGH).honoured(
        "A segment of the metadata log is closed at this age."
    ),
    Key(
        "metadata.log.max.record.bytes.between.snapshots", LONG, 20971520, at_least(1), HIGH
    ).honoured("New bytes in the metadata log after which a snapshot is created."),
    Key("metadata.log.max.snapshot.interval.ms", LONG, 3600000, at_least(0), HIGH).honoured(
        "Time after which a snapshot is created if there are new records; 0 disables it."
    ),
    Key("metadata.max.retention.bytes", LONG, 104857600, importance=HIGH).honoured(
        "Size of metadata log and snapshots beyond which old ones are deleted."
    ),
    Key("metadata.max.retention.ms", LONG, 604800000, importance=HIGH).honoured(
        "Age beyond which segments and snapshots of the metadata log are deleted."
    ),
    Key("metadata.max.idle.interval.ms", INT, 500, at_least(0), LOW).honoured(
        "How often the active controller writes a no-op record when nothing happens; 0 means never."
    ),
    Key("internal.metadata.log.segment.bytes", INT, None, importance=LOW, internal=True).refused(
        "Segment size of the metadata log for tests of Kafka itself.",
        "only for tests of Apache Kafka itself",
    ),
    Key(
        "internal.metadata.max.batch.size.in.bytes", INT, 8388608, importance=LOW, internal=True
    ).refused(
        "Batch size of the metadata log for tests of Kafka itself.",
        "only for tests of Apache Kafka itself",
    ),
    Key(
        "internal.metadata.delete.delay.millis", LONG, 60000, importance=LOW, internal=True
    ).refused(
        "Deletion delay of the metadata log for tests of Kafka itself.",
        "only for tests of Apache Kafka itself",
    ),
)
