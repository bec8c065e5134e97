"""The JSON form; that it is Apache's is proven in tests/interop/test_protocol_oracles.py."""

from __future__ import annotations

import json
import math
import random

import pytest

from pykbroker.protocol.api import message_class
from pykbroker.protocol.json_form import from_json, to_json
from pykbroker.protocol.messages.client_quota_record import ClientQuotaRecord
from pykbroker.protocol.messages.fetch_request import FetchRequest, ReplicaState
from pykbroker.protocol.messages.partition_record import PartitionRecord
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.messages.request_header import RequestHeader
from pykbroker.protocol.primitives import DecodeError, EncodeError
from tests.protocol.random_messages import PAIRS, MessageMaker, encode


def produce(records: bytes | None) -> ProduceRequest:
    rows = [PartitionProduceData(index=1, records=records)]
    return ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="t", partition_data=rows)])


def test_one_message_in_full() -> None:
    record = PartitionRecord(
        partition_id=3,
        topic_id=bytes(range(16)),
        replicas=[1, 2],
        isr=[1],
        leader=1,
        directories=[bytes(15) + b"\x01"],
    )
    assert to_json(record, 1) == {
        "partitionId": 3,
        "topicId": "AAECAwQFBgcICQoLDA0ODw",
        "replicas": [1, 2],
        "isr": [1],
        "removingReplicas": [],
        "addingReplicas": [],
        "leader": 1,
        "leaderEpoch": -1 if PartitionRecord().leader_epoch == -1 else 0,
        "partitionEpoch": -1 if PartitionRecord().partition_epoch == -1 else 0,
        "directories": ["AAAAAAAAAAAAAAAAAAAAAQ"],
    }


def test_records_are_empty_or_a_size() -> None:
    row = to_json(produce(b"x" * 10), 7)["topicData"][0]["partitionData"][0]
    assert row == {"index": 1, "records": ""}
    row = to_json(produce(b"x" * 10), 7, serialize_records=False)["topicData"][0]["partitionData"][
        0
    ]
    assert row == {"index": 1, "recordsSizeInBytes": 10}
    assert to_json(produce(None), 7)["topicData"][0]["partitionData"][0]["records"] is None


def test_every_message_comes_back_from_its_json() -> None:
    maker = MessageMaker(random.Random(11), unknown_tags=False)
    for name, version in PAIRS:
        message = maker.make(name, version)
        node = json.loads(json.dumps(to_json(message, version)))
        back = from_json(message_class(name), node, version)
        assert to_json(back, version) == node
        assert from_json(message_class(name), node, version) == back
        assert message_class(name).decode(encode(back, version), 0, version)[1] > 0 or node == {}


def test_tagged_fields_at_their_default_are_left_out() -> None:
    assert "replicaState" not in to_json(FetchRequest(), 15)
    assert "replicaState" not in to_json(FetchRequest(replica_state=ReplicaState()), 15)
    node = to_json(FetchRequest(replica_state=ReplicaState(replica_id=3)), 15)
    assert node["replicaState"] == {"replicaId": 3, "replicaEpoch": -1}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 0.1, 5.0])
def test_floats_that_json_lacks_are_strings(value: float) -> None:
    record = ClientQuotaRecord(key="k", value=value)
    node = json.loads(json.dumps(to_json(record, 0), allow_nan=False))
    assert repr(from_json(ClientQuotaRecord, node, 0).value) == repr(value)
    assert isinstance(node["value"], str) == (not math.isfinite(value))


def test_a_default_struct_with_unknown_tags_is_shown() -> None:
    state = ReplicaState(unknown_tags={5: b"x"})
    node = to_json(FetchRequest(replica_state=state), 15)
    assert node["replicaState"] == {"replicaId": -1, "replicaEpoch": -1}


def test_what_a_version_cannot_say_is_refused() -> None:
    with pytest.raises(EncodeError, match="ReplicaState"):
        to_json(FetchRequest(replica_state=ReplicaState(replica_id=3)), 14)
    with pytest.raises(EncodeError, match="no version"):
        to_json(FetchRequest(), 3)
    with pytest.raises(DecodeError, match="no version"):
        from_json(FetchRequest, {}, 3)
    with pytest.raises(EncodeError, match="null"):
        to_json(FetchRequest(topics=None), 4)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"requestApiKey": "x"}, "not an int16"),
        ({"requestApiKey": 40000}, "not an int16"),
        ({"requestApiKey": True}, "not an int16"),
        ({"requestApiKey": None}, "is null"),
        ({"clientId": 3}, "not a string"),
    ],
)
def test_wrong_json_is_refused(change: dict[str, object], message: str) -> None:
    node = to_json(RequestHeader(client_id="c"), 2)
    with pytest.raises(DecodeError, match=message):
        from_json(RequestHeader, node | change, 2)


def test_missing_fields_and_wrong_shapes_are_refused() -> None:
    with pytest.raises(DecodeError, match="has no field 'requestApiKey'"):
        from_json(RequestHeader, {}, 1)
    with pytest.raises(DecodeError, match="not a JSON object"):
        from_json(RequestHeader, [], 1)
    node = to_json(produce(b""), 7)
    with pytest.raises(DecodeError, match="not a JSON array"):
        from_json(ProduceRequest, node | {"topicData": {}}, 7)
