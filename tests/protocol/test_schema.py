"""The schema language."""

from __future__ import annotations

import pytest

from pykbroker.protocol.schema import (
    NONE,
    SCHEMA_ROOT,
    SchemaError,
    Versions,
    all_messages,
    message_schema,
    parse_schema,
    to_snake_case,
)

TEXT = """
request 900 ShowRequest  versions 1-4  flexible 3+  listeners broker,controller  unstable
  # a comment
  Name   string  0+  nullable 2+  default null
  Rows   []Row   1-3  key  ignorable
    Id    uuid     2+
    Deep  []Inner  0+  tag 7 3+
      Value  int32  0+  default -1
  Other  Shared  4+
  struct Shared  0+
    Host  string  0+  flexible none
"""


def test_parse_in_full() -> None:
    (message,) = parse_schema(TEXT)
    assert (message.kind, message.api_key, message.name) == ("request", 900, "ShowRequest")
    assert message.versions == Versions(1, 4)
    assert message.stable_max == 3
    assert message.listeners == ("broker", "controller")
    assert list(message.structs) == ["Row", "Inner", "Shared"]
    name, rows, other = message.root.fields
    assert (name.default, name.nullable, name.snake_name) == ("null", Versions(2, 32767), "name")
    assert rows.key
    assert rows.ignorable
    assert rows.is_array
    assert rows.struct is message.structs["Row"]
    assert rows.struct.versions == Versions(1, 3)
    deep = rows.struct.fields[1]
    assert (deep.tag, deep.tagged) == (7, Versions(3, 32767))
    assert message.structs["Inner"].versions == Versions(1, 3)
    assert other.struct is message.structs["Shared"]
    assert message.structs["Shared"].fields[0].flexible == NONE


@pytest.mark.parametrize(
    "text",
    [
        "request 1 X  versions one",
        "request 1 X  colour red",
        "request 1 X  versions 0\n  A  int32",
        "request 1 X  versions 0\n  A  int32  0+  sometimes",
        "request 1 X  versions 0\n  A  []Nowhere  0+",
        "request 1 X  versions 0\n  struct Unused  0+\n    A  int8  0+",
        "request 1 X  versions 0\n  A  []R  0+\n    I  int8  0+\n  B  []R  0+\n    I  int8  0+",
    ],
)
def test_mistakes_are_named(text: str) -> None:
    with pytest.raises(SchemaError):
        parse_schema(text)


def test_versions() -> None:
    assert Versions.parse("3+") == Versions(3, 32767)
    assert Versions.parse("3") == Versions(3, 3)
    assert Versions.parse("3-5").intersect(Versions(4, 9)) == Versions(4, 5)
    assert not Versions.parse("none")
    assert 4 in Versions(3, 5)
    assert "4" not in Versions(3, 5)


def test_snake_case_is_kafkas() -> None:
    names = {"KRaftVersionRecord": "kraft_version_record", "clientId": "client_id", "ISRs": "isrs"}
    for name, snake in names.items():
        assert to_snake_case(name) == snake


def test_every_message_is_found_by_its_name() -> None:
    messages = all_messages()
    assert len(messages) == 278
    for message in messages:
        assert message_schema(message.name).name == message.name
    with pytest.raises(SchemaError):
        message_schema("NoSuchRequest")


def test_schema_files_are_ascii_and_fit_a_screen() -> None:
    paths = list(SCHEMA_ROOT.glob("*/*.txt"))
    assert len(paths) > 100
    for path in paths:
        text = path.read_bytes()
        assert text.isascii()
        assert max(map(len, text.splitlines())) <= 110
