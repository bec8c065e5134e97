from __future__ import annotations

import typing

from pykbroker.config.broker_fields import BrokerFields
from pykbroker.config.broker_keys import BROKER_KEYS, SUBJECTS, broker_synonyms
from pykbroker.config.definition import ConfigType, Key, Status
from pykbroker.config.group_config import GroupFields
from pykbroker.config.group_keys import GROUP_KEYS, GROUP_SYNONYMS
from pykbroker.config.own_keys import OWN_PREFIX
from pykbroker.config.topic_config import TopicFields
from pykbroker.config.topic_keys import TOPIC_KEYS, TOPIC_SYNONYMS

PYTHON_TYPES: dict[ConfigType, object] = {
    ConfigType.BOOLEAN: bool,
    ConfigType.STRING: str,
    ConfigType.CLASS: str,
    ConfigType.PASSWORD: str,
    ConfigType.INT: int,
    ConfigType.SHORT: int,
    ConfigType.LONG: int,
    ConfigType.DOUBLE: float,
    ConfigType.LIST: tuple[str, ...],
}


def test_numbers_of_keys_are_those_of_kafka() -> None:
    of_kafka = [name for name in BROKER_KEYS if not name.startswith(OWN_PREFIX)]
    assert (len(of_kafka), len(TOPIC_KEYS), len(GROUP_KEYS)) == (379, 38, 27)
    assert sum(len(keys) for _, keys in SUBJECTS) == len(BROKER_KEYS)


def test_every_key_says_what_it_is() -> None:
    for table in (BROKER_KEYS, TOPIC_KEYS, GROUP_KEYS):
        for key in table.values():
            assert key.doc.endswith("."), key
            assert bool(key.reason) == (key.status is not Status.HONOURED), key
            assert not key.reason.endswith("."), key


def test_every_default_passes_its_own_check() -> None:
    for table in (BROKER_KEYS, TOPIC_KEYS, GROUP_KEYS):
        for key in table.values():
            if key.default is not None:
                text = key.default_text
                assert text is not None
                assert key.parse_supported(text) == key.default, key


def expected_fields(keys: dict[str, Key], *, every: bool) -> dict[str, object]:
    fields: dict[str, object] = {}
    for key in keys.values():
        if not key.has_attribute and not every:
            continue
        kind = PYTHON_TYPES[key.type]
        optional = key.default is None and not key.required
        fields[key.attribute] = typing.Optional[kind] if optional else kind  # noqa: UP045
    return fields


def test_typed_attributes_follow_the_tables() -> None:
    assert typing.get_type_hints(BrokerFields) == expected_fields(BROKER_KEYS, every=False)
    assert typing.get_type_hints(TopicFields) == expected_fields(TOPIC_KEYS, every=False)
    assert typing.get_type_hints(GroupFields) == expected_fields(GROUP_KEYS, every=True)


def test_synonyms_name_known_keys() -> None:
    for name, synonyms in TOPIC_SYNONYMS.items():
        assert name in TOPIC_KEYS
        for synonym, _ in synonyms:
            assert synonym in BROKER_KEYS
    for name, synonym in GROUP_SYNONYMS.items():
        assert name in GROUP_KEYS
        assert synonym in BROKER_KEYS


def test_broker_synonyms() -> None:
    assert broker_synonyms("log.retention.hours") == (
        "log.retention.ms",
        "log.retention.minutes",
        "log.retention.hours",
    )
    assert broker_synonyms("log.flush.interval.ms")[1] == "log.flush.scheduler.interval.ms"
    assert broker_synonyms("log.flush.scheduler.interval.ms") == (
        "log.flush.scheduler.interval.ms",
    )
    name = "listener.name.internal.max.connections"
    assert broker_synonyms(name) == (name, "max.connections")
