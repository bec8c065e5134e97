"""A mutant: the code of a node with one broken rule, put in place at run time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from pykbroker.values import NamedTuple


class Patch(NamedTuple):
    """`make(original)` takes the place of what `target` names, in a module of `pykbroker`:
    "module:name", "module:Class.name", or "module:Class.TABLE[key]" with a str as key.
    """

    target: str
    make: Callable[[Any], Any]


ONE_NODE, QUORUM, CLUSTER = "one node", "quorum", "cluster"


class Mutant(NamedTuple):
    """A broken rule, in words as it is when whole; `seed` is one whose life, of the kind `life`,
    should show it.
    """

    name: str
    rule: str
    patches: tuple[Patch, ...]
    seed: int = 0
    life: str = ONE_NODE


@contextmanager
def applied(mutant: Mutant) -> Iterator[None]:
    """Apply the patches while the block runs."""
    undo: list[tuple[Any, str, Any]] = []
    try:
        for target, make in mutant.patches:
            owner, name = _owner_of(target)
            original = owner[name] if isinstance(owner, dict) else vars(owner)[name]
            undo.append((owner, name, original))
            _put(owner, name, make(original))
        yield
    finally:
        for owner, name, original in reversed(undo):
            _put(owner, name, original)


def _put(owner: Any, name: str, value: Any) -> None:
    if isinstance(owner, dict):
        owner[name] = value
    else:
        setattr(owner, name, value)


def _owner_of(target: str) -> tuple[Any, str]:
    module, _, path = target.partition(":")
    path, _, key = path.removesuffix("]").partition("[")
    owner: Any = import_module(f"pykbroker.{module}")
    *parents, name = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    return (getattr(owner, name), key) if key else (owner, name)


# ---------------------------------------------------------------- ways to break something


def returning(value: object) -> Callable[[Any], Any]:
    """A function that returns `value` and does nothing else."""
    return lambda original: lambda *arguments, **named: value


def doing_nothing(original: Any) -> Any:
    """A function that returns None and does nothing."""
    return lambda *arguments, **named: None


def constant(value: object) -> Callable[[Any], Any]:
    """Another value of a constant."""
    return lambda original: value


def changing(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The answer, changed."""
    return lambda original: lambda *arguments, **named: change(original(*arguments, **named))


def before(act: Callable[..., None]) -> Callable[[Any], Any]:
    """Something else first, with the same arguments."""

    def make(original: Any) -> Any:
        def replaced(*arguments: Any, **named: Any) -> Any:
            act(*arguments, **named)
            return original(*arguments, **named)

        return replaced

    return make


def instead(act: Callable[..., Any]) -> Callable[[Any], Any]:
    """`act(original, *arguments)` in its place."""

    def make(original: Any) -> Any:
        return lambda *arguments, **named: act(original, *arguments, **named)

    return make
