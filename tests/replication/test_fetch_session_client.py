"""A fetch session on the client's side: its requests, and the effect of an odd response."""

from __future__ import annotations

from pykbroker.errors import ErrorCode
from pykbroker.replication.fetch_session_client import MAX_EPOCH, Asked, FetchSessionClient

A, B, C = (b"a" * 16, 0), (b"b" * 16, 1), (b"c" * 16, 2)
NOT_FOUND = int(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
WRONG_EPOCH = int(ErrorCode.INVALID_FETCH_SESSION_EPOCH)


def asked(offset: int) -> Asked:
    return Asked(offset, 0, 0, 0)


def opened() -> FetchSessionClient:
    """In a session of A and B."""
    session = FetchSessionClient()
    session.add(A, asked(0))
    session.add(B, asked(0))
    assert session.take_request() == ([A, B], [])
    assert session.answered(0, 9, [A, B])
    assert (session.id, session.epoch) == (9, 1)
    return session


def test_an_incremental_request_names_what_changed() -> None:
    session = opened()
    assert session.take_request() == ([], [])
    assert session.answered(0, 9, [])
    session.add(A, asked(5))
    session.add(B, asked(0))  # as the leader knows it
    session.add(C, asked(1))
    session.forget(B)
    assert session.take_request() == ([A, C], [B])
    assert session.epoch == 2
    assert session.answered(0, 9, [C])
    assert session.epoch == 3
    assert session.take_request() == ([], [])


def test_what_is_forgotten_and_asked_for_again_is_named() -> None:
    session = opened()
    session.forget(A)
    session.add(A, asked(0))
    assert session.take_request() == ([A], [])


def test_without_room_for_a_session_every_request_is_full() -> None:
    session = FetchSessionClient()
    session.add(A, asked(0))
    session.take_request()
    assert session.answered(0, 0, [A])
    assert session.is_full
    assert session.take_request() == ([A], [])


def test_errors_begin_again_and_end_the_session_that_may_be_left() -> None:
    for code, session_id in ((NOT_FOUND, 0), (WRONG_EPOCH, 9)):
        session = opened()
        session.take_request()
        assert not session.answered(code, 0, [])
        assert (session.id, session.is_full) == (session_id, True)
        assert session.take_request() == ([A, B], [])
    session = opened()
    session.failed()
    assert (session.id, session.is_full) == (9, True)


def test_an_answer_with_other_partitions_is_of_no_use() -> None:
    session = FetchSessionClient()
    session.add(A, asked(0))
    session.take_request()
    assert not session.answered(0, 9, [A, B])
    assert not session.answered(0, 9, [])
    assert (session.id, session.is_full) == (0, True)
    session = opened()
    assert not session.answered(0, 9, [C])
    assert (session.id, session.is_full) == (9, True)


def test_a_leader_that_ends_the_session_gets_a_full_request() -> None:
    session = opened()
    assert session.answered(0, 0, [])
    assert (session.id, session.is_full) == (0, True)


def test_after_the_largest_epoch_comes_one() -> None:
    session = opened()
    session.epoch = MAX_EPOCH
    assert session.answered(0, 9, [])
    assert session.epoch == 1


def test_idle_is_nothing_to_ask_and_nothing_to_take_back() -> None:
    assert FetchSessionClient().is_idle
    session = opened()
    for key in (A, B):
        session.forget(key)
    assert not session.is_idle
    session.take_request()
    assert session.is_idle
