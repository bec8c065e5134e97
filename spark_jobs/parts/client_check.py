"""Checks in the driver that the workers' clients accept their settings and reach the broker.

check_clients   raises ClientRefusal or BrokerRefusal within seconds: workers retry for minutes
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from spark_jobs.parts.brokers import check_reachable
from spark_jobs.parts.clients import (
    ConfluentSender,
    KafkaPythonSender,
    by_kafka_python,
    error_text,
    is_confluent,
)
from spark_jobs.parts.consumers import confluent_consumer, kafka_python_consumer

_ANSWER_SECONDS: Final = 5
_ELSEWHERE: Final = "is given by --bootstrap-servers"
_BYTES: Final = "is not supported: keys and values are bytes"
#: Settings that the jobs reject, and why.
_REFUSED: Final = {
    "bootstrap.servers": _ELSEWHERE,
    "metadata.broker.list": _ELSEWHERE,
    "transactional.id": "is not supported: the job writes no transactions",
    "key.serializer": _BYTES,
    "value.serializer": _BYTES,
    "key.deserializer": _BYTES,
    "value.deserializer": _BYTES,
}
#: Values that kafka-python itself does not check.
_CHOICES: Final = {
    "acks": ("all", "-1", "0", "1"),
    "auto.offset.reset": ("earliest", "latest", "none"),
}

#: What the clients raise in addition to their own errors.
_LIBRARY_FAULTS: Final[tuple[type[Exception], ...]] = (
    AssertionError,
    AttributeError,
    ImportError,
    OSError,
    TypeError,
    ValueError,
)


class ClientRefusal(OSError):
    """A client rejects its settings, is not installed, or gets no response."""


def check_clients(
    bootstrap: str,
    client: str,
    producer: Mapping[str, str],
    consumer: Mapping[str, str] | None = None,
) -> None:
    """Raise ClientRefusal or BrokerRefusal in the driver: before the work, not in each worker."""
    check_reachable(bootstrap)
    asks = _ask_confluent if is_confluent(client) else _ask_kafka_python
    with _named("producer"):
        _check_names(producer)
        asks(bootstrap, producer, is_producer=True)
    if consumer is not None:
        with _named("consumer"):
            _check_names(consumer)
            if consumer.get("group.id") == "":
                raise ClientRefusal("group.id is empty")  # confluent-kafka aborts the process
            asks(bootstrap, consumer, is_producer=False)


@contextmanager
def _named(what: str) -> Iterator[None]:
    try:
        yield
    except ClientRefusal as refusal:
        raise ClientRefusal(f"{what}: {refusal}") from None


@contextmanager
def _of_the_client() -> Iterator[None]:
    """ClientRefusal for what a client raises while it is made, and asks: of settings that are
    objects of Python to it, whatever comes of a text in their place."""
    faults = (*_LIBRARY_FAULTS, *_kafka_faults())
    try:
        yield
    except faults as fault:
        told = fault.args[0] if fault.args else ""
        raise ClientRefusal(error_text(told) or type(fault).__name__) from None


def _kafka_faults() -> list[type[Exception]]:
    """Return the error classes of the installed libraries."""
    found: list[type[Exception]] = []
    with suppress(ImportError):
        from confluent_kafka import KafkaException

        found.append(KafkaException)
    with suppress(ImportError):
        from kafka.errors import KafkaError

        found.append(KafkaError)
    return found


def _check_names(settings: Mapping[str, str]) -> None:
    for name in settings:
        reason = _REFUSED.get(_dotted(name))
        if reason is not None:
            raise ClientRefusal(f"{name} {reason}")


def _dotted(name: str) -> str:
    """Accept kafka-python's names as well."""
    return name.lower().replace("_", ".")


def _ask_confluent(bootstrap: str, settings: Mapping[str, str], *, is_producer: bool) -> None:
    """Create a client, and let it request metadata."""
    errors: list[Any] = []
    # It would log each attempt to standard error.
    given: dict[str, Any] = {"log_level": "0", "error_cb": errors.append, **settings}
    with _of_the_client():
        if is_producer:
            asking = ConfluentSender(bootstrap, given).client
        else:
            asking = confluent_consumer(bootstrap, given)
    try:
        with _of_the_client():
            asking.list_topics(timeout=_ANSWER_SECONDS)
    except ClientRefusal:
        asking.poll(0)  # lets it report why
        if errors:
            raise ClientRefusal(f"no answer from {bootstrap}: {error_text(errors[0])}") from None
        raise
    finally:
        if not is_producer:
            asking.close()


def _ask_kafka_python(bootstrap: str, settings: Mapping[str, str], *, is_producer: bool) -> None:
    """Create a client, which requests metadata itself."""
    with _of_the_client():
        from kafka import KafkaConsumer, KafkaProducer

    defaults = KafkaProducer.DEFAULT_CONFIG if is_producer else KafkaConsumer.DEFAULT_CONFIG
    _check_values(settings, defaults)
    given = {"bootstrap.timeout.ms": str(_ANSWER_SECONDS * 1000), **settings}
    with _of_the_client():
        if is_producer:
            KafkaPythonSender(bootstrap, given).flush()
        else:
            kafka_python_consumer(bootstrap, given).close()


def _check_values(settings: Mapping[str, str], defaults: Mapping[str, Any]) -> None:
    """Raise ClientRefusal for values that kafka-python does not check: one that is not among the
    `_CHOICES`, or no boolean or amount where the default is one. Others are not checked.
    """
    for name, text in settings.items():
        choices = _CHOICES.get(_dotted(name))
        if choices is not None:
            if text not in choices:
                raise ClientRefusal(f"{name} must be one of {', '.join(choices)}, not {text!r}")
            continue
        ((key, value),) = by_kafka_python({name: text}).items()
        default = defaults.get(key)
        if isinstance(default, bool):
            if not isinstance(value, bool):
                raise ClientRefusal(f"{name} must be true or false, not {text!r}")
        elif isinstance(default, (int, float)) and not _is_amount(value):
            raise ClientRefusal(f"{name} must be a number, not {text!r}")


def _is_amount(value: Any) -> bool:
    """Return whether it is a number that is not negative, or -1, which stands for none."""
    return type(value) in (int, float) and (value >= 0 or value == -1)
