"""A key that is called honoured is read somewhere: the word must not outrun the code."""

from __future__ import annotations

import re
from pathlib import Path

import pykbroker
from pykbroker.config.broker_keys import BROKER_KEYS
from pykbroker.config.definition import Key, Status
from pykbroker.config.topic_keys import TOPIC_KEYS, TOPIC_SYNONYMS

ROOT = Path(pykbroker.__file__).parent
TABLES = ("broker_fields.py", "topic_keys.py", "group_keys.py")


def source() -> str:
    """All code but generated messages and the tables of keys."""
    texts = []
    for file in sorted(ROOT.rglob("*.py")):
        is_table = file.name in TABLES or file.name.startswith("broker_keys")
        if not is_table and "messages" not in file.parts:
            texts.append(file.read_text("utf-8"))
    return "\n".join(texts)


def is_read(key: Key, text: str) -> bool:
    """As an attribute, or by its name."""
    return re.search(rf"\.{key.attribute}\b", text) is not None or f'"{key.name}"' in text


def test_honoured_keys_are_read() -> None:
    text = source()
    defaults_of_topics = {name for names in TOPIC_SYNONYMS.values() for name, _ in names}
    unread = [
        key
        for key in (*BROKER_KEYS.values(), *TOPIC_KEYS.values())
        if key.status is Status.HONOURED
        and key.name not in defaults_of_topics
        and not is_read(key, text)
    ]
    assert unread == []
