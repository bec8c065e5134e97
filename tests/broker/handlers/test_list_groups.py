"""ListGroups on the wire, in every version."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.list_groups import HANDLER, MOST_FILTERS
from pykbroker.protocol.messages.list_groups_request import ListGroupsRequest
from tests.broker.handlers.data_plane import error_reply
from tests.broker.handlers.group_broker import GroupBroker


@pytest.mark.parametrize("version", range(6))
def test_list(version: int) -> None:
    broker = GroupBroker()
    broker.stable_group()
    broker.commit("simple")
    answer = broker.ask(HANDLER, ListGroupsRequest(), version)
    found = {group.group_id: group for group in answer.groups}
    assert {name: group.protocol_type for name, group in found.items()} == {
        "g": "consumer",
        "simple": "",
    }
    if version >= 4:
        assert found["simple"].group_state == "Empty"
    if version >= 5:
        assert found["g"].group_type == "classic"
    call = broker.call(HANDLER, ListGroupsRequest(), version)
    assert error_reply(HANDLER, call.request, 15, None).error_code == 15


def test_filters() -> None:
    broker = GroupBroker()
    broker.stable_group()
    broker.commit("simple")
    answer = broker.ask(HANDLER, ListGroupsRequest(states_filter=["stable"]), 5)
    assert [group.group_id for group in answer.groups] == ["g"]
    answer = broker.ask(HANDLER, ListGroupsRequest(types_filter=["share"]), 5)
    assert answer.groups == []


def test_a_broker_that_coordinates_nothing() -> None:
    answer = GroupBroker(ready=False).ask(HANDLER, ListGroupsRequest(), 5)
    assert (answer.error_code, answer.groups) == (0, [])


def test_very_many_filters_are_not_looked_through_by_every_partition() -> None:
    broker = GroupBroker()
    broker.stable_group()
    broker.commit("simple")
    strange = [f"x{number}" for number in range(30)]

    def names(**filters: list[str]) -> list[str]:
        call = broker.call(HANDLER, ListGroupsRequest(**filters), 5)  # type: ignore[arg-type]
        assert len(call.request.message.states_filter) <= MOST_FILTERS
        assert len(call.request.message.types_filter) <= MOST_FILTERS
        return sorted(group.group_id for group in call.answer.groups)

    assert names(states_filter=strange) == []
    assert names(states_filter=[*strange, " sTable "]) == ["g"]
    assert names(types_filter=strange) == []
    assert names(types_filter=[*strange, "Classic"]) == ["g", "simple"]
    assert names(types_filter=[*strange, " classic"]) == []
