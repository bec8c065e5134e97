"""The decoding half of the message generator. Development time only; see generate.py.

In the generated code: ``buf``, ``pos``, ``version``; ``o`` is the object being filled (``o1`` in a
loop), ``n`` a length, ``e`` an end, ``a`` a list; ``most`` the elements that an array of a request
may have, ``left`` those that all its inner arrays together may still have (readers of structs with
arrays take it and give back what is left).
"""

from __future__ import annotations

from pykbroker.protocol.codegen import (
    FORMAT_SIZES,
    Group,
    StructGenerator,
    condition,
    flexible_ranges,
    fresh_default,
    is_flexible,
    layout_of,
    smallest_size,
)
from pykbroker.protocol.schema import FIXED_FORMATS, Field, SchemaError, Struct, Versions

# Kafka 4.4 refuses longer arrays whatever the frame holds (its generated readers). Ours: arrays in
# the elements of arrays may have no more in one request, all together. A legal frame of 100 MB
# could hold 20 million structs of a few bytes, and each costs us 200.
MAX_ELEMENTS = 1000000


class ReadGenerator(StructGenerator):
    """Emits the readers of one message: they fill ``o`` from ``buf`` and move ``pos``."""

    counts_inner = False
    takes_most = False
    takes_left = False

    def decode_body(self, struct: Struct) -> None:
        """The body of ``decode``; that of a request takes ``most`` as an argument, and counts
        ``left`` if anything in it does."""
        self.takes_most = self.message.kind == "request"
        self.counts_inner = False
        start = len(self.out.lines)
        self.body(struct)
        if self.counts_inner:
            self.out.insert(start, "left = most")
        self.takes_most = False

    def struct_reader(self, struct: Struct) -> None:
        """The function ``_read_X`` of a struct inside the message."""
        name = struct.name
        self.out()
        self.out()
        self.takes_left = self._is_counted(struct)
        more, left, kinds = (", left: int", ", left", ", int") if self.takes_left else ("", "", "")
        signature = f"(buf: bytes | memoryview, pos: int, version: int{more})"
        with self.out.block(f"def _read_{name}{signature} -> tuple[{name}, int{kinds}]:"):
            self.out(f"o = _new({name})")
            self.body(struct)
            self.out(f"return o, pos{left}")
        self.takes_left = False

    def _is_counted(self, struct: Struct) -> bool:
        """Do the arrays in this struct count, as all inner arrays of a request do?"""
        return self.message.kind == "request" and _has_arrays(struct)

    def _call_reader(self, target: str, item: Field) -> None:
        assert item.struct is not None
        left = ""
        if self._is_counted(item.struct):
            self.counts_inner = True
            left = ", left"
        call = f"_read_{item.element_type}(buf, pos, version{left})"
        self.out(f"{target}, pos{left} = {call}")

    def _layout(self, struct: Struct, flexible: bool, known: Versions) -> None:
        layout = layout_of(struct, known)
        for group in layout.groups:
            if group.test:
                self._flush()
                with self.out.block(f"if {group.test}:"):
                    self._group(group, flexible)
                    self._flush()
                with self.out.block("else:"):
                    for item in group.fields:
                        self._default(item)
            else:
                self._group(group, flexible)
        if flexible:
            self.pending.append(("n", "B"))
        self._flush()
        for item in layout.absent:
            self._default(item)
        if not flexible:
            self.out(f"{self.obj}.unknown_tags = None")
            return
        with self.out.block("if n == 0:"):
            self.out(f"{self.obj}.unknown_tags = None")
        with self.out.block("else:"):
            self.out(f"n, pos = {self.out.use('read_tag_count')}(buf, pos - 1)")
            if self._all_tagged(struct):
                self.out(f"pos = _tags_{struct.name}({self.obj}, buf, pos, version, n)")
            else:
                unknown = self.out.use("read_unknown_tags")
                self.out(f"{self.obj}.unknown_tags, pos = {unknown}(buf, pos, n)")

    def _default(self, item: Field) -> None:
        value = fresh_default(item)
        if value == "ZERO_UUID":
            self.out.use(value)
        self.out(f"{self.obj}.{item.snake_name} = {value}")

    def _all_tagged(self, struct: Struct) -> list[Field]:
        return [
            item
            for item in struct.fields
            if item.tagged.intersect(item.versions).intersect(struct.versions)
        ]

    def tags_reader(self, struct: Struct) -> None:
        """The function ``_tags_X`` that reads the tagged fields, if the struct has any."""
        tagged = self._all_tagged(struct)
        if not tagged:
            return
        known = flexible_ranges(self.message, struct)[-1][1]
        out = self.out
        out()
        out()
        signature = (
            f"(o: {struct.name}, buf: bytes | memoryview, pos: int, version: int, count: int)"
        )
        with out.block(f"def _tags_{struct.name}{signature} -> int:"):
            out("o.unknown_tags = None")
            read = out.use("read_uvarint")
            with out.block("for _ in range(count):"):
                out(f"tag, pos = {read}(buf, pos)")
                out(f"size, pos = {read}(buf, pos)")
                word = "if"
                for item in tagged:
                    with out.block(f"{word} tag == {item.tag}:"):
                        self._tagged_field(item, known)
                    word = "elif"
                with out.block("else:"):
                    with out.block("if o.unknown_tags is None:"):
                        out("o.unknown_tags = {}")
                    value = f"{out.use('read_unknown_tag')}(buf, pos, size)"
                    out(f"o.unknown_tags[tag & 0xFFFFFFFF], pos = {value}")
            out("return pos")

    def _tagged_field(self, item: Field, known: Versions) -> None:
        if test := condition(item.tagged.intersect(known), known):
            error = self.out.use("DecodeError")
            with self.out.block(f"if not {test}:"):
                self.out(f'raise {error}(f"tag {item.tag} is not valid for version {{version}}")')
        group = Group(item.tagged.intersect(known), "", [item])
        self._field(item, group.versions, flexible=True, tagged=True)
        self._flush()

    def _group(self, group: Group, flexible: bool) -> None:
        for item in group.fields:
            self._field(item, group.versions, flexible, tagged=False)

    def _flush(self) -> None:
        """Emit one read of all the pending fixed fields."""
        pending, self.pending = self.pending, []
        if not pending:
            return
        formats = [item[1] for item in pending]
        size = sum(FORMAT_SIZES[item] for item in formats)
        if formats == ["B"]:
            self.out(f"{pending[0][0]} = buf[pos]")
        elif formats == ["?"]:
            self.out(f"{pending[0][0]} = buf[pos] != 0")
        elif len(pending) == 1:
            self.out(f"({pending[0][0]},) = {self.out.unpacker(formats)}(buf, pos)")
        else:
            targets = ", ".join(item[0] for item in pending)
            self.out(f"{targets} = {self.out.unpacker(formats)}(buf, pos)")
        self.out(f"pos += {size}")

    def _field(self, item: Field, known: Versions, flexible: bool, tagged: bool) -> None:
        target = f"{self.obj}.{item.snake_name}"
        if not item.is_array and item.type in FIXED_FORMATS:
            self.pending.append((target, FIXED_FORMATS[item.type]))
        elif not item.is_array and item.struct is not None:
            self._struct_field(item, known, tagged)
        elif item.is_array:
            self._array(item, target, known, flexible)
        else:
            compact = is_flexible(item, flexible)
            self._length(compact, item.type == "string")
            with self.out.block("if n > 0:" if compact else "if n >= 0:"):
                self.out("e = pos + n - 1" if compact else "e = pos + n")
                self.out(f"{target} = {self._slice(item.type)}")
                self.out("pos = e")
            self._null(item, target, known)

    def _slice(self, kind: str) -> str:
        if kind == "string":
            return 'str(buf[pos:e], "utf-8", "java")'
        return "buf[pos:e]" if kind == "records" else "bytes(buf[pos:e])"

    def _length(self, compact: bool, is_string: bool, name: str = "n") -> None:
        """Read a length into `name`; a compact one stays one too large, as on the wire."""
        if not compact:
            self.pending.append((name, "h" if is_string else "i"))
            self._flush()
            return
        self.pending.append((name, "B"))
        self._flush()
        read = self.out.use("read_string_length" if is_string else "read_length")
        with self.out.block(f"if {name} > 127:"):
            self.out(f"{name}, pos = {read}(buf, pos - 1)")

    def _null(self, item: Field, target: str, known: Versions) -> None:
        """The else branch that takes or refuses a null."""
        nullable = item.nullable.intersect(known)
        if not nullable:
            with self.out.block("else:"):
                self.out(f'raise {self.out.use("refuse_null")}("{item.snake_name}")')
            return
        test = condition(nullable, known)
        with self.out.block(f"elif {test}:" if test else "else:"):
            self.out(f"{target} = None")
        if test:
            with self.out.block("else:"):
                self.out(f'raise {self.out.use("refuse_null")}("{item.snake_name}")')

    def _struct_field(self, item: Field, known: Versions, tagged: bool) -> None:
        target = f"{self.obj}.{item.snake_name}"
        nullable = item.nullable.intersect(known)
        if not nullable:
            self._flush()
            self._call_reader(target, item)
            return
        if nullable != known:
            raise SchemaError(
                f"{item.name}: a struct may be null in all of its versions or in none"
            )
        if tagged:
            self._flush()
            self.out(f"n, pos = {self.out.use('read_uvarint')}(buf, pos)")
        else:
            self.pending.append(("n", "b"))
            self._flush()
        with self.out.block("if n <= 0:" if tagged else "if n < 0:"):
            self.out(f"{target} = None")
        with self.out.block("else:"):
            self._call_reader(target, item)

    def _array(self, item: Field, target: str, known: Versions, flexible: bool) -> None:
        out = self.out
        kind = item.element_type
        self._length(flexible, is_string=False)
        with out.block("if n > 0:" if flexible else "if n >= 0:"):
            if flexible:
                out("n -= 1")
            least = smallest_size(self.message, item, known, flexible)
            claimed = f"n * {least}" if least > 1 else "n"
            most = "most" if self.takes_most else MAX_ELEMENTS
            with out.block(f"if {claimed} > len(buf) - pos or n > {most}:"):
                refuse = out.use("refuse_count")
                out(f'raise {refuse}("{item.snake_name}", n, len(buf) - pos)')
            if self.takes_left or (self.depth and self.message.kind == "request"):
                self.counts_inner = True
                out("left -= n")
                with out.block("if left < 0:"):
                    out(f'raise {out.use("refuse_total")}("{item.snake_name}")')
            if kind == "uuid":
                out(f"{target}, pos = {out.use('read_uuids')}(buf, pos, n)")
            elif kind in FIXED_FORMATS:
                code = FIXED_FORMATS[kind]
                if kind == "int32":
                    out("if n < 16:")
                    out(f"    {target} = [*{out.use('READ_INT32S')}[n](buf, pos)]")
                    out("else:")
                    target = "    " + target
                out(f'{target} = list({out.use("unpack_from")}(f">{{n}}{code}", buf, pos))')
                out(f"pos += {least} * n" if least > 1 else "pos += n")
            else:
                array = f"a{self.depth or ''}"
                out(f"{target} = {array} = []")
                with out.block("for _ in range(n):"):
                    self._element(item, array, known, flexible)
        self._null(item, target, known)

    def _element(self, item: Field, array: str, known: Versions, flexible: bool) -> None:
        out = self.out
        if item.element_type in self.called:
            self._call_reader("x", item)
            out(f"{array}.append(x)")
            return
        if item.struct is not None:
            self.depth += 1
            out(f"{self.obj} = _new({item.element_type})")
            self._layout(item.struct, flexible, known.intersect(item.struct.versions))
            out(f"{array}.append({self.obj})")
            self.depth -= 1
            return
        self._length(flexible, item.element_type == "string", "m")
        with out.block("if m <= 0:" if flexible else "if m < 0:"):
            out(f'raise {out.use("refuse_null")}("{item.snake_name} element")')
        out("e = pos + m - 1" if flexible else "e = pos + m")
        out(f"{array}.append({self._slice(item.element_type)})")
        out("pos = e")


def _has_arrays(struct: Struct) -> bool:
    return any(
        item.is_array or (item.struct is not None and _has_arrays(item.struct))
        for item in struct.fields
    )
