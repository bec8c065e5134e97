"""Messages name the place, and contain no secrets."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from pykbroker.offline import OfflineError, open_log
from pykbroker.offline.faults import BadOption, CorruptSegment, NotALogDirectory, OffsetsGone
from pykbroker.spark.faults import OptionError

URI = "s3://key:s%2Fcret@bucket/my logs/t-0?scheme=http&secret_key=a/b+c=="
SHOWN = "s3://***@bucket/my logs/t-0?scheme=***&secret_key=***"


@pytest.mark.parametrize("kind", [OfflineError, NotALogDirectory, BadOption, OffsetsGone])
@pytest.mark.parametrize(
    "message",
    ["{} is no directory", "no topic in {}, {}; there are none", "gone: '{}'", "see {}.", "{}", ""],
)
def test_messages_show_no_secrets(kind: type[OfflineError], message: str):
    fault = kind(message.replace("{}", URI))
    assert str(fault) == message.replace("{}", SHOWN)
    assert "cret" not in repr(fault).replace("secret_key", "")
    again = pickle.loads(pickle.dumps(fault))
    assert (type(again), str(again)) == (kind, str(fault))


def test_a_corrupt_segment_knows_its_path():
    fault = pickle.loads(pickle.dumps(CorruptSegment(URI, 7, "why")))
    assert str(fault) == f"{SHOWN}, position 7: why"
    assert (fault.path, fault.position, fault.reason) == (URI, 7, "why")


def test_an_option_of_spark():
    fault = pickle.loads(pickle.dumps(OptionError("path", f"{URI} is odd")))
    assert str(fault) == f"option path: {SHOWN} is odd"


@pytest.mark.parametrize(
    "text",
    [
        "/logs/a@b?x=1 is not a directory",
        "file:///logs/a@b?x=1",
        "s3://bucket/a@b/t-0 is not a directory",
        "user@host: is it a=b?",
    ],
)
def test_what_is_no_secret_stays(text: str):
    assert str(OfflineError(text)) == text


def test_secrets_of_a_uri_that_is_none(tmp_path: Path):
    with pytest.raises(OfflineError) as refused:
        open_log("s3://key:se cret@bucket/logs?secret_key=abc", topics=["t"]).read_all()
    assert "cret@" not in str(refused.value)
    assert "abc" not in str(refused.value)
