"""Turns schemas/ into messages/: ``python -m pykbroker.protocol.generate [--check]``.

One module per message, named after it in snake case, with one class per struct for all versions.
Adjacent fixed fields (and the length or tag count behind them) are one precompiled struct; flexible
and older versions have a branch each; structs in arrays are read and written in place, unless
several fields share them. ``--check`` writes nothing and answers 1 if a file differs from what the
schemas say.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pykbroker.protocol.codegen import (
    Emitter,
    called_structs,
    carries_parts,
    default_of,
    format_letters,
    fresh_default,
    python_type,
    split_formats,
)
from pykbroker.protocol.codegen_read import MAX_ELEMENTS, ReadGenerator
from pykbroker.protocol.codegen_write import WriteGenerator
from pykbroker.protocol.schema import (
    SCHEMA_ROOT,
    Message,
    Struct,
    all_messages,
    parse_schema,
    schema_files,
    to_snake_case,
)

MESSAGES_ROOT = Path(__file__).parent / "messages"
PARTS_NAMES = frozenset({"AnyPart", "Parts", "open_tail", "part_size", "put_part"})
STRUCT_NAMES = frozenset({"pack", "unpack_from"})
INIT_TEXT = '"""The generated messages. Import the module of each; nothing is imported here."""\n'


def generate_module(message: Message, source: str) -> str:
    """The text of the module of one message."""
    body = Emitter()
    structs = [message.root, *message.structs.values()]
    for struct in structs:
        body()
        body()
        _class(body, message, struct)
    called = called_structs(message)
    for struct in structs:
        if struct.name in called:
            ReadGenerator(message, body).struct_reader(struct)
            WriteGenerator(message, body).struct_writer(struct)
        ReadGenerator(message, body).tags_reader(struct)
        WriteGenerator(message, body).tags_writer(struct)
    return "\n".join([*_head(message, source, body), *body.lines]) + "\n"


def _head(message: Message, source: str, body: Emitter) -> list[str]:
    number = f" {message.api_key}" if message.api_key >= 0 else ""
    versions = f"{message.versions.low}-{message.versions.high}"
    names = {name for name in body.names if name not in STRUCT_NAMES | PARTS_NAMES}
    parts = body.names & PARTS_NAMES
    lines = [
        f'"""{message.name} ({message.kind}{number}, versions {versions}).',
        "",
        f"Generated from schemas/{source} by pykbroker.protocol.generate: do not edit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
    ]
    functions = sorted(body.names & STRUCT_NAMES)
    lines.append(f"from struct import {', '.join(['Struct', *functions])}")
    lines.append("from typing import Any, Self")
    lines.append("")
    if parts:
        lines.append(f"from pykbroker.protocol.parts_writer import {', '.join(sorted(parts))}")
    lines.append("from pykbroker.protocol.primitives import (")
    lines += [f"    {name}," for name in sorted(names | {"Message"})]
    lines += [")", "", "_new: Any = object.__new__"]
    for kind, prefix, formats in (
        ("unpack_from", "_u_", body.unpackers),
        ("pack", "_p_", body.packers),
    ):
        for text in sorted(formats):
            name = prefix + format_letters(split_formats(text))
            lines.append(f'{name} = Struct(">{text}").{kind}')
    taken = names | parts | STRUCT_NAMES | {"Any", "Self", "Struct", "Message"}
    if clash := taken & {message.name, *message.structs}:
        raise ValueError(f"{message.name}: structs clash with imports: {sorted(clash)}")
    return lines


def _class(out: Emitter, message: Message, struct: Struct) -> None:
    whole = struct is message.root
    with out.block(f"class {struct.name}(Message):"):
        out("__slots__ = (")
        for item in struct.fields:
            out(f'    "{item.snake_name}",')
        out('    "unknown_tags",')
        out(")")
        out()
        if whole:
            flexible = message.flexible.low if message.flexible else 32767
            out(f"API_KEY = {message.api_key}")
            out(f"MIN_VERSION = {message.versions.low}")
            out(f"MAX_VERSION = {message.stable_max}")
            out(f"LATEST_VERSION = {message.versions.high}")
            out(f"FLEXIBLE_FROM = {flexible}")
            out()
        _init(out, struct)
        if whole:
            _decode(out, message)
            _encode(out, message)


def _init(out: Emitter, struct: Struct) -> None:
    out("def __init__(")
    out("    self,")
    out("    *,")
    for item in struct.fields:
        default = default_of(item)
        if default in ("FRESH", "ZERO_UUID"):
            out.use(default)
        annotation = python_type(item)
        if "AnyPart" in annotation:
            out.use("AnyPart")
        out(f"    {item.snake_name}: {annotation} = {default},")
    out("    unknown_tags: dict[int, bytes] | None = None,")
    with out.block(") -> None:"):
        for item in struct.fields:
            name = item.snake_name
            if default_of(item) == "FRESH":
                out(f"self.{name} = {fresh_default(item)} if {name} is FRESH else {name}")
            else:
                out(f"self.{name} = {name}")
        out("self.unknown_tags = unknown_tags")


