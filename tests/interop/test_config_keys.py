"""Our tables of configuration keys against the ones in Apache Kafka's jars."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from pykbroker.config.broker_keys import BROKER_KEYS, DYNAMIC_ONLY_KEYS
from pykbroker.config.definition import Key
from pykbroker.config.group_keys import GROUP_KEYS, GROUP_SYNONYMS
from pykbroker.config.own_keys import OWN_PREFIX
from pykbroker.config.topic_keys import TOPIC_KEYS, TOPIC_SYNONYMS
from tests.harness.tools import java, kafka_classpath

TABLES = {
    "broker": BROKER_KEYS,
    "topic": TOPIC_KEYS,
    "group": GROUP_KEYS,
    "dynamic": DYNAMIC_ONLY_KEYS,
}

# Validators whose text differs without a difference in what they accept.
OTHER_TEXT = {
    "authorizer.class.name": "",
    "controller.quorum.voters": "id@host:port,...",
    "controller.quorum.bootstrap.servers": "host:port,...",
    "offsets.topic.compression.codec": "[0,...,4]",  # CompressionType.forId, as a node starts
}


def apaches_keys() -> list[dict[str, Any]]:
    source = Path(__file__).parent / "java" / "ConfigKeys.java"
    done = subprocess.run(
        [java(), "-cp", kafka_classpath(), str(source)],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def synonyms(scope: str, name: str) -> list[str]:
    if scope == "topic":
        return [broker for broker, _ in TOPIC_SYNONYMS.get(name, ())]
    if scope == "group" and name in GROUP_SYNONYMS:
        return [GROUP_SYNONYMS[name]]
    return []


def as_apache(scope: str, key: Key) -> dict[str, Any]:
    return {
        "scope": scope,
        "name": key.name,
        "type": key.type.name,
        "required": key.required,
        "default": key.default_text,
        "importance": key.importance.name,
        "internal": key.internal,
        "mode": key.mode.value if scope == "broker" else None,
        "validator": key.validator.text if key.validator is not None else "",
        "synonyms": synonyms(scope, key.name),
    }


def test_every_key_is_as_in_apache_kafka() -> None:
    theirs = apaches_keys()
    for entry in theirs:
        entry["validator"] = OTHER_TEXT.get(entry["name"], entry["validator"])
    ours = [
        as_apache(scope, key)
        for scope, table in TABLES.items()
        for key in table.values()
        if not key.name.startswith(OWN_PREFIX)
    ]

    def by_name(entry: dict[str, Any]) -> tuple[str, str]:
        return entry["scope"], entry["name"]

    assert sorted(ours, key=by_name) == sorted(theirs, key=by_name)
    assert len(theirs) == 447
