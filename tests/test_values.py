"""Values are equal by class and fields, hash and print by them, and have no other attributes. Named
tuples are those of `typing`, made in another way.
"""

from __future__ import annotations

import copy
import pickle
import typing
from collections.abc import Callable
from typing import Any, cast

import pytest

from pykbroker.values import NamedTuple, slotted, value


@value
class Reading:
    place: str
    degrees: int = 20


@value
class Forecast:
    """The same fields, but another class."""

    place: str
    degrees: int = 20


@value
class Silence:
    pass


@slotted
class Site:
    """Where readings are taken."""

    place: str
    height: int | None


class Tower(Site):
    __slots__ = ("floors",)

    def __init__(self, place: str) -> None:
        self.place = place
        self.floors = 3


def test_a_slotted_class_has_its_fields_and_no_others() -> None:
    tower: Any = Tower("Bern")
    assert (tower.place, tower.floors) == ("Bern", 3)
    assert not hasattr(tower, "height")  # has no value yet
    with pytest.raises(AttributeError):
        tower.width = 4
    assert typing.get_type_hints(Site) == {"place": str, "height": int | None}
    assert (Site.__name__, Site.__module__) == ("Site", __name__)
    assert Site.__doc__ == "Where readings are taken."


def test_values_of_a_class_are_equal_if_their_fields_are() -> None:
    assert Reading("Bern", 20) == Reading(place="Bern")
    assert Reading("Bern", 20) != Reading("Bern", 21)
    assert Reading("Bern", 20) != Reading("Basel", 20)
    assert Silence() == Silence()


def test_values_of_different_classes_are_never_equal() -> None:
    reading: object = Reading("Bern")
    assert reading != Forecast("Bern")
    assert reading != ("Bern", 20)


def test_equal_values_have_the_same_hash() -> None:
    assert len({Reading("Bern", 20), Reading("Bern"), Reading("Bern", 21)}) == 2
    assert len({Silence(), Silence()}) == 1


def test_a_value_prints_its_class_and_fields() -> None:
    assert repr(Reading("Bern")) == "Reading(place='Bern', degrees=20)"
    assert repr(Silence()) == "Silence()"


def test_a_value_is_matched_by_position() -> None:
    match Reading("Bern", 3):
        case Reading(place, degrees):
            assert (place, degrees) == ("Bern", 3)


def test_a_value_has_no_attributes_but_its_fields() -> None:
    with pytest.raises(AttributeError):
        setattr(Reading("Bern"), "wind", 4)  # noqa: B010
    assert not hasattr(Silence(), "__dict__")


class Station(NamedTuple):
    """Where a reading is taken."""

    place: str
    height_m: int = 0
    when_read: Callable[[Reading], None] | None = None

    def is_below(self, other: Station) -> bool:
        return self.height_m < other.height_m

    @property
    def name(self) -> str:
        return f"{self.place} ({self.height_m} m)"

    @classmethod
    def at_sea(cls, place: str) -> Station:
        return cls(place)

    def __str__(self) -> str:
        return self.name


class StationOfTyping(typing.NamedTuple):
    place: str
    height_m: int = 0
    when_read: Callable[[Reading], None] | None = None


class Empty(NamedTuple):
    pass


def test_a_named_tuple_is_as_one_of_typing() -> None:
    ours: Any = Station("Bern", 540)
    others: Any = StationOfTyping("Bern", 540)
    assert ours == others == ("Bern", 540, None)
    assert hash(ours) == hash(others)
    assert ours._fields == others._fields
    assert ours._field_defaults == others._field_defaults
    assert ours._replace(height_m=3) == others._replace(height_m=3)
    assert ours._asdict() == others._asdict()
    assert repr(ours) == repr(others).replace("OfTyping", "")
    assert list(Station.__annotations__) == list(StationOfTyping.__annotations__)
    assert Station.__mro__[1:] == StationOfTyping.__mro__[1:] == (tuple, object)
    assert (Station.__module__, Station.__qualname__) == (__name__, "Station")
    assert not hasattr(ours, "__dict__")
    assert Empty() == ()


def test_a_named_tuple_keeps_what_its_class_says() -> None:
    assert Station.__doc__ == "Where a reading is taken."
    assert Station("Basel", 260).is_below(Station("Bern", 540))
    assert str(Station.at_sea("Ostend")) == "Ostend (0 m)"


def test_a_named_tuple_can_be_copied_and_pickled() -> None:
    station = Station("Bern", 540)
    assert pickle.loads(pickle.dumps(station)) == copy.deepcopy(station) == station


def test_a_named_tuple_is_made_of_as_many_values_as_it_has_fields() -> None:
    assert Station._make(["Bern", 540, None]) == Station("Bern", 540)
    with pytest.raises(TypeError, match="Expected 3 arguments, got 2"):
        Station._make(["Bern", 540])
    with pytest.raises(ValueError, match="unexpected field names: \\['depth_m'\\]"):
        cast(Any, Station("Bern", 540))._replace(depth_m=3)


def test_a_named_tuple_is_matched_by_position() -> None:
    match Station("Bern", 540):
        case Station(place, height):
            assert (place, height) == ("Bern", 540)


made_by: Any = type(cast(Any, NamedTuple))


def test_a_field_without_a_default_cannot_follow_one_with_a_default() -> None:
    body = {"__annotations__": {"first": "int", "second": "int"}, "first": 1, "__module__": "m"}
    with pytest.raises(TypeError, match="Wrong: a field without a default follows one with a def"):
        made_by("Wrong", (NamedTuple,), body)


def test_annotations_must_be_texts() -> None:
    """As Python 3.14 has them elsewhere, there would be no fields."""
    body = {"__annotate__": lambda _: {"first": int}, "__module__": "m"}
    with pytest.raises(TypeError, match="Wrong: needs 'from __future__ import annotations'"):
        made_by("Wrong", (NamedTuple,), body)


def test_a_named_tuple_has_no_other_base() -> None:
    with pytest.raises(TypeError, match="Wrong: a named tuple has no other base"):
        made_by("Wrong", (NamedTuple, Reading), {"__module__": "m"})
