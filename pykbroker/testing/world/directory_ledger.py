"""Where operators want replicas to be: the log directories that they were promised.

    requested, no answer     the replica may be there at any time from now on
    granted                  it is there when the move has ended, unless another request came later
                             or an earlier move may be resumed
    refused                  it may be anywhere: the request may have ended an earlier move

A process that ends may have carried out half of a request: the earlier move has ended, and the new
one has not begun. Of two requests, each sent before the other was answered, either may have come
later.

A request for the directory that the replica is in ends a move. A directory that fails delays a
move, which is resumed later. After a power failure the replica may still be where it was, because
the name of the copy may not be synced. A replica that leaves its node takes its moves with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pykbroker.testing.world.world import Violation
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.kraft.image import MetadataImage


class Replica(NamedTuple):
    """A replica of a partition on a node."""

    node_id: int
    topic_id: bytes
    partition: int


@dataclass(slots=True, eq=False)
class Move:
    """A request to move a replica to `path`.

    `or_to`: where else the replica may be in the end, because of other requests at the same time;
    None: anywhere.
    """

    path: str
    or_to: set[str] | None
    is_lost: bool = False
    """The process that it was sent to has ended."""


@dataclass(slots=True)
class Wish:
    """The directories that a replica may be in when all moves have ended; None: in any."""

    may_be: set[str] | None = None
    unanswered: list[Move] = field(default_factory=list)


class DirectoryLedger:
    """The log directories that operators were promised."""

    def __init__(self) -> None:
        self._wishes: dict[Replica, Wish] = {}
        self.granted = 0

    def sent(self, replica: Replica, path: str) -> Move:
        """Record that a move is about to be requested; return what its answer belongs to."""
        wish = self._wishes.setdefault(replica, Wish())
        under_way = [other for other in wish.unanswered if not other.is_lost]
        move = Move(path, {other.path for other in under_way})
        for other in under_way:
            if other.or_to is not None:
                other.or_to.add(path)
        wish.unanswered.append(move)
        if wish.may_be is not None:
            wish.may_be.add(path)
        return move

    def grant(self, replica: Replica, move: Move, *, is_certain: bool) -> None:
        """Record a success. Not `is_certain`: the replica may end anywhere, because the process may
        have ended, or the copy of an earlier move may be in a directory that is offline, and that
        move is resumed later.
        """
        wish = self._wishes[replica]
        if is_certain:
            wish.unanswered.remove(move)
            wish.may_be = None if move.or_to is None else {move.path, *move.or_to}
        else:
            self.refuse(replica, move)
        self.granted += 1

    def refuse(self, replica: Replica, move: Move) -> None:
        """Record an error: the replica may be anywhere."""
        wish = self._wishes[replica]
        wish.unanswered.remove(move)
        wish.may_be = None
        for other in wish.unanswered:
            other.or_to = None

    def ended(self, replica: Replica) -> None:
        """Record that an operator may have ended the latest move."""
        if replica in self._wishes:
            self._wishes[replica].may_be = None

    def process_ended(self, node_id: int) -> None:
        """Record that the process of a node has ended: it may have done requests that it has not
        answered, in part or as a whole.
        """
        for replica, wish in self._wishes.items():
            if replica.node_id == node_id:
                for move in wish.unanswered:
                    if not move.is_lost:
                        move.is_lost, move.or_to = True, None
                        wish.may_be = None

    def power_lost(self, node_id: int, paths: Mapping[tuple[bytes, int], str]) -> None:
        """Record the directories in which the replicas of a node, by topic id and partition, were
        at that time; one that is not named may be anywhere.
        """
        for replica, wish in self._wishes.items():
            if replica.node_id == node_id and wish.may_be is not None:
                path = paths.get((replica.topic_id, replica.partition))
                wish.may_be = None if path is None else {*wish.may_be, path}

    def take(self, image: MetadataImage) -> None:
        """Forget what was promised of replicas that are not on their nodes in this image."""
        for replica, wish in self._wishes.items():
            topic = image.topics_by_id.get(replica.topic_id)
            found = None if topic is None else topic.partitions.get(replica.partition)
            if found is None or replica.node_id not in found.replicas:
                wish.may_be = None

    def check(self, name: str, replica: Replica, path: str) -> None:
        """Check where a replica is when all moves have ended."""
        wish = self._wishes.get(replica)
        if wish is not None and wish.may_be is not None and path not in wish.may_be:
            raise Violation(f"{name}: is in {path}, and an operator was promised {wish.may_be}")
