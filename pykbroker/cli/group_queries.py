"""Queries of commands about groups: their list, their committed offsets, their description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pykbroker.cli.admin import AdminClient, check
from pykbroker.cli.command import CommandError


def list_groups(
    client: AdminClient, states: Sequence[str] = (), types: Sequence[str] = ()
) -> list[Any]:
    """Return the groups of all brokers, filtered by the brokers."""
    from pykbroker.protocol.messages.list_groups_request import ListGroupsRequest

    request = ListGroupsRequest(states_filter=list(states), types_filter=list(types))
    found: dict[str, Any] = {}
    for node in client.nodes():
        response = client.node(node).send(request)
        check(response.error_code)
        for each in response.groups:
            found[each.group_id] = each
    return [found[group_id] for group_id in sorted(found)]


def committed_offsets(client: AdminClient, group: str) -> dict[tuple[str, int], tuple[int, int]]:
    """Return (offset, leader epoch) of every partition that the group committed."""
    from pykbroker.protocol.messages.offset_fetch_request import (
        OffsetFetchRequest,
        OffsetFetchRequestGroup,
    )

    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=None)])

    def ask(connection: Any) -> dict[tuple[str, int], tuple[int, int]]:
        # Version 9: version 10 names topics by id, which the commit may outlive.
        (result,) = connection.send(request, 9).groups
        check(result.error_code)
        found: dict[tuple[str, int], tuple[int, int]] = {}
        for topic in result.topics:
            for each in topic.partitions:
                check(each.error_code)
                if each.committed_offset >= 0:
                    key = (topic.name, each.partition_index)
                    found[key] = (each.committed_offset, each.committed_leader_epoch)
        return found

    return client.at_coordinator(group, ask)


class NotConsumerGroupError(CommandError):
    """A group of another protocol, such as Kafka Connect's: its bytes are not a consumer's."""

    def __init__(self, group: str, protocol_type: str) -> None:
        super().__init__(f"GroupId {group} is not a consumer group ({protocol_type}).")


def describe_group(client: AdminClient, group: str) -> Any:
    """Return DescribeGroups of one group, which must be a group of consumers."""
    from pykbroker.protocol.messages.describe_groups_request import DescribeGroupsRequest

    def ask(connection: Any) -> Any:
        (result,) = connection.send(DescribeGroupsRequest(groups=[group])).groups
        check(result.error_code, getattr(result, "error_message", None))
        if result.protocol_type not in ("consumer", ""):
            raise NotConsumerGroupError(group, result.protocol_type)
        return result

    return client.at_coordinator(group, ask)
