from __future__ import annotations

from collections.abc import Mapping

import pytest

from pykbroker.config import BrokerConfig, ConfigError
from pykbroker.config.broker_keys import BROKER_KEYS
from pykbroker.config.definition import ConfigType, Status
from pykbroker.config.load import standalone_properties

BASE = standalone_properties("/data", port=9092)


def make(**changes: str) -> BrokerConfig:
    """A node with these changes; `__` in a name stands for a dot."""
    return BrokerConfig.from_properties(
        BASE | {k.replace("__", "."): v for k, v in changes.items()}
    )


def refusal(changes: Mapping[str, str]) -> str:
    with pytest.raises(ConfigError) as caught:
        BrokerConfig.from_properties({**BASE, **changes})
    return caught.value.message


def test_defaults_are_those_of_kafka() -> None:
    config = make()
    assert config.node_id == config.broker_id == 1
    assert config.message_max_bytes == 1048588
    assert config.log_segment_bytes == 1 << 30
    assert config.queued_max_requests == 500
    assert config.log_retention_time_ms == 7 * 24 * 3_600_000
    assert config.log_roll_time_ms == 7 * 24 * 3_600_000
    assert config.log_roll_time_jitter_ms == 0
    assert config.log_flush_interval_time_ms == (1 << 63) - 1
    assert config.process_roles == ("broker", "controller")
    assert config.log_directories == ("/data",)
    assert config.metadata_log_directory == "/data"
    assert config.value("ssl.protocol") == "TLSv1.3"


def test_directories_are_written_plainly() -> None:
    config = make(log__dirs="/data/,/more//,rel/,/data,//x//y", metadata__log__dir="/meta/")
    assert config.log_directories == ("/data", "/more", "rel", "/x/y")
    assert config.metadata_log_directory == "/meta"
    assert make(log__dirs="/").log_directories == ("/",)
    assert refusal({"log.dirs": "/data/,/data/in-0"}) == (
        "log.dirs: /data/in-0 lies in /data, and would be taken for a partition of it"
    )
    assert refusal({"log.dirs": "data,./data/../data/in-0"}).startswith("log.dirs: ./data/../data/")
    assert refusal({"metadata.log.dir": "/data/meta-0"}) == (
        "metadata.log.dir: /data/meta-0 lies in /data, and would be taken for a partition of it"
    )
    assert len(make(log__dirs="/data,/data-2").log_directories) == 2
    assert make(log__dirs="/data/logs", metadata__log__dir="/data").is_broker


def test_endpoints() -> None:
    config = make(
        listeners="PLAINTEXT://:9092,inside://127.0.0.1:9192,CONTROLLER://[::1]:9093",
        advertised__listeners="PLAINTEXT://example.org:19092,INSIDE://localhost:9192",
        controller__quorum__bootstrap__servers="[::1]:9093",
        listener__security__protocol__map="PLAINTEXT:PLAINTEXT,INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT",
    )
    assert [str(each) for each in config.endpoints] == [
        "PLAINTEXT://:9092",
        "INSIDE://127.0.0.1:9192",
    ]
    assert [str(each) for each in config.controller_endpoints] == ["CONTROLLER://[::1]:9093"]
    assert [each.host for each in config.advertised_endpoints] == ["example.org", "localhost"]
    assert config.inter_broker_listener == "PLAINTEXT"


def test_times_take_the_finest_unit_that_is_set() -> None:
    assert make(log__retention__hours="1").log_retention_time_ms == 3_600_000
    both = make(log__retention__hours="1", log__retention__minutes="2")
    assert both.log_retention_time_ms == 120_000
    assert make(log__retention__hours="1", log__retention__ms="7").log_retention_time_ms == 7
    assert make(log__retention__hours="-5").log_retention_time_ms == -1
    assert make(log__roll__hours="2").log_roll_time_ms == 7_200_000
    assert make(log__roll__hours="2", log__roll__ms="9").log_roll_time_ms == 9
    assert make(log__flush__scheduler__interval__ms="5").log_flush_interval_time_ms == 5


