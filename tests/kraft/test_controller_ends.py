"""The controller ends in the middle of what it does: its term is over, or its node stops."""

from __future__ import annotations

import pytest

from pykbroker.decision import MetadataRecord
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.kraft import node_driver
from pykbroker.kraft.metadata_log import LogBatch
from pykbroker.protocol.messages.topic_record import TopicRecord
from tests.kraft.node_world import NodeWorld
from tests.kraft.test_controller_driver import Sliced, Waiting, no_ops


def test_a_node_that_stops_in_the_middle_of_a_change_decides_nothing_more() -> None:
    """Its slices end before its logs are closed, and it leads the quorum until then: the machine
    may have replayed what is not in the log.
    """

    class SlicesEnded(BaseException):
        pass

    world = NodeWorld().open()
    driver = world.controller
    sliced = driver._slices = Sliced()
    replies: list[Deferred] = []

    def end_within_the_replay() -> None:
        if len(breaths) == 4:  # the topic, and one of its partitions, are replayed
            sliced.at_breath = lambda: None
            replies.append(driver.run(no_ops(1, atomic=False)))
            raise SlicesEnded
        breaths.append(None)

    breaths: list[None] = []
    sliced.at_breath = end_within_the_replay
    with pytest.raises(SlicesEnded):
        world.create("half", 3)
    replies.append(world.create("next"))
    assert [reply.value.code for reply in replies] == [ErrorCode.NOT_CONTROLLER] * 2
    assert not driver.is_active
    assert not world.node.image.topics_by_name


def test_a_term_that_is_over_before_its_first_slice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next leader's batch may have been delivered in part: the image cannot be copied then."""
    monkeypatch.setattr(node_driver, "INDEXED_AT_ONCE", 0)
    world = NodeWorld().open()
    world.create("a")
    world.controller.on_leader(False, 2)
    slices = world.controller._slices = Waiting()
    world.controller.on_leader(True, 3)
    assert slices.jobs == ["beginning of a term"]
    world.controller.on_leader(False, 4)
    topic = MetadataRecord(TopicRecord(name="d", topic_id=bytes(15) + b"d"), 0)
    end = world.node.image.offset + 1
    world.node.on_commit([LogBatch(end, end, 4, 0, 0, [topic], [], is_end=False)])
    slices.go_on()
    assert not world.controller.is_active
    assert not world.fatal
