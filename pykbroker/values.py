"""How small classes are declared: fields alone, `@slotted`; immutable, `@value` and `NamedTuple`.

These are what the standard library has, but cheap to create. A node creates very many small classes
while it starts, and the usual ways take time for each: a frozen dataclass compiles all its methods,
and `typing.NamedTuple` compiles the annotation of every field.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

__all__ = ("NamedTuple", "slotted", "value")

_Value = TypeVar("_Value")
_Class = TypeVar("_Class")


# --- fields -------------------------------------------------------------------------------------


def slotted(made: type[_Class]) -> type[_Class]:
    """Return `made`, a class with annotated fields and nothing else, with a slot for each field. A
    dataclass would also keep a description of each, which takes more than the field itself.
    """
    body: dict[str, Any] = {"__slots__": tuple(made.__annotations__), **vars(made)}
    for unslotted in ("__dict__", "__weakref__"):
        del body[unslotted]
    anew: Any = type(made)
    slots: type[_Class] = anew(made.__name__, made.__bases__, body)
    return slots


# --- values -------------------------------------------------------------------------------------


@dataclass_transform(frozen_default=True)
def value(made: type[_Value]) -> type[_Value]:
    """Return `made`, a class with annotated fields, as a dataclass with slots.

    Its instances compare, hash and print like those of a frozen dataclass: two of the same class
    are equal if all of their fields are. Only `__init__` is compiled; the other methods are shared
    by all values, and type checkers enforce that nothing assigns to a field.
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


# --- named tuples -------------------------------------------------------------------------------


def _make(cls: Any, values: Iterable[Any]) -> Any:
    made = tuple.__new__(cls, values)
    if len(made) != len(cls._fields):
        raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
    return made


def _replace(self: Any, /, **changed: Any) -> Any:
    made = self._make(map(changed.pop, self._fields, self))
    if changed:
        raise ValueError(f"Got unexpected field names: {list(changed)!r}")
    return made


def _as_dict(self: Any) -> dict[str, Any]:
    return dict(zip(self._fields, self, strict=True))


def _shown(self: Any) -> str:
    fields = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"{self.__class__.__name__}({fields})"


def _arguments(self: Any) -> tuple[Any, ...]:
    return tuple(self)


_SHARED = {
    "_make": classmethod(_make),
    "_replace": _replace,
    "_asdict": _as_dict,
    "__repr__": _shown,
    "__getnewargs__": _arguments,
}
"""What `collections.namedtuple` makes anew for each class, once for all of them."""

if TYPE_CHECKING:
    from typing import NamedTuple
else:

    class _NamedTupleType(type):
        """Makes `collections.namedtuple`s of class statements, like `typing.NamedTuple`."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type[Any]:
            if "__annotate__" in body or "__annotate_func__" in body:  # Python 3.14
                raise TypeError(f"{name}: needs 'from __future__ import annotations'")
            if len(bases) != 1:
                raise TypeError(f"{name}: a named tuple has no other base")
            fields = body.pop("__annotations__", {})
            defaults = [field for field in fields if field in body]
            if defaults != list(fields)[len(fields) - len(defaults) :]:
                raise TypeError(f"{name}: a field without a default follows one with a default")
            values = [body.pop(field) for field in defaults]
            made = namedtuple(name, fields, defaults=values, module=body.pop("__module__"))
            made.__new__.__annotations__ = fields
            for key, attribute in {"__annotations__": fields, **_SHARED, **body}.items():
                setattr(made, key, attribute)
            return made

    NamedTuple = type.__new__(_NamedTupleType, "NamedTuple", (), {})
