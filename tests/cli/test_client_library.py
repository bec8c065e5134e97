from __future__ import annotations

import argparse
import builtins
import signal
from typing import Any, Final

import kafka
import pytest
from kafka.errors import KafkaError, KafkaTimeoutError, MessageSizeTooLargeError

from pykbroker.cli import client_library
from pykbroker.cli.client_library import (
    Stopped,
    client_errors,
    error_text,
    make_consumer,
    make_producer,
    servers_of,
    stop_by_signal,
)
from pykbroker.cli.command import CommandError
from pykbroker.environment.real.ports import free_ports


def test_where_the_servers_come_from() -> None:
    flag, none = (argparse.Namespace(bootstrap_server=each) for each in ("a:1", None))
    settings = {"bootstrap.servers": "b:2"}
    assert servers_of(flag, settings) == "a:1"
    assert servers_of(none, settings) == "b:2"
    assert servers_of(none, {}) == "127.0.0.1:9092"


def test_a_server_that_is_not_there() -> None:
    (port,) = free_ports(1)
    for make in (make_producer, make_consumer):
        with pytest.raises(CommandError, match=rf"Cannot connect to 127.0.0.1:{port}"):
            make(f"127.0.0.1:{port}", {})


def test_the_library_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_kafka(name: str, *rest: Any) -> Any:
        if name == "kafka":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_kafka)
    with pytest.raises(CommandError, match=r"needs the client library kafka-python: pip install"):
        make_producer("127.0.0.1:1", {})


def test_a_setting_whose_value_the_library_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        DEFAULT_CONFIG: Final = kafka.KafkaProducer.DEFAULT_CONFIG

        def __init__(self, **settings: object) -> None:
            raise ValueError(f"Not supported codec: {settings['compression_type']}")

    monkeypatch.setattr(client_library, "check_servers", lambda servers: None)
    monkeypatch.setattr(kafka, "KafkaProducer", Refusing)
    with pytest.raises(CommandError, match=r"^Not supported codec: foo$"):
        make_producer("127.0.0.1:1", {"compression.type": "foo"})


def test_errors_in_one_line() -> None:
    with pytest.raises(CommandError, match=r"^KafkaTimeoutError: too late$"), client_errors():
        raise KafkaTimeoutError("too\nlate")
    assert error_text(KafkaError()) == "KafkaError"
    assert error_text(ValueError("no")) == "no"
    assert error_text(TypeError("no")) == "TypeError: no"
    assert error_text(ValueError()) == "ValueError"
    assert error_text(MessageSizeTooLargeError("3 MB")) == "MessageSizeTooLargeError: 3 MB"


def test_a_signal_ends_the_block() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Stopped), stop_by_signal():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == before
