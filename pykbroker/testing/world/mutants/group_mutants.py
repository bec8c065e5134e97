"""Broken rules of consumer groups and their offsets."""

from __future__ import annotations

from typing import Any

from pykbroker.testing.world.mutants.mutant import (
    Mutant,
    Patch,
    changing,
    doing_nothing,
    instead,
    returning,
)


def _all_to_everyone(original: Any, step: Any, group: Any, assignments: dict[str, bytes]) -> None:
    everything = bytes(sorted(set().union(*assignments.values())))
    original(step, group, dict.fromkeys(assignments, everything))


def _same_generation(original: Any, group: Any, now_ms: int) -> None:
    before = group.generation
    original(group, now_ms)
    group.generation = max(before, 1)


def _offset_of_neighbour(original: Any, topic: str, index: int, entry: Any, unstable: Any) -> Any:
    answer = original(topic, index, entry, unstable)
    if answer.committed_offset > 0:
        answer.committed_offset += 1
    return answer


def _only_the_first(original: Any, *arguments: Any) -> Any:
    for number, step in enumerate(original(*arguments)):
        if number:
            return
        yield step


def _commit_without_record(original: Any, step: Any, *arguments: Any) -> None:
    original(step, *arguments)
    step.decision.records.clear()


def _first_commit_stays(original: Any, store: Any, *arguments: Any, **named: Any) -> Any:
    group_id, topic, partition = arguments[:3]
    if store.get(group_id, topic, partition) is None:
        return original(store, *arguments, **named)
    return None


GROUP_MUTANTS = (
    Mutant(
        "old-generations-commit",
        "a commit of an old generation is rejected",
        (Patch("coordinator.group.offsets:_check_commit", returning(0)),),
        seed=19,
    ),
    Mutant(
        "commits-not-written",
        "an acknowledged commit is in the log of the coordinator",
        (Patch("coordinator.group.offsets:commit", instead(_commit_without_record)),),
        seed=1,
    ),
    Mutant(
        "first-commit-stays",
        "a later commit replaces an earlier one",
        (
            Patch(
                "coordinator.group.offset_store:OffsetStore.replay_commit",
                instead(_first_commit_stays),
            ),
        ),
        seed=2,
    ),
    Mutant(
        "shared-partitions",
        "each member receives what the leader assigned to it",
        (Patch("coordinator.group.classic.sync:hand_out", instead(_all_to_everyone)),),
        seed=1,
    ),
    Mutant(
        "same-generation",
        "every rebalance starts a new generation",
        (
            Patch(
                "coordinator.group.classic.group:ClassicGroup.start_generation",
                instead(_same_generation),
            ),
        ),
        seed=1,
    ),
    Mutant(
        "offsets-of-others",
        "OffsetFetch returns the committed offset",
        (Patch("coordinator.group.offsets:_fetched", instead(_offset_of_neighbour)),),
        seed=1,
    ),
    Mutant(
        "half-loaded",
        "a coordinator serves requests only after loading its whole log",
        (Patch("coordinator.loading_driver:load", instead(_only_the_first)),),
        seed=11,
    ),
    Mutant(
        "everyone-leads",
        "exactly one member of a generation is its leader",
        (
            Patch(
                "coordinator.group.classic.rebalance:join_success",
                changing(lambda reply: _led_by_itself(reply)),
            ),
        ),
        seed=1,
    ),
    Mutant(
        "syncs-unanswered",
        "a member that waits in SyncGroup gets its assignment",
        (Patch("coordinator.group.classic.sync:hand_out", doing_nothing),),
        seed=21,
    ),
)


def _led_by_itself(reply: Any) -> Any:
    reply.leader = reply.member_id
    return reply