def test_every_refused_key_is_refused_by_name() -> None:
    other = {
        ConfigType.BOOLEAN: ("true", "false"),
        ConfigType.DOUBLE: ("0.3", "0.31"),
        ConfigType.STRING: ("other", "x"),
        ConfigType.CLASS: ("other", "x"),
        ConfigType.PASSWORD: ("other", "x"),
        ConfigType.LIST: ("other", "classic"),
    }
    checked = 0
    for name, key in BROKER_KEYS.items():
        if key.status is not Status.REFUSED:
            continue
        numbers = ("1", "2", "4", "11", "500", "3000", "1048577", "600000")
        candidates = [*other.get(key.type, ()), *numbers]
        if key.validator is not None:
            candidates += key.validator.text.partition("[")[2].strip("]").split(", ")
        accepted = [text for text in candidates if parses_off_default(name, text)]
        assert accepted, name
        assert refusal({name: accepted[0]}).startswith(f"{name}: "), name
        checked += 1
    assert checked == sum(key.status is Status.REFUSED for key in BROKER_KEYS.values()) > 30


def parses_off_default(name: str, text: str) -> bool:
    try:
        return BROKER_KEYS[name].parse(text) != BROKER_KEYS[name].default
    except ConfigError:
        return False


REFUSED = [
    (
        {"replica.fetch.wait.max.ms": "600", "replica.socket.timeout.ms": "500"},
        (
            "replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms to "
            "prevent unnecessary socket timeouts"
        ),
    ),
    (
        {"replica.selector.class": "org.example.MySelector"},
        (
            "replica.selector.class: org.example.MySelector cannot be loaded; there are "
            "org.apache.kafka.common.replica.RackAwareReplicaSelector and "
            "org.apache.kafka.common.replica.LeaderSelector"
        ),
    ),
    (
        {"replica.fetch.wait.max.ms": "600", "replica.lag.time.max.ms": "500"},
        (
            "replica.fetch.wait.max.ms should always be less than or equal to "
            "replica.lag.time.max.ms to prevent frequent changes in ISR"
        ),
    ),
    ({"num.partition": "1"}, "num.partition: unknown configuration. Did you mean num.partitions?"),
    ({"zzz": "1"}, "zzz: unknown configuration."),
    (
        {"authorizer.class.name": "a.B"},
        "authorizer.class.name: authorization is not built yet",
    ),
    (
        {"connection.failed.authentication.delay.ms": "10", "connections.max.idle.ms": "10"},
        (
            "connection.failed.authentication.delay.ms=10 should always be less than "
            "connections.max.idle.ms=10 to prevent failed authentication responses from timing out"
        ),
    ),
    (
        {"early.start.listeners": "controller,other"},
        (
            "early.start.listeners contains listener OTHER, but this is not contained in "
            "listeners or controller.listener.names"
        ),
    ),
    (
        {"offsets.topic.compression.codec": "5"},
        (
            "Invalid value 5 for configuration "
            "offsets.topic.compression.codec: Value must be no more than 4"
        ),
    ),
    ({"node.id": "-1"}, "Invalid value -1 for configuration node.id: Value must be at least 0"),
    (
        {"broker.id": "2"},
        (
            "`node.id` and `broker.id` must be set to the same value. `broker.id` is deprecated, "
            "please use `node.id` instead."
        ),
    ),
    (
        {"process.roles": "broker"},
        (
            "controller.listener.names must not contain a value appearing in the 'listeners' "
            "configuration when running KRaft with just the broker role"
        ),
    ),
    (
        {"process.roles": "broker", "listeners": "PLAINTEXT://:9092", "node.id": "1"}
        | {"controller.quorum.voters": "1@localhost:9093"},
        (
            "If process.roles contains just the 'broker' role, the node id 1 must not be included "
            "in the set of voters controller.quorum.voters={1}"
        ),
    ),
    (
        {"process.roles": "controller"},
        (
            "The listeners config must only contain KRaft controller listeners from "
            "controller.listener.names when process.roles=controller"
        ),
    ),
    (
        {"log.dirs": ""},
        "Configuration 'log.dirs' must not be empty. Valid values include: any non-empty value",
    ),
    (
        {"log.retention.ms": "0"},
        "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
    ),
    ({"log.roll.ms": "0"}, "log.roll.ms must be greater than or equal to 1"),
    (
        {"log.flush.scheduler.interval.ms": "-1"},
        "log.flush.interval.ms must be greater than or equal to 0",
    ),
    (
        {"group.coordinator.rebalance.protocols": "consumer"},
        "Disabling the 'classic' protocol is not supported.",
    ),
    (
        {"log.cleaner.dedupe.buffer.size": "1000"},
        "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
    ),
    (
        {"max.connections.per.ip": "0"},
        (
            "max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides "
            "property is set."
        ),
    ),
    (
        {"max.connections.per.ip.overrides": "localhost"},
        (
            "Invalid value localhost for configuration max.connections.per.ip.overrides: "
            "Expected host:count"
        ),
    ),
    (
        {
            "log.cleaner.min.compaction.lag.ms": "10",
            "log.cleaner.max.compaction.lag.ms": "5",
        },
        "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
    ),
    (
        {"leader.replication.throttled.rate": "5"},
        (
            "leader.replication.throttled.rate: can be set only at run time, by a client "
            "that alters "
            "broker configuration"
        ),
    ),
    (
        {"controller.quorum.voters": "2@localhost:9093"},
        (
            "If process.roles contains the 'controller' role, the node id 1 must be "
            "included in the "
            "set of voters controller.quorum.voters={2}"
        ),
    ),
    (
        {"controller.quorum.bootstrap.servers": ""},
        (
            "If using process.roles, either controller.quorum.bootstrap.servers must "
            "contain the set "
            "of bootstrap controllers or controller.quorum.voters must contain a parseable set of "
            "controllers."
        ),
    ),
    (
        {"listener.name.plaintext.principal.builder.class": "a.B"},
        (
            "listener.name.plaintext.principal.builder.class: plug-ins written in Java cannot run "
            "in this broker"
        ),
    ),
    (
        {"listener.name.other.max.connections": "5"},
        "listener.name.other.max.connections: there is no listener named other",
    ),
    (
        {"listener.name.plaintext.num.partitions": "5"},
        (
            "listener.name.plaintext.num.partitions: num.partitions cannot be set for a single "
            "listener"
        ),
    ),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[next(iter(c)) for c, _ in REFUSED])
