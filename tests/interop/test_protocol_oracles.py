"""The proof of the codec: every message and version, both ways, against two strangers.

Apache Kafka's own generated classes and JSON converters (one Java process behind a pipe) for all
messages, and kio (Kafka's schemas in the hands of others) for the ones that it has. What is on
trial: the bytes we write are read by them as the values we meant and written again bit by bit;
the bytes they write from JSON are ours; unknown tagged fields survive; and damaged bytes are
refused exactly when Apache refuses them.
"""

from __future__ import annotations

import io
import json
import random
import subprocess
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import fields as dataclass_fields
from datetime import datetime, timedelta
from enum import Enum
from pathlib import Path
from pkgutil import resolve_name
from struct import Struct as Packer
from typing import Any

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.index import schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from pykbroker.protocol.api import message_class
from pykbroker.protocol.json_form import default_value, from_json, to_json
from pykbroker.protocol.primitives import ZERO_UUID, DecodeError, Message
from pykbroker.protocol.schema import Field, Struct, to_snake_case
from tests.harness.apache import java_command
from tests.protocol.random_messages import PAIRS, SCHEMAS, MessageMaker, encode, mutate

ORACLE = Path(__file__).parent / "java" / "CodecOracle.java"
RANDOM_ROUNDS = 12
FUZZ_ROUNDS = 100
BATCH = 400

_count = Packer(">i")
_int16 = Packer(">h")
_int32 = Packer(">i")


class Oracle:
    """Apache's classes behind a pipe; see CodecOracle.java for the format."""

    def __init__(self) -> None:
        command = java_command(str(ORACLE), heap="512m")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, items: list[tuple[str, str, int, bytes]]) -> Iterator[tuple[bool, bytes]]:
        """(accepted, answer) for each (operation, name, version, bytes)."""
        for start in range(0, len(items), BATCH):
            yield from self._ask_batch(items[start : start + BATCH])

    def _ask_batch(self, items: list[tuple[str, str, int, bytes]]) -> list[tuple[bool, bytes]]:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(_count.pack(len(items)))
        for operation, name, version, content in items:
            text = name.encode()
            stdin.write(operation.encode() + _int16.pack(len(text)) + text)
            stdin.write(_int16.pack(version) + _int32.pack(len(content)) + content)
        stdin.flush()
        answers = []
        for _ in items:
            head = stdout.read(5)
            assert len(head) == 5, "the Java process has ended"
            answers.append((head[0] == 0, stdout.read(_int32.unpack_from(head, 1)[0])))
        return answers

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    started = Oracle()
    yield started
    started.close()


def split_decoded(answer: bytes) -> tuple[int, bytes, Any]:
    """(bytes consumed, bytes written again, JSON) of the operations D and R."""
    consumed, size = _int32.unpack_from(answer, 0)[0], _int32.unpack_from(answer, 4)[0]
    end = 8 + max(size, 0)
    return consumed, answer[8:end], json.loads(answer[end:])


def cases(unknown_tags: bool) -> list[tuple[str, int, Message]]:
    """Every message and version: defaults, both edges and random values."""
    rng = random.Random(20261128)
    makers = [
        MessageMaker(rng, edge="low", unknown_tags=False),
        MessageMaker(rng, edge="high", unknown_tags=False),
        *[MessageMaker(rng, unknown_tags=unknown_tags) for _ in range(RANDOM_ROUNDS)],
    ]
    made: list[tuple[str, int, Message]] = []
    for name, version in PAIRS:
        made.append((name, version, message_class(name)()))
        made += [(name, version, maker.make(name, version)) for maker in makers]
    return made


def test_apache_reads_what_we_write_and_writes_it_again(oracle: Oracle) -> None:
    made = cases(unknown_tags=True)
    wires = [encode(message, version) for _, version, message in made]
    asked = [
        ("D", name, version, wire) for (name, version, _), wire in zip(made, wires, strict=True)
    ]
    answers = oracle.ask(asked)
    tagged = 0
    for (name, version, message), wire, (accepted, answer) in zip(
        made, wires, answers, strict=True
    ):
        assert accepted, (name, version, answer.decode(), message)
        consumed, written, node = split_decoded(answer)
        assert consumed == len(wire), (name, version)
        assert written == wire, (name, version, message)
        assert json.dumps(node) == json.dumps(to_json(message, version)), (name, version)
        # And back: what Apache has written is what we read.
        back, end = message_class(name).decode(memoryview(written), 0, version)
        assert end == len(written)
        assert to_json(back, version) == node, (name, version)
        assert encode(back, version) == wire, (name, version)
        tagged += back.unknown_tags is not None
    assert len(made) == len(PAIRS) * (RANDOM_ROUNDS + 3)
    assert tagged > 200, "messages with unknown tagged fields took part"


def test_apache_writes_the_same_bytes_from_json(oracle: Oracle) -> None:
    made = cases(unknown_tags=False)
    nodes = [to_json(message, version) for _, version, message in made]
    asked = [
        ("J", name, version, json.dumps(node).encode())
        for (name, version, _), node in zip(made, nodes, strict=True)
    ]
    for (name, version, _), node, (accepted, answer) in zip(
        made, nodes, oracle.ask(asked), strict=True
    ):
        assert accepted, (name, version, answer.decode(), node)
        ours = from_json(message_class(name), node, version)
        assert encode(ours, version) == answer, (name, version, node)


