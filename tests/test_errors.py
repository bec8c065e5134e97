"""Error codes and the exception that carries one."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode, KafkaError, error_message, error_name


def test_codes_are_numbered_without_a_gap() -> None:
    assert [code.value for code in ErrorCode] == list(range(-1, len(ErrorCode) - 1))


def test_every_error_has_a_text_and_success_has_none() -> None:
    assert error_message(ErrorCode.NONE) is None
    texts = {code: error_message(code) for code in ErrorCode if code != ErrorCode.NONE}
    assert all(texts.values())
    assert texts[ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] == (
        "This server does not host this topic-partition."
    )


def test_an_answer_of_the_protocol() -> None:
    plain = KafkaError(ErrorCode.NOT_COORDINATOR)
    assert (plain.code, plain.message) == (16, error_message(16))
    assert str(plain) == plain.message
    told = KafkaError(35, "Not this version.")
    assert repr(told) == "KafkaError(UNSUPPORTED_VERSION, 'Not this version.')"
    with pytest.raises(KafkaError, match=r"Not this version\."):
        raise told


def test_a_code_of_a_newer_node() -> None:
    assert (error_name(25), error_name(30_000)) == ("UNKNOWN_MEMBER_ID", "30000")
    assert error_message(30_000) == "Unexpected error code: 30000."
    assert repr(KafkaError(30_000)) == "KafkaError(30000, 'Unexpected error code: 30000.')"
