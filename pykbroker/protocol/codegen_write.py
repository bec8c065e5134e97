"""The encoding half of the message generator. Development time only; see generate.py.

In the generated code: ``o`` is the object (``o1`` in a loop), ``w`` the bytearray to append to (at
the end of ``out``, or a tagged field's own), ``s`` encoded text, ``n`` a length.
"""

from __future__ import annotations

from pykbroker.protocol.codegen import (
    Group,
    StructGenerator,
    carries_parts,
    condition,
    default_of,
    differs_from_default,
    flexible_ranges,
    is_flexible,
    layout_of,
)
from pykbroker.protocol.schema import FIXED_FORMATS, Field, Struct, Versions


class WriteGenerator(StructGenerator):
    """Emits the writers of one message: they append ``o`` to ``w``."""

    def struct_writer(self, struct: Struct) -> None:
        """The function ``_write_X`` of a struct inside the message."""
        name = struct.name
        self.out()
        self.out()
        if carries_parts(self.message, struct):
            self.out.use("Parts")
            signature = f"(o: {name}, out: Parts, w: bytearray, version: int) -> bytearray:"
        else:
            signature = f"(o: {name}, w: bytearray, version: int) -> None:"
        with self.out.block(f"def _write_{name}{signature}"):
            self.body(struct)
            if carries_parts(self.message, struct):
                self.out("return w")

    def _layout(self, struct: Struct, flexible: bool, known: Versions) -> None:
        layout = layout_of(struct, known)
        for item in layout.absent:
            self._refuse_absent(item, item.tagged.intersect(item.versions), known)
        if not flexible:
            with self.out.block(f"if {self.obj}.unknown_tags:"):
                self.out(f'raise {self.out.use("refuse_field")}("unknown_tags", version)')
        for group in layout.groups:
            if group.test:
                self._flush()
                with self.out.block(f"if {group.test}:"):
                    for item in group.fields:
                        self._field(item, group.versions, flexible)
                    self._flush()
                self._else_refuse(group)
            else:
                for item in group.fields:
                    self._field(item, group.versions, flexible)
        self._flush()
        if not flexible:
            return
        if not layout.tagged:
            self._end_of_tags(
                f"if {self.obj}.unknown_tags:",
                f"{self.out.use('put_tags')}(w, {{}}, {self.obj}.unknown_tags)",
            )
            return
        tests = [self._quick_test(item) for item in layout.tagged]
        self._end_of_tags(
            f"if {' or '.join([*tests, f'{self.obj}.unknown_tags'])}:",
            f"_put_tags_{struct.name}({self.obj}, w, version)",
        )

    def _end_of_tags(self, test: str, call: str) -> None:
        with self.out.block(test):
            self.out(call)
        with self.out.block("else:"):
            self.out("w.append(0)")

    def _quick_test(self, item: Field) -> str:
        if item.starts_absent:
            return f"{self.obj}.{item.snake_name} is not None"
        return self._differs(item)

    def _differs(self, item: Field) -> str:
        if default_of(item) == "ZERO_UUID":
            self.out.use("ZERO_UUID")
        return differs_from_default(item, self.obj)

    def _refuse_absent(self, item: Field, elsewhere: Versions, known: Versions) -> None:
        """A field that this range does not have must be at its default, unless it is ignorable."""
        if item.ignorable or elsewhere.intersect(known) == known:
            return
        test = self._differs(item)
        if tagged := elsewhere.intersect(known):
            test = f"not ({condition(tagged, known)}) and {test}"
        with self.out.block(f"if {test}:"):
            self.out(f'raise {self.out.use("refuse_field")}("{item.snake_name}", version)')

    def _else_refuse(self, group: Group) -> None:
        checked = [item for item in group.fields if not item.ignorable]
        if not checked:
            return
        word = f"elif version < {group.versions.low} and"
        if any(item.tagged for item in checked):
            # The versions above the group carry the field among the tags.
            for item in checked:
                with self.out.block(f"{word} {self._differs(item)}:"):
                    self.out(f'raise {self.out.use("refuse_field")}("{item.snake_name}", version)')
            return
        for item in checked:
            with self.out.block(f"elif {self._differs(item)}:"):
                self.out(f'raise {self.out.use("refuse_field")}("{item.snake_name}", version)')

    def tags_writer(self, struct: Struct) -> None:
        """The function ``_put_tags_X`` that writes the tagged fields, if the struct has any."""
        known = flexible_ranges(self.message, struct)[-1][1]
        tagged = layout_of(struct, known).tagged
        if not tagged or not self.message.flexible:
            return
        out = self.out
        out()
        out()
        with out.block(
            f"def _put_tags_{struct.name}(o: {struct.name}, w: bytearray, version: int) -> None:"
        ):
            out("known: dict[int, bytes] = {}")
            out("tail = w")
            for item in sorted(tagged, key=lambda item: item.tag):
                versions = item.tagged.intersect(known)
                test = condition(versions, known)
                with out.block(f"if {test + ' and ' if test else ''}{self._differs(item)}:"):
                    self._tag(item, versions)
            out(f"{out.use('put_tags')}(tail, known, o.unknown_tags)")

    def _tag(self, item: Field, versions: Versions) -> None:
        out = self.out
        if not item.is_array and item.type in FIXED_FORMATS:
            pack = out.packer([FIXED_FORMATS[item.type]])
            out(f"known[{item.tag}] = {pack}(o.{item.snake_name})")
            return
        out("w = bytearray()")
        self._field(item, versions, flexible=True, tagged=True)
        self._flush()
        out(f"known[{item.tag}] = bytes(w)")

    def _flush(self) -> None:
        pending, self.pending = self.pending, []
        if pending:
            pack = self.out.packer([item[1] for item in pending])
            self.out(f"w += {pack}({', '.join(item[0] for item in pending)})")

    def _field(self, item: Field, known: Versions, flexible: bool, tagged: bool = False) -> None:
        name = f"{self.obj}.{item.snake_name}"
        if not item.is_array and item.type in FIXED_FORMATS:
            self.pending.append((name, FIXED_FORMATS[item.type]))
            return
        if not item.is_array and item.struct is not None:
            self._struct_field(item, known, tagged)
            return
        compact = is_flexible(item, flexible)
        nullable = item.nullable.intersect(known)
        if item.type == "records" or item.zero_copy:
            self._part(item, known, compact)
        elif not nullable:
            self._value(item, known, compact)
        else:
            self._flush()
            with self.out.block(f"if {name} is None:"):
                self._null(item, nullable, known, compact)
            with self.out.block("else:"):
                self._value(item, known, compact)
                self._flush()

    def _null(self, item: Field, nullable: Versions, known: Versions, compact: bool) -> None:
        if test := condition(nullable, known):
            with self.out.block(f"if not {test}:"):
                error = self.out.use("EncodeError")
                self.out(f'raise {error}("{item.snake_name} is null")')
        if compact:
            self.out("w.append(0)")
        elif item.type == "string":
            self.out('w += b"\\xff\\xff"')
        else:
            self.out('w += b"\\xff\\xff\\xff\\xff"')

    def _value(self, item: Field, known: Versions, compact: bool) -> None:
        name = f"{self.obj}.{item.snake_name}"
        if item.is_array:
            self._array(item, name, known, compact)
        else:
            self._scalar(item.type, name, compact)

    def _scalar(self, kind: str, name: str, compact: bool) -> None:
        """Text or bytes with their length in front."""
        out = self.out
        if kind == "string":
            out(f"s = {name}.encode()")
            name = "s"
        if compact:
            self._compact_length(f"len({name}) + 1", kind == "string")
        else:
            self.pending.append((f"len({name})", "h" if kind == "string" else "i"))
            self._flush()
        out(f"w += {name}")

    def _compact_length(self, length: str, is_string: bool = False) -> None:
        self._flush()
        put = self.out.use("put_string_length" if is_string else "put_uvarint")
        self.out(f"n = {length}")
        with self.out.block("if n < 128:"):
            self.out("w.append(n)")
        with self.out.block("else:"):
            self.out(f"{put}(w, n)")

    def _array(self, item: Field, name: str, known: Versions, compact: bool) -> None:
        out = self.out
        kind = item.element_type
        if compact:
            self._compact_length(f"len({name}) + 1")
        else:
            self.pending.append((f"len({name})", "i"))
            self._flush()
        if kind == "uuid":
            out(f"{out.use('put_uuids')}(w, {name})")
        elif kind == "int32":
            size = "n - 1" if compact else f"len({name})"
            with out.block("if n < 17:" if compact else f"if {size} < 16:"):
                out(f"w += {out.use('PACK_INT32S')}[{size}](*{name})")
            with out.block("else:"):
                out(f'w += {out.use("pack")}(f">{{len({name})}}i", *{name})')
        elif kind in FIXED_FORMATS:
            out(f'w += {out.use("pack")}(f">{{len({name})}}{FIXED_FORMATS[kind]}", *{name})')
        else:
            self._elements(item, name, known, compact)

    def _elements(self, item: Field, name: str, known: Versions, compact: bool) -> None:
        """A loop over structs, strings or bytes."""
        if item.struct is None or item.element_type in self.called:
            with self.out.block(f"for x in {name}:"):
                if item.struct is None:
                    self._scalar(item.element_type, "x", compact)
                else:
                    self._call(item, "x")
            return
        self.depth += 1
        with self.out.block(f"for {self.obj} in {name}:"):
            before = len(self.out.lines)
            self._layout(item.struct, compact, known.intersect(item.struct.versions))
            if len(self.out.lines) == before:
                self.out("pass")
        self.depth -= 1

    def _call(self, item: Field, name: str) -> None:
        assert item.struct is not None
        if carries_parts(self.message, item.struct):
            self.out(f"w = _write_{item.element_type}({name}, out, w, version)")
        else:
            self.out(f"_write_{item.element_type}({name}, w, version)")

    def _struct_field(self, item: Field, known: Versions, tagged: bool) -> None:
        name = f"{self.obj}.{item.snake_name}"
        self._flush()
        if not item.nullable.intersect(known):
            self._call(item, name)
            return
        with self.out.block(f"if {name} is None:"):
            self.out("w.append(0)" if tagged else "w.append(255)")
        with self.out.block("else:"):
            self.out("w.append(1)")
            self._call(item, name)

    def _part(self, item: Field, known: Versions, compact: bool) -> None:
        """Records and zero-copy bytes go into `out` by `put_part`, which copies only small ones."""
        out = self.out
        name = f"{self.obj}.{item.snake_name}"
        self._flush()
        with out.block(f"if {name} is None:"):
            nullable = item.nullable.intersect(known)
            if nullable:
                self._null(item, nullable, known, compact)
            else:
                out(f'raise {out.use("EncodeError")}("{item.snake_name} is null")')
        with out.block("else:"):
            out(f"size = {out.use('part_size')}({name})")
            if compact:
                self._compact_length("size + 1")
            else:
                self.pending.append(("size", "i"))
                self._flush()
            out(f"w = {out.use('put_part')}(out, w, {name}, size)")
