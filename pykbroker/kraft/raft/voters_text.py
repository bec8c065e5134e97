"""The text form of voters for `storage format --initial-controllers`.

    0@example.com:8082:JEXY6aqzQY-32P5TStzaFg,1@[::1]:8083:MvDxzVmcRsaTz33bUuRU6A
    id  host       port directory id

Source: Kafka's `DynamicVoters.java`, `DynamicVoter.java`.
"""

from __future__ import annotations

import re
from typing import Final

from pykbroker.kraft.metadata_version import KRAFT_VERSION, SUPPORTED_FEATURES
from pykbroker.kraft.raft.voters import ReplicaKey, VoterEndpoint, VoterNode, VoterSet
from pykbroker.kraft.storage_format import StorageError
from pykbroker.network.java_address import java_address
from pykbroker.protocol.primitives import DecodeError, uuid_from_str

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,10}\Z").match
_MOST_ID: Final = (1 << 31) - 1


def parse_voters(text: str, listener: str) -> VoterSet:
    """Parse voters at controller listeners of this name. Raises StorageError."""
    voters: dict[int, VoterNode] = {}
    for entry in filter(None, text.strip().split(",")):
        voter = _parse_voter(entry.strip(), listener)
        if voter.key.id in voters:
            raise StorageError(f"Node id {voter.key.id} was specified more than once.")
        voters[voter.key.id] = voter
    if not voters:
        raise StorageError("No voters given.")
    return VoterSet(voters[number] for number in sorted(voters))


def _parse_voter(text: str, listener: str) -> VoterNode:
    id_text, at, rest = text.partition("@")
    if not at:
        raise StorageError("No @ found in dynamic voter string.")
    if not id_text:
        raise StorageError("Invalid @ at beginning of dynamic voter string.")
    node_id = _number(id_text, "node id")
    if node_id < 0:
        raise StorageError(f"Invalid negative node id {node_id} in dynamic voter string.")
    if not rest:
        raise StorageError("No hostname found after node id.")
    host, rest = _split_host(rest)
    if not rest.startswith(":"):
        raise StorageError("Port section must start with a colon.")
    port_text, colon, directory = rest[1:].partition(":")
    if not colon:
        raise StorageError("No colon following port could be found.")
    port = _number(port_text, "port")
    if not 0 <= port <= 65535:
        raise StorageError(f"Invalid port {port} in dynamic voter string.")
    try:
        directory_id = uuid_from_str(directory)
    except (DecodeError, ValueError) as error:
        raise StorageError("Failed to parse directory ID in dynamic voter string.") from error
    endpoint = VoterEndpoint(listener, java_address(host), port)
    return VoterNode(
        ReplicaKey(node_id, directory_id), (endpoint,), SUPPORTED_FEATURES[KRAFT_VERSION]
    )


def _number(text: str, what: str) -> int:
    number = int(text) if _NUMBER(text) else _MOST_ID + 1
    if not -_MOST_ID <= number <= _MOST_ID:
        raise StorageError(f"Failed to parse {what} in dynamic voter string.")
    return number


def _split_host(text: str) -> tuple[str, str]:
    """Return (host, remainder); an IPv6 address is in brackets."""
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket:
            raise StorageError("Hostname began with left bracket, but no right bracket was found.")
        return host, rest
    host, colon, rest = text.partition(":")
    if not colon:
        raise StorageError("No colon following hostname could be found.")
    return host, colon + rest