def test_damaged_bytes_are_refused_exactly_when_apache_refuses_them(oracle: Oracle) -> None:
    rng = random.Random(4400)
    maker = MessageMaker(rng)
    asked = []
    for name, version in PAIRS:
        wire = encode(maker.make(name, version), version)
        asked += [("R", name, version, mutate(rng, wire)) for _ in range(FUZZ_ROUNDS)]
    refused = 0
    for (_, name, version, wire), (accepted, answer) in zip(asked, oracle.ask(asked), strict=True):
        try:
            message, end = message_class(name).decode(wire, 0, version)
        except DecodeError:
            message = None
        assert accepted == (message is not None), (name, version, wire.hex(), answer)
        if message is None:
            refused += 1
            continue
        consumed, _, node = split_decoded(answer)
        assert end == consumed, (name, version, wire.hex())
        ours = json.loads(json.dumps(to_json(message, version)))
        assert repr(ours) == repr(node), (name, version, wire.hex())
    assert len(asked) * 0.2 < refused < len(asked) * 0.95


# ---- kio ----

_KINDS = {"request": EntityType.request, "response": EntityType.response, "data": EntityType.data}
_ERROR_CODES = [code.value for code in ErrorCode]


def kio_class(name: str, version: int) -> type | None:
    """kio's class of a message, if it has this version."""
    kind = SCHEMAS[name].kind
    base = name.removesuffix("Request" if kind == "request" else "Response")
    # kio splits every capital: k_raft_version_record.
    for candidate in (to_snake_case(base), to_snake_case(base).replace("kraft", "k_raft")):
        kinds: Mapping[Any, str] = schema_name_map.get(candidate, {}).get(version, {})
        path = kinds.get(_KINDS.get(kind, EntityType.data))
        if path is not None:
            found: type = resolve_name(path)
            return found
    return None


def tame(item: Field) -> Any:
    """Values inside the semantic types that kio gives to error codes and to times."""
    name = item.snake_name
    if item.element_type == "int16" and "error_code" in name:
        return _RNG.choice(_ERROR_CODES)
    if item.element_type == "int32" and name.endswith("_ms"):
        return _RNG.randint(0, 2**31 - 1)
    if item.element_type == "int64" and ("_ms" in name or "timestamp" in name):
        return _RNG.randint(0, 2**40)
    return None


_RNG = random.Random(92)


def assert_same(ours: Message, theirs: Any, struct: Struct, version: int) -> None:
    """Field by field; kio's fields stand in the order of the schema."""
    present = [item for item in struct.fields if version in item.versions]
    names = [item.name for item in dataclass_fields(theirs)]
    assert len(present) == len(names), (struct.name, version, names)
    for item, name in zip(present, names, strict=True):
        # kio drops the unit of times and splits every capital, but keeps the rest of the name.
        assert name.replace("_", "") in item.name.lower(), (struct.name, item.name, name)
        mine, value = getattr(ours, item.snake_name), getattr(theirs, name)
        if mine is None and not item.starts_absent:
            assert value is None, (struct.name, name)
        elif item.is_array:
            assert len(mine) == len(value), (struct.name, name)
            for x, y in zip(mine, value, strict=True):
                compare(x, y, item, version)
        else:
            compare(mine, value, item, version)


def compare(mine: Any, theirs: Any, item: Field, version: int) -> None:
    if item.starts_absent and mine is None:
        for inner in item.struct.fields if item.struct else ():
            assert getattr(theirs, inner.snake_name) == default_value(inner), inner
        return
    if item.struct is not None:
        assert_same(mine, theirs, item.struct, version)
        return
    if isinstance(theirs, timedelta):
        theirs = theirs // timedelta(milliseconds=1)
    elif isinstance(theirs, datetime):
        theirs = round(theirs.timestamp() * 1000)
    elif isinstance(theirs, uuid.UUID):
        theirs = theirs.bytes
    elif isinstance(theirs, Enum):
        theirs = theirs.value
    elif item.element_type == "uuid" and theirs is None:
        theirs = ZERO_UUID
    elif item.element_type == "int64" and theirs is None:
        theirs = -1
    assert mine == theirs, (item.name, mine, theirs)


def test_kio_reads_and_writes_the_same() -> None:
    rng = random.Random(65)
    plain = MessageMaker(rng, unknown_tags=False, choose=tame)
    seen = 0
    for name, version in PAIRS:
        theirs = kio_class(name, version)
        if theirs is None:
            continue
        seen += 1
        struct = SCHEMAS[name].root
        read: Any = entity_reader(theirs)
        write: Any = entity_writer(theirs)
        for _ in range(RANDOM_ROUNDS):  # kio refuses unknown tagged fields, so there are none
            message = plain.make(name, version)
            wire = encode(message, version)
            entity, size = read(wire, 0)
            assert size == len(wire), (name, version)
            ours, _ = message_class(name).decode(wire, 0, version)
            assert_same(ours, entity, struct, version)
            with io.BytesIO() as buffer:
                write(buffer, entity)
                assert buffer.getvalue() == wire, (name, version, message)
    assert seen >= 600
