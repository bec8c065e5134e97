"""Values are equal by class and fields, hash and print by them, and have no other attributes."""

from __future__ import annotations

import pytest

from pykbroker.values import value


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
