"""The decorator of values: small immutable classes such as the events and effects of machines.

In: a class with annotated fields. Out: a dataclass with slots, whose instances compare, hash and
print like those of a frozen dataclass. `dataclass(frozen=True)` compiles seven methods for each
class, which for the events of raft alone takes a tenth of a node's start. Here only `__init__` is
compiled; the other methods are shared by all values, and type checkers enforce that nothing assigns
to a field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

_Value = TypeVar("_Value")


@dataclass_transform(frozen_default=True)
def value(made: type[_Value]) -> type[_Value]:
    """Return `made` as a dataclass of immutable values: two of the same class are equal if all of
    their fields are.
    """
    shared: Any = made
    shared.__eq__ = _is_equal
    shared.__hash__ = _hash
    shared.__repr__ = _text
    return dataclass(slots=True, eq=False, repr=False)(made)


def _fields(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name in self.__match_args__)


def _is_equal(self: Any, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _fields(self) == _fields(other)


def _hash(self: Any) -> int:
    return hash(_fields(self))


def _text(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{self.__class__.__qualname__}({fields})"
