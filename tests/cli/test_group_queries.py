from __future__ import annotations

import pytest

from pykbroker.cli.admin import AdminClient, ServerError
from pykbroker.cli.group_queries import committed_offsets, describe_group, list_groups
from pykbroker.errors import ErrorCode
from pykbroker.testing import Broker


def test_what_a_group_committed(broker: Broker, committed: str, filled: str) -> None:
    with AdminClient(broker.bootstrap_servers) as client:
        offsets = committed_offsets(client, committed)
        assert {key: offset for key, (offset, _) in offsets.items()} == {(filled, 0): 3}
        assert committed_offsets(client, "nobody") == {}


def test_what_a_group_is(broker: Broker, committed: str) -> None:
    with AdminClient(broker.bootstrap_servers) as client:
        assert describe_group(client, committed).group_state == "Empty"
        with pytest.raises(ServerError) as refusal:
            describe_group(client, "nobody")
    assert refusal.value.code == ErrorCode.GROUP_ID_NOT_FOUND


def test_which_groups_there_are(broker: Broker, committed: str) -> None:
    with AdminClient(broker.bootstrap_servers) as client:
        ids = [each.group_id for each in list_groups(client)]
        assert committed in ids
        assert ids == sorted(ids)
        assert committed in [each.group_id for each in list_groups(client, ["Empty"], ["Classic"])]
        assert committed not in [each.group_id for each in list_groups(client, ["Stable"])]
