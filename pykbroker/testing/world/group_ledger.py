"""The promises made to the members of one group, shared by all of them.

Invariants that it checks: a generation has one leader, one owner for each partition, and members
get what their leader assigned; the committed offset that a member fetches is one acknowledged last
(none, before that), or one that was sent and not answered; a commit of a member that missed a later
generation fails. A power failure may lose what was not flushed: then any offset ever sent and not
rejected is possible, and generations may start again.

Where nodes replicate, a coordinator that was replaced may not know it yet: it can complete a join,
which is only in its memory. Responses before SyncGroup are therefore valid only between the members
and that coordinator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pykbroker.testing.world.world import Violation
from pykbroker.values import NamedTuple

NOT_COMMITTED = -1


class Commit(NamedTuple):
    """A commit that was sent; its offset is a tick of the ledger."""

    life: int
    generation: int
    partition: int
    offset: int
    is_late: bool
    """Sent when a member was known to have joined a later generation: it must be refused."""


class GroupLedger:
    """The promises made to the members of one group."""

    def __init__(self, group: str, *, may_move: bool = False) -> None:
        self.group = group
        self._may_move = may_move
        """Another node may become its coordinator."""
        self.life = 0
        """How often the coordinator may have ended. An answer to a request of an earlier life tells
        nothing: except to `commit_answered`, the caller must not report it."""
        self._history = 0
        """How often a power failure may have taken the group back."""
        self._latest_written = -1
        """The latest generation that some member has synced: it is in the log."""
        self._leaders: dict[tuple[int, int, int], str] = {}
        self._assigned: dict[tuple[int, int, int, str], list[int]] = {}
        self._owners: dict[tuple[int, int, int], str] = {}
        self._latest_generation = -1
        self._possible: dict[int, set[int]] = {}
        """Partition -> the offsets that may be committed now."""
        self._ever: dict[int, set[int]] = {}
        self._answered: dict[int, dict[int, int]] = {}
        """Partition -> acknowledged offset -> when; those that may still be the latest."""
        self._ticks = 0
        self.commits = 0

    def process_ended(self) -> None:
        """Forget generations that no member has synced: they were only in memory, and their numbers
        may be reused. If the coordinator may move, forget the leaders and assignments of all.

        To be called when a node ends, and when another may have become the coordinator.
        """
        self.life += 1
        self._latest_generation = self._latest_written
        if self._may_move:  # the replaced one may have had another generation of that number
            self._leaders.clear()
            self._assigned.clear()
        self._leaders = {
            key: leader for key, leader in self._leaders.items() if key[1] <= self._latest_written
        }
        self._assigned = {
            key: share for key, share in self._assigned.items() if key[1] <= self._latest_written
        }

    def power_lost(self) -> None:
        """Allow for the loss of what was not flushed: offsets and generations may be older than
        promised.
        """
        self.process_ended()
        self._history += 1
        self._latest_generation = self._latest_written = -1
        for index, offsets in self._ever.items():
            self._possible[index] = {NOT_COMMITTED, *offsets}
        self._answered.clear()

    # ---------------------------------------------------------------- generations

    def joined(self, generation: int, member_id: str, leader: str, coordinator: int = 0) -> None:
        """Check a JoinGroup response from the node `coordinator`."""
        key = (self._history, generation, coordinator)
        known = self._leaders.setdefault(key, leader)
        if known != leader:
            raise Violation(
                f"group {self.group}: generation {generation} is led by {known} and by {leader}"
            )
        if not self._may_move:
            self._latest_generation = max(self._latest_generation, generation)

    def assigned(
        self, generation: int, shares: Mapping[str, list[int]], coordinator: int = 0
    ) -> None:
        """Record the leader's assignment; the first one of a generation stays."""
        for member_id, share in shares.items():
            key = (self._history, generation, coordinator, member_id)
            self._assigned.setdefault(key, share)

    def owns(
        self, generation: int, member_id: str, share: Iterable[int], coordinator: int = 0
    ) -> None:
        """Check a SyncGroup response: the generation has been written."""
        share = list(share)
        self._latest_written = max(self._latest_written, generation)
        self._latest_generation = max(self._latest_generation, generation)
        wanted = self._assigned.get((self._history, generation, coordinator, member_id))
        if wanted is not None and share != wanted:
            raise Violation(
                f"group {self.group}: {member_id} got {share} in generation {generation}, its "
                f"leader assigned {wanted}"
            )
        for index in share:
            owner = self._owners.setdefault((self._history, generation, index), member_id)
            if owner != member_id:
                raise Violation(
                    f"group {self.group}: partition {index} belongs to {owner} and {member_id} "
                    f"in generation {generation}"
                )

    # ---------------------------------------------------------------- offsets

    def commit_sent(self, generation: int, index: int) -> Commit:
        """Record a commit that is about to be sent: from now on it may be the valid one."""
        self._ticks += 1
        offset = self._ticks  # nobody has committed it before
        self._possible.setdefault(index, {NOT_COMMITTED}).add(offset)
        self._ever.setdefault(index, set()).add(offset)
        is_late = generation < self._latest_generation
        return Commit(self.life, generation, index, offset, is_late)

    def commit_answered(self, commit: Commit) -> None:
        """Record that it was acknowledged; those acknowledged before it was sent are void. Does
        nothing if the coordinator may have ended since then.
        """
        if commit.life != self.life:
            return
        if commit.is_late:
            raise Violation(
                f"group {self.group}: a commit of generation {commit.generation} was accepted "
                "after a member had joined a later one"
            )
        self.commits += 1
        self._ticks += 1
        answered = self._answered.setdefault(commit.partition, {})
        possible = self._possible[commit.partition]
        possible.discard(NOT_COMMITTED)
        for offset in [at for at, tick in answered.items() if tick < commit.offset]:
            del answered[offset]
            possible.discard(offset)
        answered[commit.offset] = self._ticks

    def commit_refused(self, commit: Commit) -> None:
        """Record a rejection: the commit never counts."""
        self._ever[commit.partition].discard(commit.offset)
        self._possible[commit.partition].discard(commit.offset)

    def snapshot(self, indexes: Iterable[int]) -> dict[int, frozenset[int]]:
        """Return, by partition, the offsets that may be committed now, for `check_fetched`."""
        return {index: frozenset(self._possible.get(index, {NOT_COMMITTED})) for index in indexes}

    def check_fetched(
        self, snapshot: Mapping[int, frozenset[int]], index: int, offset: int
    ) -> None:
        """Check an OffsetFetch response against what was possible when it was sent, or is now."""
        possible = snapshot.get(index, frozenset()) | self._possible.get(index, {NOT_COMMITTED})
        if offset not in possible:
            raise Violation(
                f"group {self.group}: partition {index} is committed at {offset}, expected one of "
                f"{sorted(possible)}"
            )
