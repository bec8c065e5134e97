"""The generator: up to date, deterministic, and what it makes of a schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.protocol import generate
from pykbroker.protocol.schema import SchemaError, parse_schema


def test_the_committed_files_are_what_the_schemas_say() -> None:
    assert generate.main(["--check"]) == 0


def test_generation_is_deterministic() -> None:
    assert generate.generate_all() == generate.generate_all()


def test_check_sees_a_difference_and_a_run_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate, "MESSAGES_ROOT", tmp_path)
    assert generate.main(["--check"]) == 1
    assert "fetch_request.py" in capsys.readouterr().err
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    (tmp_path / "stray.py").write_text("")
    (tmp_path / "fetch_request.py").write_text("changed")
    assert generate.main(["--check"]) == 1
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    assert not (tmp_path / "stray.py").exists()


def test_adjacent_fixed_fields_are_one_read() -> None:
    fields = "  A int32 0+\n  B int64 0+\n  C bool 1+\n  D string 0+\n"
    text = "data Row  versions 0-2  flexible 2+\n" + fields
    (message,) = parse_schema(text)
    module = generate.generate_module(message, "row.txt")
    assert "o.a, o.b = _u_iq(buf, pos)" in module
    assert "o.a, o.b, o.c, n = _u_iqoB(buf, pos)" in module
    assert "w += _p_iqo(o.a, o.b, o.c)" in module
    compile(module, "row.py", "exec")


def test_a_struct_that_may_be_null_in_some_versions_only_is_refused() -> None:
    text = "data Row  versions 0-2  flexible 0+\n  A Inner 0+  nullable 1+\n    B int8 0+\n"
    (message,) = parse_schema(text)
    with pytest.raises(SchemaError, match="A: a struct may be null in all of its versions"):
        generate.generate_module(message, "row.txt")
