from __future__ import annotations

from pathlib import Path

import pytest
from kafka import KafkaConsumer, KafkaProducer

from pykbroker.cli.client_settings import client_arguments, file_settings, key_values
from pykbroker.cli.command import CommandError


def test_key_values() -> None:
    assert key_values(["a=1", "b=x=y", "a=2", "c="]) == {"a": "2", "b": "x=y", "c": ""}
    for wrong in ("a", "=1"):
        with pytest.raises(CommandError, match="is not KEY=VALUE"):
            key_values([wrong])


def test_files(tmp_path: Path) -> None:
    assert file_settings(None) == {}
    file = tmp_path / "client.properties"
    file.write_text("# mine\nlinger.ms = 5\nclient.id: me\n")
    assert file_settings(str(file)) == {"linger.ms": "5", "client.id": "me"}
    with pytest.raises(CommandError, match="No such file"):
        file_settings(str(tmp_path / "none"))


def test_names_and_types_of_a_producer() -> None:
    settings = {
        "acks": "all",
        "linger.ms": "5",
        "retries": "3",
        "client.id": "me",
        "compression.type": "zstd",
        "enable.idempotence": "False",
        "send.buffer.bytes": "-1",
        "security.protocol": "PLAINTEXT",
        "key.serializer": "any",
    }
    assert client_arguments(settings, KafkaProducer.DEFAULT_CONFIG) == {
        "acks": -1,
        "linger_ms": 5,
        "retries": 3,
        "client_id": "me",
        "compression_type": "zstd",
        "enable_idempotence": False,
        "send_buffer_bytes": -1,
    }
    none = {"compression.type": "none", "acks": "1"}
    arguments = client_arguments(none, KafkaProducer.DEFAULT_CONFIG)
    assert arguments == {"compression_type": None, "acks": 1}


@pytest.mark.parametrize(
    "name, text, why",
    [
        ("buffer.memory", "1", "buffer.memory: the client library kafka-python has no such"),
        ("linger_ms", "1", "linger_ms: the client library kafka-python has no such"),
        ("linger.ms", "soon", "linger.ms=soon: expected a whole number"),
        ("linger.ms", "-1", "linger.ms=-1: must be at least 0"),
        ("max.poll.records", "0", "max.poll.records=0: must be at least 1"),
        ("acks", "-2", "acks=-2: must be at least -1"),
        ("enable.auto.commit", "1", "enable.auto.commit=1: expected true or false"),
        ("security.protocol", "SSL", "security.protocol=SSL is not supported, only PLAINTEXT"),
        ("group.protocol", "consumer", "group.protocol=consumer is not supported, only classic"),
        ("ssl.cafile", "x", "ssl.cafile is not supported by this command"),
    ],
)
def test_what_is_refused(name: str, text: str, why: str) -> None:
    known = KafkaProducer.DEFAULT_CONFIG | KafkaConsumer.DEFAULT_CONFIG
    with pytest.raises(CommandError) as caught:
        client_arguments({name: text}, known)
    assert str(caught.value).startswith(why)
