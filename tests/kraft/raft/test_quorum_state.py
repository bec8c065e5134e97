"""The quorum-state file, as Apache Kafka writes it."""

from __future__ import annotations

import pytest

from pykbroker.kraft.raft.quorum_state import (
    CorruptQuorumState,
    ElectionState,
    decode_quorum_state,
    encode_quorum_state,
)
from pykbroker.kraft.raft.voters import ReplicaKey

LEADER = (
    b'{"leaderId":1,"leaderEpoch":1,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA",'
    b'"data_version":1}'
)
STATIC = (
    b'{"clusterId":"","leaderId":-1,"leaderEpoch":4,"votedId":2,"appliedOffset":0,'
    b'"currentVoters":[{"voterId":1},{"voterId":2}],"data_version":0}'
)


def test_version_1() -> None:
    assert encode_quorum_state(ElectionState(1, 1), 1, [1]) == LEADER
    assert decode_quorum_state(LEADER) == ElectionState(1, 1)


def test_version_0() -> None:
    state = ElectionState(4, voted=ReplicaKey(2))
    assert encode_quorum_state(state, 0, [1, 2]) == STATIC
    assert decode_quorum_state(STATIC) == state


def test_a_vote_keeps_its_directory() -> None:
    state = ElectionState(9, voted=ReplicaKey(3, b"d" * 16))
    assert decode_quorum_state(encode_quorum_state(state, 1, [3])) == state


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b'{"data_version":2}', b'{"data_version":1}', LEADER.replace(b"AAA", b"!")],
)
def test_nonsense(text: bytes) -> None:
    if text.startswith(b'{"leaderId"'):
        text = text.replace(b'"votedId":-1', b'"votedId":1')
    with pytest.raises(CorruptQuorumState):
        decode_quorum_state(text)
