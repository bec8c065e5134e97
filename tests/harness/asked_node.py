"""The node that random clients ask: its data, metadata for clients, a group with a member."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

from pykbroker.broker.handlers import join_group, sync_group
from pykbroker.broker.metadata.metadata_view import MetadataView
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from pykbroker.protocol.messages.sync_group_request import SyncGroupRequest
from tests.broker.handlers.group_broker import GroupBroker

GROUP = "g"


class AskedNode(GroupBroker):
    """See the module. All such nodes draw the same random numbers."""

    def __init__(self) -> None:
        drawn = itertools.count(1)
        numbers: Any = SimpleNamespace(new_uuid=lambda: next(drawn).to_bytes(16, "big"))
        self.view = MetadataView("cluster", 1)
        self.cluster_id = "cluster"
        self.member = ("", -1)
        """Id and generation of the member of GROUP."""
        super().__init__(random=numbers)
        self.metadata: Any = self.view
        self.let_join()

    def apply(self, *records: Any) -> None:
        """Publish to the view as well."""
        delta = MetadataDelta(self.node.image)
        for record in records:
            delta.replay(record)
        super().apply(*records)
        self.view.apply(delta, self.node.image)

    def let_join(self) -> None:
        """A static member of GROUP comes, or comes back with another id, if the group lets it."""
        request = JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=60_000,
            group_instance_id="i",
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"\0" * 12)],
        )
        join = self.call(join_group.HANDLER, request, 5)
        self.advance(0)
        if join.is_waiting or join.answer.error_code:
            return
        self.member = (join.answer.member_id, join.answer.generation_id)
        member_id, generation = self.member
        sync = SyncGroupRequest(
            group_id=GROUP,
            generation_id=generation,
            member_id=member_id,
            group_instance_id="i",
        )
        self.call(sync_group.HANDLER, sync, 3)
