"""Error codes in a response: of the response itself, and of the topics, partitions, groups in it.

A class of messages is looked through once for where it holds codes; a response is then read by
that plan. Kafka's counterpart is `errorCounts` of a response, which counts successes as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, get_args, get_type_hints

from pykbroker.protocol.primitives import Message
from pykbroker.values import NamedTuple


class ErrorPlan(NamedTuple):
    """Where messages of a class hold error codes."""

    has_code: bool
    #: Fields whose structs hold codes: lists of them, or one.
    lists: tuple[tuple[str, ErrorPlan], ...]
    single: tuple[tuple[str, ErrorPlan], ...]


_NOTHING = ErrorPlan(False, (), ())


#: Of messages that hold one code, and nothing else that does.
ONE_CODE = ErrorPlan(True, (), ())

_plans: Final[dict[type[Any], ErrorPlan]] = {}


def error_plan(kind: type[Any]) -> ErrorPlan:
    """The plan of a class, as its constructor declares its fields."""
    if kind in _plans:
        return _plans[kind]
    hints = get_type_hints(kind.__init__)
    lists: list[tuple[str, ErrorPlan]] = []
    single: list[tuple[str, ErrorPlan]] = []
    for name, hint in hints.items():
        for part in _structs(hint):
            plan = error_plan(part)
            if plan != _NOTHING:
                (single if _is_single(hint, part) else lists).append((name, plan))
    plan = ErrorPlan("error_code" in hints, tuple(lists), tuple(single))
    _plans[kind] = ONE_CODE if plan == ONE_CODE else plan
    return _plans[kind]


def _structs(hint: Any) -> Iterator[type[Message]]:
    """The classes of messages that a type is made of."""
    if isinstance(hint, type) and issubclass(hint, Message):
        yield hint
    for part in get_args(hint):
        yield from _structs(part)


def _is_single(hint: Any, part: type[Message]) -> bool:
    return hint is part or (part in get_args(hint) and not issubclass(_origin(hint), list))


def _origin(hint: Any) -> type:
    origin = getattr(hint, "__origin__", None)
    return origin if isinstance(origin, type) else object


def count_errors(message: Any, plan: ErrorPlan, count: Callable[[int], None]) -> None:
    """Call `count` with every error code of a response that is not 0."""
    if plan.has_code and message.error_code:
        count(message.error_code)
    for name, inner in plan.lists:
        for each in getattr(message, name) or ():
            if inner is ONE_CODE:
                if each.error_code:
                    count(each.error_code)
            else:
                count_errors(each, inner, count)
    for name, inner in plan.single:
        if (one := getattr(message, name)) is not None:
            count_errors(one, inner, count)
