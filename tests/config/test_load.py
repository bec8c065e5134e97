from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.config import BrokerConfig, ConfigError, load

SAMPLES = Path(__file__).resolve().parents[2] / "config"


def properties(text: str) -> dict[str, str]:
    return dict(load.parse_properties(text, "f"))


def test_properties_as_java_reads_them() -> None:
    text = (
        "# comment\n"
        "  ! another\n"
        "\n"
        "a=1\n"
        "b : 2\r\n"
        "c   3\n"
        "d=one,\\\n"
        "    two\n"
        "e=back\\\\\n"
        "f\\ g\\=h=i=j\n"
        "k=\\u0041\\tB\\q\n"
        "empty=\n"
        "bare\n"
        "tail= x \n"
        "a=last wins\n"
        "end\\"
    )
    assert properties(text) == {
        "a": "last wins",
        "b": "2",
        "c": "3",
        "d": "one,two",
        "e": "back\\",
        "f g=h": "i=j",
        "k": "A\tBq",
        "empty": "",
        "bare": "",
        "tail": "x ",
        "end": "",
    }
    assert properties("smile=\\ud83d\\ude00") == {"smile": "\U0001f600"}


def test_errors_name_file_and_line() -> None:
    with pytest.raises(ConfigError, match=r"f, line 2: Malformed \\u12 encoding"):
        properties("a=1\nb=\\u12")
    with pytest.raises(ConfigError, match="f, line 1: value without a key"):
        properties("=1")
    with pytest.raises(ConfigError, match="y, line 2: "):
        load.parse_yaml("a: 1\n b: [", "y")
    with pytest.raises(ConfigError, match="y, line 1: expected keys and values"):
        load.parse_yaml("- a", "y")
    with pytest.raises(ConfigError, match=r"y, line 3: a\.b is set twice"):
        load.parse_yaml("a.b: 1\na:\n  b: 2\n", "y")
    with pytest.raises(ConfigError, match=r"override x: expected KEY=VALUE"):
        load.load_config(overrides=["x"])


