"""The stock client library of the commands that produce and consume: kafka-python.

In: settings by Kafka's names. Out: producers and consumers of kafka-python; its errors become
CommandError. Before the library starts its retries, each server is tried once, until one responds:
if they refuse connections, that is reported at once; one that does not respond takes
_CONNECT_TIMEOUT_MS.
"""

from __future__ import annotations

import argparse
import logging
import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from pykbroker.cli.client_settings import client_arguments
from pykbroker.cli.command import CommandError
from pykbroker.cli.connection_flags import DEFAULT_BOOTSTRAP

_CONNECT_TIMEOUT_MS: Final = 30_000
_ERROR_CODE: Final = re.compile(r"^\[Error -?\d+\] ")


class Stopped(KeyboardInterrupt):
    """SIGTERM was received: exit as for Ctrl-C, leaving the group and printing counts."""


def servers_of(options: argparse.Namespace, settings: Mapping[str, str]) -> str:
    """Return the bootstrap servers: the flag, then the setting, then the default."""
    return options.bootstrap_server or settings.get("bootstrap.servers") or DEFAULT_BOOTSTRAP


def check_servers(servers: str) -> None:
    """Raise CommandError if none of the servers responds."""
    from pykbroker.cli.admin import AdminClient

    AdminClient(servers, timeout_ms=_CONNECT_TIMEOUT_MS).close()


def make_producer(servers: str, settings: Mapping[str, str]) -> Any:
    """Return a KafkaProducer that takes keys and values as bytes, and NO_VALUE for null."""
    kafka = _library()
    arguments = client_arguments(settings, kafka.KafkaProducer.DEFAULT_CONFIG)
    check_servers(servers)
    with client_errors(), _refused_settings():
        return kafka.KafkaProducer(
            **arguments | {"bootstrap_servers": servers.split(","), "value_serializer": _nulls()}
        )


def make_consumer(servers: str, settings: Mapping[str, str]) -> Any:
    """Return a KafkaConsumer that returns keys and values as bytes."""
    kafka = _library()
    arguments = client_arguments(settings, kafka.KafkaConsumer.DEFAULT_CONFIG)
    check_servers(servers)
    with client_errors(), _refused_settings():
        return kafka.KafkaConsumer(**arguments | {"bootstrap_servers": servers.split(",")})


NO_VALUE: Final = object()
"""In place of a null value: kafka-python refuses a record without key and value, Kafka does not."""


def _nulls() -> Any:
    from kafka.serializer import Serializer

    class NullSerializer(Serializer):  # type: ignore[misc]
        """Passes bytes through, and NO_VALUE as null."""

        def serialize(self, topic: str, headers: object, value: object) -> object:
            return None if value is NO_VALUE else value

    return NullSerializer()


def _library() -> Any:
    try:
        import kafka
    except ImportError:
        raise CommandError(
            "This command needs the client library kafka-python: pip install 'kafka-python>=3.0'"
        ) from None
    # This program reports every error; kafka-python's log would report it a second time.
    logging.getLogger("kafka").addHandler(logging.NullHandler())
    return kafka


@contextmanager
def client_errors() -> Iterator[None]:
    """Convert errors of kafka-python to a CommandError of one line."""
    from kafka.errors import KafkaError

    try:
        yield
    except KafkaError as error:
        raise CommandError(error_text(error)) from error


@contextmanager
def _refused_settings() -> Iterator[None]:
    """Convert what kafka-python raises for a value that it does not know to one line."""
    try:
        yield
    except (AssertionError, ValueError) as error:
        raise CommandError(error_text(error)) from error


def error_text(error: BaseException) -> str:
    """Return an error of the client library in one line, with the name of its class; without that
    for a ValueError.
    """
    text = _ERROR_CODE.sub("", " ".join(str(error).split()))
    name = type(error).__name__
    if text and (name in text or isinstance(error, ValueError)):
        return text
    return f"{name}: {text}" if text else name


@contextmanager
def stop_by_signal() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
