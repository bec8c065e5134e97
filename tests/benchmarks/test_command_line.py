"""What the options of benchmarks take."""

from __future__ import annotations

import pytest

from benchmarks.command_line import add_effort, amount, count, parser_for, times


def test_the_help_is_the_docstring_as_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    parser = parser_for("benchmarks.some", "What it is.\n\n    as it    stands\n")
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])
    output = capsys.readouterr().out
    assert output.startswith("usage: python -m benchmarks.some ")
    assert "What it is.\n\n    as it    stands\n" in output


def test_effort() -> None:
    parser = parser_for("benchmarks.some", "")
    add_effort(parser, 7)
    assert vars(parser.parse_args([])) == {"rounds": 7, "scale": 1.0}
    chosen = parser.parse_args(["--rounds", "2", "--scale", "0.5"])
    assert vars(chosen) == {"rounds": 2, "scale": 0.5}


@pytest.mark.parametrize("words", (["--rounds", "0"], ["--scale", "0"], ["--scale", "nan"]))
def test_nothing_is_no_effort(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    parser = parser_for("benchmarks.some", "")
    add_effort(parser, 7)
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(words)
    assert ended.value.code == 2
    assert f"argument {words[0]}" in capsys.readouterr().err


def test_numbers() -> None:
    assert (count("1"), amount("0.25")) == (1, 0.25)
    assert [times(100, scale) for scale in (0.001, 0.5, 1.0, 2.0)] == [1, 50, 100, 200]