def test_values_are_traced_to_their_place(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("process.roles=broker,controller\n\nnum.partitions=none\n")
    loaded = load.load_config(file, {"KAFKA_NODE_ID": "x"}, ["log.dirs=/d"])
    assert loaded.origins == {
        "process.roles": f"{file}, line 1",
        "num.partitions": f"{file}, line 3",
        "node.id": "KAFKA_NODE_ID",
        "log.dirs": "--override",
    }
    error = ConfigError("Bad.", "num.partitions")
    assert loaded.locate(error) == f"{file}, line 3: Bad."
    assert loaded.locate(ConfigError("Missing.", "broker.rack")) == f"{file}: Missing."
    load.complete_standalone(loaded)
    assert loaded.locate(ConfigError("Bad.", "listeners")) == "Bad."  # nobody set it
    assert load.load_config().locate(ConfigError("Missing.", "node.id")) == "Missing."


def test_precedence(tmp_path: Path) -> None:
    file = tmp_path / "c.yml"
    file.write_text("num.partitions: 1\nqueued.max.requests: 1\nbackground.threads: 1\n")
    environment = {"KAFKA_NUM_PARTITIONS": "2", "KAFKA_QUEUED_MAX_REQUESTS": "2", "HOME": "/"}
    loaded = load.load_config(file, environment, ["num.partitions = 3"])
    assert loaded == {
        "num.partitions": "3",
        "queued.max.requests": "2",
        "background.threads": "1",
    }


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file or directory"):
        load.load_file(tmp_path / "none")
    bad = tmp_path / "bad"
    bad.write_bytes(b"a=1\nb=\xff\n")
    with pytest.raises(ConfigError, match="bad, line 2: not UTF-8 text"):
        load.load_file(bad)


def test_yaml_values() -> None:
    text = "a: [x, y]\nb: true\nc: 1\nd: 0.50\ne:\nf:\n  g.h: i\nempty: {}\nj: 'k'\n"
    assert load.parse_yaml(text, "y") == {
        "a": "x,y",
        "b": "true",
        "c": "1",
        "d": "0.50",
        "e": "",
        "f.g.h": "i",
        "j": "k",
    }
    assert load.parse_yaml("", "y") == {}


def test_environment_mapping_of_apaches_image() -> None:
    assert load.property_name("KAFKA_NUM_PARTITIONS") == "num.partitions"
    assert load.property_name("KAFKA_A__B___C") == "a_b-c"
    assert load.property_name("KAFKA_HEAP_OPTS") is None
    assert load.property_name("PATH") is None
    environment = {
        "KAFKA_NUM_PARTITIONS": "3",
        "KAFKA_PORT": "tcp://10.0.0.1:9092",
        "KAFKA_NUM_PARTITION": "4",
        "KAFKA_HEAP_OPTS": "-Xmx1G",
        "KAFKA_BROKER_RACK": " a\\u0041",
        "KAFKA_LISTENER_NAME_PLAINTEXT_MAX_CONNECTIONS": "4",
    }
    assert load.environment_properties(environment) == {
        "num.partitions": "3",
        "broker.rack": "aA",
        "listener.name.plaintext.max.connections": "4",
    }
    near, far = load.foreign_variables(environment)
    assert near == (
        "Ignoring KAFKA_NUM_PARTITION of the environment: there is no key num.partition. "
        "Did you mean num.partitions?"
    )
    assert far == "Ignoring KAFKA_PORT of the environment: there is no key port."


def environment_of(text: str) -> dict[str, str]:
    """What Docker makes of an env file."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def test_samples_describe_the_same_node() -> None:
    text = (SAMPLES / "kafka.env").read_text()
    by_environment = load.load_config(environment=environment_of(text))
    by_file = load.load_config(SAMPLES / "server.properties")
    by_yaml = load.load_config(SAMPLES / "server.yaml")
    assert dict(by_file) == dict(by_yaml)
    assert by_environment.keys() == by_file.keys()
    configs = [BrokerConfig.from_properties(each) for each in (by_file, by_yaml, by_environment)]
    assert [each.node_id for each in configs] == [1, 1, 1]
    assert [each.endpoints[0].port for each in configs] == [9092, 9092, 9092]


def test_every_sample_is_loaded_by_the_test_above() -> None:
    ours = {"server.properties", "server.yaml", "kafka.env"}
    kinds = {".properties", ".yaml", ".yml", ".env"}
    found = {each.name for each in SAMPLES.iterdir() if each.suffix in kinds}
    assert ours <= found


def test_standalone() -> None:
    config = BrokerConfig.from_properties(load.standalone_properties("d", "::1", 0, 5))
    assert (config.node_id, config.log_directories) == (5, ("d",))
    assert [str(each) for each in config.endpoints] == ["PLAINTEXT://[::1]:0"]
    assert config.offsets_topic_replication_factor == 1


def completed(text: str) -> BrokerConfig:
    loaded = load.parse_properties(text, "f")
    load.complete_standalone(loaded)
    return BrokerConfig.from_properties(loaded)


def test_what_nobody_set_is_filled_in() -> None:
    config = completed("num.partitions=3\nlisteners=PLAINTEXT://127.0.0.1:5\nnode.id=4")
    assert (config.num_partitions, config.node_id) == (3, 4)
    assert config.log_directories == ("./pykbroker-data",)
    assert [str(each) for each in config.endpoints] == ["PLAINTEXT://127.0.0.1:5"]
    assert [str(each) for each in config.controller_endpoints] == ["CONTROLLER://127.0.0.1:0"]
    assert config.offsets_topic_replication_factor == 1


def test_older_names_of_keys_count_as_well() -> None:
    config = completed("broker.id=4\nlog.dir=/d")
    assert (config.node_id, config.log_directories) == (4, ("/d",))


@pytest.mark.parametrize(
    "line",
    [
        "process.roles=broker",
        "controller.quorum.voters=1@a:1",
        "controller.quorum.bootstrap.servers=a:1",
    ],
)
def test_what_describes_a_quorum(line: str) -> None:
    assert load.describes_quorum(properties(line))
    assert not load.describes_quorum(properties("num.partitions=3\nnode.id=4"))
