"""Every message is decoded and encoded."""

from __future__ import annotations

from benchmarks.micro.bench_codec import cases
from tests.benchmarks.running import check_rows, run


def test_every_message_has_its_row() -> None:
    head, *rows, header, answer = run("micro.bench_codec", "--rounds", "1", "--scale", "0.01")
    assert " ".join(head.split()) == "message version bytes decode us encode us"
    names = [f"{name:28}{version:>8}" for name, _, version in cases()]
    assert len(names) > 10
    check_rows(rows, names, 3)  # bytes, decode, encode
    check_rows([header], ["request header"], 1)
    check_rows([answer], ["Produce answer, whole frame"], 1)
