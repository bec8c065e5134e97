from __future__ import annotations

import pytest

from pykbroker.kraft.raft.voters import ReplicaKey, VoterEndpoint
from pykbroker.kraft.raft.voters_text import parse_voters
from pykbroker.kraft.storage_format import StorageError
from pykbroker.protocol.primitives import uuid_from_str

FIRST, SECOND = "JEXY6aqzQY-32P5TStzaFg", "MvDxzVmcRsaTz33bUuRU6A"


def test_voters_are_read_in_the_order_of_their_ids() -> None:
    text = f" 11@example.com:8082:{FIRST}, 2@[::1]:8083:{SECOND},"
    second, first = parse_voters(text, "CONTROLLER").nodes.values()
    assert first.key == ReplicaKey(11, uuid_from_str(FIRST))
    assert first.endpoints == (VoterEndpoint("CONTROLLER", "example.com", 8082),)
    assert second.key == ReplicaKey(2, uuid_from_str(SECOND))
    assert second.endpoints == (VoterEndpoint("CONTROLLER", "0:0:0:0:0:0:0:1", 8083),)
    assert tuple(first.kraft_versions) == (0, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "No voters given."),
        (" , ", "No voters given."),
        ("x, ,y", "No @ found in dynamic voter string."),
        ("1", "No @ found in dynamic voter string."),
        ("@a:1:x", "Invalid @ at beginning of dynamic voter string."),
        ("x@a:1:x", "Failed to parse node id in dynamic voter string."),
        ("²@a:1:x", "Failed to parse node id in dynamic voter string."),
        ("9999999999@a:1:x", "Failed to parse node id in dynamic voter string."),
        ("-1@a:1:x", "Invalid negative node id -1 in dynamic voter string."),
        ("1@", "No hostname found after node id."),
        ("1@a", "No colon following hostname could be found."),
        ("1@[::1", "Hostname began with left bracket, but no right bracket was found."),
        ("1@[::1]", "Port section must start with a colon."),
        ("1@a:1", "No colon following port could be found."),
        ("1@a:x:y", "Failed to parse port in dynamic voter string."),
        ("1@a:65536:y", "Invalid port 65536 in dynamic voter string."),
        ("1@a:-1:y", "Invalid port -1 in dynamic voter string."),
        ("1@a:1:", "Failed to parse directory ID in dynamic voter string."),
        ("1@a:1:short", "Failed to parse directory ID in dynamic voter string."),
        (f"1@a:1:{FIRST},1@b:2:{SECOND}", "Node id 1 was specified more than once."),
    ],
)
def test_what_is_no_voter(text: str, message: str) -> None:
    with pytest.raises(StorageError) as caught:
        parse_voters(text, "CONTROLLER")
    assert str(caught.value) == message
