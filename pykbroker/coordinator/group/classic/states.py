"""The states of a classic group, what requests get in each, and what leads out: as data.

    Empty ----join----> PreparingRebalance ----all joined, or time is up----> CompletingRebalance
      ^                   |   ^        ^                                        |            |
      |                   |   |        '-- member joins, leaves, fails ---------'            |
      '-- no member left -'   '-- member joins, leaves, fails; leader rejoins -- Stable <----'
                                                                            leader's assignment

The labels name the usual causes. JoinGroup and LeaveGroup are not in the table: see `join.py` and
`session.py`.

`Dead` is the name clients know for a group that does not exist; a deleted group is dropped at once.

`RULES` is what the code obeys, what the tests check row by row, and the documentation.
The answers hold for a request that passed the member, generation and protocol checks.
Source: Kafka's `ClassicGroupState.java`, `ClassicGroup.java`, `GroupMetadataManager.java`.
"""

from __future__ import annotations

from enum import Enum

from pykbroker.errors import ErrorCode
from pykbroker.values import value


class GroupState(Enum):
    """The value is the name on the wire (DescribeGroups, ListGroups)."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class SyncAnswer(Enum):
    """What a valid SyncGroup gets when it is not an error."""

    PARK = "waits for the leader's assignment; the leader's own request completes the rebalance"
    ASSIGNMENT = "the member's assignment, at once"


@value
class StateRules:
    """One row of the table. Numbers are error codes, 0 is success.

    heartbeat: a member with the current generation. When it is not UNKNOWN_MEMBER_ID the session
        is extended, also with REBALANCE_IN_PROGRESS.
    sync: a member with the current generation and protocol.
    member_commit: OffsetCommit of a member with the current generation.
    simple_commit: OffsetCommit without generation, member id and instance id.
    extends_session: a member's OffsetCommit counts as a heartbeat.
    offset_delete: OffsetDelete when the protocol type is not "consumer"; consumer groups are
        checked topic by topic (GROUP_SUBSCRIBED_TO_TOPIC).
    delete_group: DeleteGroups.
    shows_protocol: DescribeGroups shows the protocol and the members' metadata.
    can_rebalance: a membership change starts a rebalance.
    leads_to: (what happens, the next state).
    """

    heartbeat: int
    sync: int | SyncAnswer
    member_commit: int
    simple_commit: int
    extends_session: bool
    offset_delete: int
    delete_group: int
    shows_protocol: bool
    can_rebalance: bool
    leads_to: tuple[tuple[str, GroupState], ...]


RULES: dict[GroupState, StateRules] = {
    GroupState.EMPTY: StateRules(
        heartbeat=ErrorCode.UNKNOWN_MEMBER_ID,
        sync=ErrorCode.UNKNOWN_MEMBER_ID,
        member_commit=ErrorCode.NONE,
        simple_commit=ErrorCode.NONE,
        extends_session=False,
        offset_delete=ErrorCode.NONE,
        delete_group=ErrorCode.NONE,
        shows_protocol=False,
        can_rebalance=True,
        leads_to=(
            ("a member joins", GroupState.PREPARING_REBALANCE),
            ("deleted, or the last offset expired", GroupState.DEAD),
        ),
    ),
    GroupState.PREPARING_REBALANCE: StateRules(
        heartbeat=ErrorCode.REBALANCE_IN_PROGRESS,
        sync=ErrorCode.REBALANCE_IN_PROGRESS,
        member_commit=ErrorCode.NONE,
        simple_commit=ErrorCode.UNKNOWN_MEMBER_ID,
        extends_session=True,
        offset_delete=ErrorCode.NON_EMPTY_GROUP,
        delete_group=ErrorCode.NON_EMPTY_GROUP,
        shows_protocol=False,
        can_rebalance=False,
        leads_to=(
            ("all members joined, or the rebalance timeout", GroupState.COMPLETING_REBALANCE),
            ("all members left", GroupState.EMPTY),
        ),
    ),
    GroupState.COMPLETING_REBALANCE: StateRules(
        heartbeat=ErrorCode.NONE,
        sync=SyncAnswer.PARK,
        member_commit=ErrorCode.REBALANCE_IN_PROGRESS,
        simple_commit=ErrorCode.UNKNOWN_MEMBER_ID,
        extends_session=False,
        offset_delete=ErrorCode.NON_EMPTY_GROUP,
        delete_group=ErrorCode.NON_EMPTY_GROUP,
        shows_protocol=False,
        can_rebalance=True,
        leads_to=(
            ("the leader's assignment is written", GroupState.STABLE),
            ("a member joins, changes, leaves or fails", GroupState.PREPARING_REBALANCE),
        ),
    ),
    GroupState.STABLE: StateRules(
        heartbeat=ErrorCode.NONE,
        sync=SyncAnswer.ASSIGNMENT,
        member_commit=ErrorCode.NONE,
        simple_commit=ErrorCode.UNKNOWN_MEMBER_ID,
        extends_session=True,
        offset_delete=ErrorCode.NON_EMPTY_GROUP,
        delete_group=ErrorCode.NON_EMPTY_GROUP,
        shows_protocol=True,
        can_rebalance=True,
        leads_to=(
            ("a member joins, changes, leaves or fails", GroupState.PREPARING_REBALANCE),
            ("the leader joins again", GroupState.PREPARING_REBALANCE),
        ),
    ),
    # A group that does not exist. OffsetCommit without a generation creates it; with one it gets
    # GROUP_ID_NOT_FOUND from version 9, ILLEGAL_GENERATION before.
    GroupState.DEAD: StateRules(
        heartbeat=ErrorCode.UNKNOWN_MEMBER_ID,
        sync=ErrorCode.UNKNOWN_MEMBER_ID,
        member_commit=ErrorCode.GROUP_ID_NOT_FOUND,
        simple_commit=ErrorCode.NONE,
        extends_session=False,
        offset_delete=ErrorCode.GROUP_ID_NOT_FOUND,
        delete_group=ErrorCode.GROUP_ID_NOT_FOUND,
        shows_protocol=False,
        can_rebalance=False,
        leads_to=(),
    ),
}
