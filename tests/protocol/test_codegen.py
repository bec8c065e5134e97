"""The pieces that the two generators share."""

from __future__ import annotations

import pytest

from pykbroker.protocol.codegen import (
    Emitter,
    condition,
    default_of,
    layout_of,
    smallest_size,
    split_formats,
)
from pykbroker.protocol.schema import Versions, message_schema, parse_schema


@pytest.mark.parametrize(
    ("wanted", "test"),
    [
        ((0, 9), ""),
        ((3, 9), "version >= 3"),
        ((0, 4), "version <= 4"),
        ((3, 4), "3 <= version <= 4"),
        ((5, 5), "version == 5"),
    ],
)
def test_condition(wanted: tuple[int, int], test: str) -> None:
    assert condition(Versions(*wanted).intersect(Versions(0, 9)), Versions(0, 9)) == test


def test_layout_groups_by_version_and_sets_tagged_fields_apart() -> None:
    fetch = message_schema("FetchRequest")
    layout = layout_of(fetch.root, Versions(12, 18))
    assert [group.test for group in layout.groups] == ["version <= 14", ""]
    assert [item.name for item in layout.tagged] == ["ClusterId", "ReplicaState"]
    assert [item.name for item in layout.absent] == ["ClusterId", "ReplicaState"]


def test_smallest_sizes_hold_for_every_version() -> None:
    produce = message_schema("ProduceRequest")
    topics = produce.root.fields[-1]
    assert smallest_size(produce, topics, Versions(3, 8), flexible=False) == 6
    assert smallest_size(produce, topics, Versions(9, 13), flexible=True) == 2


def test_defaults() -> None:
    text = (
        "data D  versions 0  flexible none\n  A int32 0+ default 0x7f\n  B bool 0+ default true\n"
        "  C string 0+\n  E []int8 0+\n  F uuid 0+\n  G float64 0+\n  H records 0+ nullable 0+\n"
    )
    (message,) = parse_schema(text)
    defaults = [default_of(item) for item in message.root.fields]
    assert defaults == ["127", "True", '""', "FRESH", "ZERO_UUID", "0.0", "None"]


def test_emitter_indents_and_collects_names() -> None:
    out = Emitter()
    with out.block("if x:"):
        out(f"{out.unpacker(['?', '16s', 'B'])}(buf)")
    out()
    assert out.lines == ["if x:", "    _u_ouB(buf)", ""]
    assert out.unpackers == {"?16sB"}
    assert split_formats("?16sB") == ["?", "16s", "B"]
