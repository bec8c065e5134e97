"""Whether the workers' clients take their settings and reach the broker: asked in the driver.

check_clients   ClientRefusal in one line, within seconds; workers would try for minutes
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from spark_jobs.brokers import check_reachable
from spark_jobs.clients import (
    ConfluentSender,
    KafkaPythonSender,
    by_kafka_python,
    error_text,
    is_confluent,
)
from spark_jobs.consumers import confluent_consumer, kafka_python_consumer

_ANSWER_SECONDS: Final = 5
_ELSEWHERE: Final = "is given by --bootstrap-servers"
_BYTES: Final = "is not taken: keys and values are bytes"
#: Settings that the jobs do not take, and why.
_REFUSED: Final = {
    "bootstrap.servers": _ELSEWHERE,
    "metadata.broker.list": _ELSEWHERE,
    "transactional.id": "is not taken: the job writes no transactions",
    "key.serializer": _BYTES,
    "value.serializer": _BYTES,
    "key.deserializer": _BYTES,
    "value.deserializer": _BYTES,
}
#: Values that kafka-python itself does not look at.
_CHOICES: Final = {
    "acks": ("all", "-1", "0", "1"),
    "auto.offset.reset": ("earliest", "latest", "none"),
}


class ClientRefusal(OSError):
    """A client does not take its settings, is not there, or gets no answer."""


def check_clients(
    bootstrap: str,
    client: str,
    producer: Mapping[str, str],
    consumer: Mapping[str, str] | None = None,
) -> None:
    """ClientRefusal, or BrokerRefusal, in the driver: before the work, not in each worker."""
    check_reachable(bootstrap)
    asks = _ask_confluent if is_confluent(client) else _ask_kafka_python
    with _refused_as("producer"):
        _check_names(producer)
        asks(bootstrap, producer, is_producer=True)
    if consumer is not None:
        with _refused_as("consumer"):
            _check_names(consumer)
            if consumer.get("group.id") == "":
                raise ClientRefusal("group.id is empty")  # confluent-kafka aborts the process
            asks(bootstrap, consumer, is_producer=False)


@contextmanager
def _refused_as(what: str) -> Iterator[None]:
    try:
        yield
    except Exception as fault:  # KafkaException, AssertionError, ValueError, ImportError ...
        told = fault.args[0] if fault.args else ""
        raise ClientRefusal(f"{what}: {error_text(told) or type(fault).__name__}") from None


def _check_names(settings: Mapping[str, str]) -> None:
    for name in settings:
        reason = _REFUSED.get(_dotted(name))
        if reason is not None:
            raise ClientRefusal(f"{name} {reason}")


def _dotted(name: str) -> str:
    """kafka-python's names are taken too."""
    return name.lower().replace("_", ".")


def _ask_confluent(bootstrap: str, settings: Mapping[str, str], *, is_producer: bool) -> None:
    """Construct a client, and let it ask for metadata."""
    errors: list[Any] = []
    # It would tell each attempt on standard error.
    given: dict[str, Any] = {"log_level": "0", "error_cb": errors.append, **settings}
    if is_producer:
        asking = ConfluentSender(bootstrap, given).client
    else:
        asking = confluent_consumer(bootstrap, given)
    try:
        asking.list_topics(timeout=_ANSWER_SECONDS)
    except Exception:
        asking.poll(0)  # lets it tell why
        if errors:
            raise ClientRefusal(f"no answer from {bootstrap}: {error_text(errors[0])}") from None
        raise
    finally:
        if not is_producer:
            asking.close()


def _ask_kafka_python(bootstrap: str, settings: Mapping[str, str], *, is_producer: bool) -> None:
    """Construct a client, which asks for metadata itself."""
    from kafka import KafkaConsumer, KafkaProducer

    defaults = KafkaProducer.DEFAULT_CONFIG if is_producer else KafkaConsumer.DEFAULT_CONFIG
    _check_values(settings, defaults)
    given = {"bootstrap.timeout.ms": str(_ANSWER_SECONDS * 1000), **settings}
    if is_producer:
        KafkaPythonSender(bootstrap, given).flush()
    else:
        kafka_python_consumer(bootstrap, given).close()


def _check_values(settings: Mapping[str, str], defaults: Mapping[str, Any]) -> None:
    """ClientRefusal for a value of another type than the default's: kafka-python does not look."""
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
    """A number; -1 stands for none."""
    return type(value) in (int, float) and (value >= 0 or value == -1)
