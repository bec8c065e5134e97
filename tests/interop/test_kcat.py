"""kcat against the broker."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.harness.tools import kcat
from tests.interop.samples import CODECS


def _kcat(servers: str, *arguments: str, stdin: str = "") -> str:
    done = subprocess.run(
        [kcat(), "-b", servers, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("codec", CODECS)
def test_produce_and_consume(servers: str, name: str, codec: str):
    lines = [f"k{n}:v{n}" for n in range(100)]
    _kcat(servers, "-P", "-t", name, "-K:", "-z", codec, "-H", "h=1", stdin="\n".join(lines) + "\n")
    output = _kcat(servers, "-C", "-t", name, "-e", "-q", "-f", "%k:%s %h %o\n", "-o", "beginning")
    assert output.splitlines() == [f"{line} h=1 {n}" for n, line in enumerate(lines)]


def test_null_values_and_metadata(servers: str, name: str):
    _kcat(servers, "-P", "-t", name, "-K:", "-Z", stdin="k:\nk2:v\n")
    rows = _kcat(servers, "-C", "-t", name, "-e", "-q", "-J").splitlines()
    assert [json.loads(row)["payload"] for row in rows] == [None, "v"]
    listing = json.loads(_kcat(servers, "-L", "-J"))
    assert name in [topic["topic"] for topic in listing["topics"]]
    assert [node["id"] for node in listing["brokers"]] == [1]


def test_a_balanced_consumer_reads_everything(servers: str, name: str):
    _kcat(servers, "-P", "-t", name, stdin="".join(f"{n}\n" for n in range(50)))
    output = _kcat(servers, "-G", name, "-c", "50", "-q", "-X", "auto.offset.reset=earliest", name)
    assert output.split() == [str(n) for n in range(50)]
    assert _kcat(servers, "-Q", "-t", f"{name}:0:-1").split() == [name, "[0]", "offset", "50"]
