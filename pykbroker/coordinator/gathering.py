"""One reply out of several that may come later: requests that concern more than one partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from pykbroker.purgatory import Deferred

PartT = TypeVar("PartT")
ReplyT = TypeVar("ReplyT")


def gather(
    parts: Sequence[PartT | Deferred], combine: Callable[[list[PartT]], ReplyT]
) -> ReplyT | Deferred:
    """`combine(replies)` once each of `parts` (a reply or a Deferred) is there, in their order.

    The combined reply itself when nothing has to be waited for, a Deferred otherwise.
    """
    replies: list[Any] = list(parts)
    missing = 0
    for position, part in enumerate(parts):
        if isinstance(part, Deferred):
            if part.done:
                replies[position] = part.value
            else:
                missing += 1
    if not missing:
        return combine(replies)
    outcome = Deferred()
    left = [missing]

    def arrive(position: int, reply: Any) -> None:
        replies[position] = reply
        left[0] -= 1
        if not left[0]:
            outcome.resolve(combine(replies))

    for position, part in enumerate(parts):
        if isinstance(part, Deferred) and not part.done:
            part.on_resolved(partial(arrive, position))
    return outcome


def then(part: PartT | Deferred, change: Callable[[PartT], ReplyT]) -> ReplyT | Deferred:
    """`change(reply)` of a reply that is there, or comes later."""
    if not isinstance(part, Deferred):
        return change(part)
    if part.done:
        return change(part.value)
    outcome = Deferred()
    part.on_resolved(lambda reply: outcome.resolve(change(reply)))
    return outcome
