from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from pykbroker.cli import configs
from pykbroker.cli.command import CommandError
from tests.cli.conftest import Run


def test_configuration_of_a_topic(ask: Run, topic: str) -> None:
    entity = ("--entity-type", "topics", "--entity-name", topic)
    added = "retention.ms=7,cleanup.policy=[compact,delete]"
    altered = ask("configs", "--alter", *entity, "--add-config", added)
    assert (altered.code, altered.out) == (0, f"Completed updating config for topic {topic}.\n")
    assert ask("configs", "--describe", "--topic", topic).lines == [
        f"Dynamic configs for topic {topic} are:",
        (
            "  cleanup.policy=compact,delete sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:"
            "cleanup.policy=compact,delete, DEFAULT_CONFIG:log.cleanup.policy=delete}"
        ),
        "  retention.ms=7 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=7}",
    ]
    assert ask("configs", "--alter", *entity, "--delete-config", "retention.ms").code == 0
    assert len(ask("configs", "--describe", "--topic", topic).lines) == 2
    everything = ask("configs", "--describe", "--topic", topic, "--all").lines
    assert everything[0] == f"All configs for topic {topic} are:"
    assert len(everything) == 38
    assert "  retention.ms=604800000 sensitive=false synonyms={}" in everything


def test_values_from_a_file(ask: Run, topic: str, tmp_path: Path) -> None:
    file = tmp_path / "topic.properties"
    file.write_text("segment.bytes=2000000\n")
    outcome = ask("configs", "--alter", "--topic", topic, "--add-config-file", str(file))
    assert outcome.code == 0
    assert "segment.bytes=2000000" in ask("configs", "--describe", "--topic", topic).out
    missing = ask("configs", "--alter", "--topic", topic, "--add-config-file", "/nope")
    assert missing.err == "/nope: No such file or directory\n"


def test_brokers(ask: Run) -> None:
    default = ask("configs", "--alter", "--broker-defaults", "--add-config", "log.retention.ms=98")
    assert default.out == "Completed updating default config for brokers in the cluster.\n"
    one = ask("configs", "--alter", "--broker", "1", "--add-config", "log.retention.ms=99")
    assert one.out == "Completed updating config for broker 1.\n"
    assert ask("configs", "--describe", "--entity-type", "brokers").lines == [
        "Dynamic configs for broker 1 are:",
        (
            "  log.retention.ms=99 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:"
            "log.retention.ms=99, DYNAMIC_DEFAULT_BROKER_CONFIG:log.retention.ms=98, "
            "DEFAULT_CONFIG:log.retention.hours=168}"
        ),
        "Default configs for brokers in the cluster are:",
        (
            "  log.retention.ms=98 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:"
            "log.retention.ms=98}"
        ),
        (
            "  min.insync.replicas=1 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:"
            "min.insync.replicas=1}"
        ),
    ]
    for who in (("--broker", "1"), ("--entity-type", "brokers", "--entity-default")):
        assert ask("configs", "--alter", *who, "--delete-config", "log.retention.ms").code == 0
    assert "log.retention.ms" not in ask("configs", "--describe", "--entity-type", "brokers").out


def test_as_json(ask: Run, topic: str) -> None:
    assert ask("configs", "--alter", "--topic", topic, "--add-config", "flush.ms=5").code == 0
    (described,) = json.loads(ask("configs", "--describe", "--topic", topic, "--json").out)
    assert described["name"] == topic
    assert described["configs"] == [
        {
            "name": "flush.ms",
            "value": "5",
            "sensitive": False,
            "readOnly": False,
            "source": "DYNAMIC_TOPIC_CONFIG",
            "synonyms": [
                {"name": "flush.ms", "value": "5", "source": "DYNAMIC_TOPIC_CONFIG"},
            ],
        }
    ]


def test_what_does_not_exist(ask: Run) -> None:
    for flag, kind in (("--topic", "topic"), ("--broker", "broker"), ("--group", "group")):
        outcome = ask("configs", "--describe", flag, "77")
        wanted = f"The {kind} '77' doesn't exist and doesn't have dynamic config.\n"
        assert (outcome.code, outcome.out) == (0, wanted)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--add-config", "retention.ms=x"), "Invalid value x for configuration retention.ms"),
        (("--add-config", "nope=1"), "Unknown topic config name: nope"),
        (("--add-config", "nope"), "Invalid entity config: all configs to be added must be"),
        (("--add-config", "a b=1"), "Invalid character found for config key: a b"),
    ],
)
def test_refusals(ask: Run, topic: str, arguments: tuple[str, ...], message: str) -> None:
    outcome = ask("configs", "--alter", "--topic", topic, *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--topic", "none", "--add-config", "retention.ms=1"), "The topic 'none' does not exist."),
        (
            ("--broker", "1", "--add-config", "num.partitions=4"),
            "Cannot update these configs dynamically: [num.partitions]",
        ),
        (("--broker", "x", "--add-config", "a=1"), "The entity name for brokers must be a valid"),
        (("--entity-type", "topics", "--add-config", "a=1"), "An entity name must be specified"),
        (("--user", "u", "--add-config", "a=1"), "Quotas and credentials of users"),
        (("--entity-type", "topics", "--entity-default", "--add-config", "a=1"), "There are no"),
    ],
)
def test_refused_entities(ask: Run, arguments: tuple[str, ...], message: str) -> None:
    outcome = ask("configs", "--alter", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Command must include exactly one action: --describe, --alter"),
        (("--describe",), "At least one entity type must be specified"),
        (("--describe", "--entity-type", "cats"), "Invalid entity type cats, the entity type must"),
        (("--describe", "--topic", "a", "--broker", "1"), "Only one entity type may be specified"),
        (("--alter", "--topic", "a"), "At least one of --add-config, --add-config-file, or"),
        (
            ("--alter", "--topic", "a", "--add-config", "a=1", "--add-config-file", "f"),
            "Only one of --add-config or --add-config-file must be specified",
        ),
    ],
)
def test_wrong_usage(ask: Run, arguments: tuple[str, ...], message: str) -> None:
    outcome = ask("configs", *arguments)
    assert outcome.code == 1
    assert outcome.err.startswith(f"pykbroker configs: {message}")


def test_brackets_and_empty_values() -> None:
    options = argparse.Namespace(add_config="k1=v1, k2=[v1,v2] ,k3=", add_config_file=None)
    assert configs.parse_added(options) == {"k1": "v1", "k2": "v1,v2", "k3": ""}
    with pytest.raises(CommandError):
        configs.parse_added(argparse.Namespace(add_config="k=a=b", add_config_file=None))