def test_refusals(changes: dict[str, str], message: str) -> None:
    assert refusal(changes) == message


def test_a_required_key_that_is_missing() -> None:
    texts = {name: text for name, text in BASE.items() if name != "node.id"}
    with pytest.raises(ConfigError) as caught:
        BrokerConfig.from_properties(texts)
    wanted = 'Missing required configuration "node.id" which has no default value.'
    assert caught.value.message == wanted


def test_broker_id_is_another_name_for_node_id() -> None:
    texts = {name: text for name, text in BASE.items() if name != "node.id"}
    assert BrokerConfig.from_properties(texts | {"broker.id": "7"}).node_id == 7


def test_limits_of_listeners_and_addresses() -> None:
    config = make(
        listener__name__plaintext__max__connections="5",
        max__connections="9",
        max__connections__per__ip__overrides="127.0.0.1:3, [::1]:4",
    )
    assert config.socket_overrides("PLAINTEXT").max_connections == 5
    assert config.socket_overrides("CONTROLLER").max_connections == 9
    assert config.max_connections_per_ip_by_address == {"127.0.0.1": 3, "::1": 4}


def test_dynamic_layers() -> None:
    config = make(log__retention__hours="1")
    changed = config.with_dynamic({"log.retention.ms": "5", "num.io.threads": "4"}, {})
    assert changed.log_retention_time_ms == 5
    assert changed.num_io_threads == 4
    assert config.num_io_threads == 8
    nearer = changed.with_dynamic({"log.retention.ms": "5"}, {"log.retention.ms": "6"})
    assert nearer.log_retention_time_ms == 6
    with pytest.raises(ConfigError, match="Not a number of type LONG"):
        config.with_dynamic({}, {"log.retention.ms": "soon"})


def test_roles_apart() -> None:
    quorum = {"controller.quorum.voters": "1@a:9093,2@b:9093,3@c:9093"}
    names = {"controller.listener.names": "CONTROLLER"}
    controller = BrokerConfig.from_properties(
        {"process.roles": "controller", "node.id": "2", "listeners": "CONTROLLER://:9093"}
        | {"log.dirs": "/d"}
        | quorum
        | names
    )
    assert (controller.is_broker, controller.is_controller) == (False, True)
    assert controller.endpoints == ()
    broker = BrokerConfig.from_properties(
        {"process.roles": "broker", "node.id": "9", "listeners": "PLAINTEXT://:9092"}
        | {"log.dirs": "/d"}
        | quorum
        | names
    )
    assert (broker.is_broker, broker.is_controller) == (True, False)
    assert broker.controller_endpoints == ()