def _decode(out: Emitter, message: Message) -> None:
    name, low, high = message.name, message.versions.low, message.versions.high
    error = out.use("DecodeError")
    out()
    out("@classmethod")
    most = f", most: int = {MAX_ELEMENTS}" if message.kind == "request" else ""
    signature = f"(cls, buf: bytes | memoryview, pos: int, version: int{most})"
    with out.block(f"def decode{signature} -> tuple[Self, int]:"):
        with out.block(f"if not {low} <= version <= {high}:"):
            out(f'raise {out.use("refuse_version")}("{name}", version)')
        if carries_parts(message, message.root):
            with out.block("if type(buf) is not memoryview:"):
                out("buf = memoryview(buf)")
        out("o = _new(cls)")
        with out.block("try:"):
            ReadGenerator(message, out).decode_body(message.root)
        with out.block(f"except (IndexError, {out.use('struct_error')}) as error:"):
            out(f'raise {error}(f"{name} v{{version}} is cut short: {{error}}") from error')
        with out.block("if pos > len(buf):"):
            out(f'raise {error}(f"{name} v{{version}} is cut short")')
        out("return o, pos")


def _encode(out: Emitter, message: Message) -> None:
    name, low, high = message.name, message.versions.low, message.versions.high
    error = out.use("EncodeError")
    out.use("Parts")
    out()
    with out.block("def encode(self, out: Parts, version: int) -> None:"):
        with out.block(f"if not {low} <= version <= {high}:"):
            out(f'raise {error}(f"{name} has no version {{version}}")')
        out(f"w = {out.use('open_tail')}(out)")
        out("o = self")
        with out.block("try:"):
            WriteGenerator(message, out).body(message.root)
        caught = f"({out.use('struct_error')}, TypeError, AttributeError, ValueError)"
        with out.block(f"except {caught} as error:"):
            out(f'raise {error}(f"{name} v{{version}}: {{error}}") from error')


def generate_all() -> dict[str, str]:
    """Every file of messages/ by its name."""
    files = {"__init__.py": INIT_TEXT}
    for path in schema_files():
        source = path.relative_to(SCHEMA_ROOT).as_posix()
        for message in parse_schema(path.read_text("utf-8")):
            file_name = to_snake_case(message.name) + ".py"
            if file_name in files:
                raise ValueError(f"two messages are called {message.name}")
            files[file_name] = generate_module(message, source)
    files["index.py"] = generate_index()
    return files


def generate_index() -> str:
    """The text of index.py: the APIs, and the records by type."""
    messages = all_messages()
    requests = {m.api_key: m for m in messages if m.kind == "request"}
    responses = {m.api_key: m for m in messages if m.kind == "response"}
    lines = [
        '"""The APIs by their keys, and the names of the records by their types.',
        "",
        "Generated from schemas/ by pykbroker.protocol.generate: do not edit.",
        '"""',
        "",
        "# (key, name, first, last advertised and last version, flexible from, listeners)",
        "APIS: tuple[tuple[int, str, int, int, int, int, tuple[str, ...]], ...] = (",
    ]
    for key, request in sorted(requests.items()):
        response = responses[key]
        if request.versions != response.versions:
            raise ValueError(f"{request.name} and its response have different versions")
        flexible = request.flexible.low if request.flexible else 32767
        low, high = request.versions.low, request.versions.high
        name = request.name.removesuffix("Request")
        versions = f"{low}, {request.stable_max}, {high}, {flexible}"
        names = ", ".join(f'"{listener}"' for listener in request.listeners)
        comma = "," if len(request.listeners) == 1 else ""
        lines.append(f'    ({key}, "{name}", {versions}, ({names}{comma})),')
    lines.append(")")
    for title, family in (("METADATA_RECORDS", "metadata"), ("REMOTE_LOG_RECORDS", "storage")):
        lines += ["", "# record type: name", f"{title}: dict[int, str] = {{"]
        numbered = sorted((m.api_key, m.name) for m in _family(family) if m.kind == "record")
        lines += [f'    {number}: "{name}",' for number, name in numbered]
        lines.append("}")
    lines += ["", "# coordinator: {record type: (name of the key, name of the value)}"]
    lines.append("COORDINATOR_RECORDS: dict[str, dict[int, tuple[str, str]]] = {")
    for family in ("group_coordinator", "transaction", "share"):
        lines.append(f'    "{family}": {{')
        for number, pair in sorted(_coordinator_pairs(family).items()):
            lines.append(f'        {number}: ("{pair["key"]}", "{pair["value"]}"),')
        lines.append("    },")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _coordinator_pairs(family: str) -> dict[int, dict[str, str]]:
    pairs: dict[int, dict[str, str]] = {}
    for message in _family(family):
        pairs.setdefault(message.api_key, {})[message.kind] = message.name
    return pairs


def _family(family: str) -> list[Message]:
    paths = sorted((SCHEMA_ROOT / family).glob("*.txt"))
    return [message for path in paths for message in parse_schema(path.read_text("utf-8"))]


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or with ``--check`` compare them; answers the exit code."""
    parser = argparse.ArgumentParser(prog="python -m pykbroker.protocol.generate")
    parser.add_argument(
        "--check", action="store_true", help="write nothing, exit 1 on a difference"
    )
    check = parser.parse_args(arguments).check
    wanted = generate_all()
    present = {path.name: path.read_text("utf-8") for path in MESSAGES_ROOT.glob("*.py")}
    stale = sorted(name for name in wanted | present if wanted.get(name) != present.get(name))
    if check:
        for name in stale:
            print(f"messages/{name} is not what the schemas say", file=sys.stderr)
        return 1 if stale else 0
    MESSAGES_ROOT.mkdir(exist_ok=True)
    for name in stale:
        if name in wanted:
            (MESSAGES_ROOT / name).write_text(wanted[name], "utf-8")
        else:
            (MESSAGES_ROOT / name).unlink()
    print(f"{len(wanted)} files, {len(stale)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
