"""The bounds that brokers set for the configuration of groups, and the checks of their defaults.

In: values of broker keys, text of tags. Out: ConfigError. Apache Kafka makes these checks as well,
in the same words (GroupCoordinatorConfig, ShareGroupConfig), at every start, whether groups exist
or not; that assignors cannot be Java plug-ins is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from pykbroker.config.definition import ConfigError, Value, list_entries

KINDS: Final = ("consumer", "share", "streams")

_LIMITS: Final = (
    "share.record.lock.duration.ms",
    "share.delivery.count.limit",
    "share.partition.max.record.locks",
)

# Key -> (broker key of the least value, broker key of the greatest value); None is no bound.
GROUP_BOUNDS: Final[dict[str, tuple[str | None, str | None]]] = {
    **{
        f"{kind}.{name}": (f"group.{kind}.min.{name}", f"group.{kind}.max.{name}")
        for kind in KINDS
        for name in ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms")
    },
    **{
        name: (
            name.replace("share.", "group.share.min."),
            name.replace("share.", "group.share.max."),
        )
        for name in _LIMITS
    },
    "streams.num.standby.replicas": (None, "group.streams.max.standby.replicas"),
    "streams.num.warmup.replicas": (None, "group.streams.max.warmup.replicas"),
    "streams.task.offset.interval.ms": ("group.streams.min.task.offset.interval.ms", None),
}

ASSIGNORS: Final = ("uniform", "range")
TAGS: Final = "streams.rack.aware.assignment.tags"


def check_group_defaults(value: Callable[[str], Value]) -> None:
    """Check the group keys of a broker against each other; `value` returns any key's value."""

    def number(name: str) -> int:
        result = value(name)
        assert isinstance(result, int), name
        return result

    for smaller, larger, named in _ordered():
        if number(smaller) > number(larger):
            other = smaller if named == larger else larger
            relation = "less" if named == smaller else "greater"
            raise ConfigError(f"{named} must be {relation} than or equal to {other}", named)
    for kind in KINDS:
        heartbeat = f"group.{kind}.heartbeat.interval.ms"
        session = f"group.{kind}.session.timeout.ms"
        if number(heartbeat) >= number(session):
            raise ConfigError(f"{heartbeat} must be less than {session}", heartbeat)
    name = "group.consumer.assignors"
    assignors = value(name)
    for assignor in assignors if isinstance(assignors, tuple) else ():
        if assignor not in ASSIGNORS:
            why = "plug-ins written in Java cannot run in this broker"
            raise ConfigError(f"{name}: {assignor}: {why}", name)


def check_tags(name: str, text: str) -> None:
    """Refuse a tag that is written twice; `text` is the value of TAGS or of its broker key."""
    tags = list_entries(text)
    if len(set(tags)) < len(tags):
        raise ConfigError(f"{name} must not contain duplicate tag keys.", name)


def _ordered() -> Iterator[tuple[str, str, str]]:
    """Two broker keys of which the first must not exceed the second, and the key to blame."""
    for name, (least, greatest) in GROUP_BOUNDS.items():
        default = f"group.{name}"
        if least is not None and greatest is not None:
            yield least, greatest, greatest
        if least is not None:
            yield least, default, default
        if greatest is not None:
            yield default, greatest, greatest if name in _LIMITS else default
    sessions = "group.share.max.share.sessions"
    yield "group.share.max.size", sessions, sessions
