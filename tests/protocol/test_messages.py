"""The generated messages: every kind and version against itself, and against damage."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pykbroker.protocol.api import message_class
from pykbroker.protocol.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest
from pykbroker.protocol.messages.consumer_group_member_metadata_value import (
    ClassicMemberMetadata,
    ConsumerGroupMemberMetadataValue,
)
from pykbroker.protocol.messages.fetch_request import FetchRequest, ReplicaState
from pykbroker.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from pykbroker.protocol.messages.metadata_request import MetadataRequest
from pykbroker.protocol.messages.offset_fetch_request import OffsetFetchRequest
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.messages.sasl_handshake_request import SaslHandshakeRequest
from pykbroker.protocol.parts_writer import join_parts, parts_size
from pykbroker.protocol.primitives import DecodeError, EncodeError, Message
from tests.protocol.random_messages import PAIRS, SCHEMAS, MessageMaker, encode, mutate


class FilePart:
    """Stands for bytes in a file."""

    def __init__(self, size: int) -> None:
        self.size = size

    def part_size(self) -> int:
        return self.size

    def read(self) -> bytes:
        return b"F" * self.size


def test_every_message_and_version_survives_a_round_trip() -> None:
    assert len(PAIRS) > 500
    rng = random.Random(1)
    maker = MessageMaker(rng)
    for name, version in PAIRS:
        cls = message_class(name)
        for message in (cls(), *(maker.make(name, version) for _ in range(3))):
            wire = encode(message, version)
            back, end = cls.decode(wire, 0, version)
            assert end == len(wire)
            assert encode(back, version) == wire, (name, version)
            again, end = cls.decode(memoryview(b"__" + wire + b"rest"), 2, version)
            assert end == len(wire) + 2
            assert again == back
            assert repr(back).startswith(name)


def test_a_default_message_decodes_to_itself() -> None:
    for name, version in PAIRS:
        cls = message_class(name)
        assert cls.decode(encode(cls(), version), 0, version)[0] == cls(), (name, version)


def test_every_cut_is_refused() -> None:
    maker = MessageMaker(random.Random(2), unknown_tags=True)
    for name, version in PAIRS:
        wire = encode(maker.make(name, version), version)
        for size in {len(wire) - 1, len(wire) // 2, 0} - {len(wire)}:
            if size < 0:
                continue
            with pytest.raises(DecodeError):
                message_class(name).decode(wire[:size], 0, version)


def test_damage_raises_nothing_but_decode_errors() -> None:
    # Invariant: decode answers a message that can be shown, or raises DecodeError.
    rng = random.Random(3)
    maker = MessageMaker(rng)
    refused = taken = 0
    for name, version in PAIRS:
        wire = encode(maker.make(name, version), version)
        for _ in range(10):
            try:
                message, end = message_class(name).decode(mutate(rng, wire), 0, version)
            except DecodeError:
                refused += 1
            else:
                taken += 1
                assert 0 <= end <= len(wire) + 32
                assert repr(message)
    assert refused > 1000
    assert taken > 1000


def test_class_constants_are_those_of_the_schema() -> None:
    for name, schema in SCHEMAS.items():
        cls = message_class(name)
        flexible = schema.flexible.low if schema.flexible else 32767
        versions = (schema.versions.low, schema.stable_max, schema.versions.high)
        assert versions == (cls.MIN_VERSION, cls.MAX_VERSION, cls.LATEST_VERSION)
        assert (schema.api_key, flexible) == (cls.API_KEY, cls.FLEXIBLE_FROM)


def test_versions_that_do_not_exist_are_refused() -> None:
    for version in (-1, 2, 14):
        with pytest.raises(DecodeError, match="has no version"):
            ProduceRequest.decode(b"\0" * 100, 0, version)
        with pytest.raises(EncodeError, match="has no version"):
            ProduceRequest().encode([], version)


@pytest.mark.parametrize("version", [8, 12])
def test_arrays_that_claim_more_than_the_frame_holds(version: int) -> None:
    count = b"\xff\xff\xff\xff\x07" if version >= 9 else b"\x7f\xff\xff\xff"
    prefix = b"\0" if version >= 9 else b"\xff\xff"
    wire = prefix + b"\0\1" + b"\0\0\0\0" + count + b"\0" * 1000
    with pytest.raises(DecodeError, match="topic_data claims"):
        ProduceRequest.decode(wire, 0, version)


def test_more_than_a_million_elements_are_refused_as_kafka_does() -> None:
    names = b"\0\0" * 1_000_001
    with pytest.raises(DecodeError, match="claims 1000001"):
        MetadataRequest.decode(b"\x00\x0f\x42\x41" + names, 0, 1)
    taken, _ = MetadataRequest.decode(b"\x00\x0f\x42\x40" + names, 0, 1)
    assert taken.topics is not None
    assert len(taken.topics) == 1_000_000


def test_inner_arrays_of_a_request_have_a_limit_together() -> None:
    topic = b"\0\x01t" + (300_000).to_bytes(4, "big") + b"\0" * 4 * 300_000
    group = b"\0\x01g"
    taken, _ = OffsetFetchRequest.decode(group + b"\0\0\0\3" + topic * 3, 0, 1)
    assert [len(each.partition_indexes) for each in taken.topics or ()] == [300_000] * 3
    with pytest.raises(DecodeError, match="too many elements in all partition_indexes"):
        OffsetFetchRequest.decode(group + b"\0\0\0\4" + topic * 4, 0, 1)


def test_null_in_a_non_nullable_field() -> None:
    with pytest.raises(DecodeError, match="non-nullable field mechanism"):
        SaslHandshakeRequest.decode(b"\xff\xff", 0, 1)
    with pytest.raises(EncodeError):
        SaslHandshakeRequest(mechanism=None).encode([], 1)  # type: ignore[arg-type]


def test_bad_utf8_is_replaced_as_java_does() -> None:
    message, _ = SaslHandshakeRequest.decode(b"\x00\x06a\xed\xa0\x80\xffb", 0, 1)
    assert message.mechanism == "a\ufffd\ufffdb"


def test_records_are_views_and_become_parts_of_their_own() -> None:
    large = bytes(5000)
    wire = encode(
        ProduceRequest(
            topic_data=[
                TopicProduceData(
                    name="t", partition_data=[PartitionProduceData(index=1, records=large)]
                )
            ]
        ),
        9,
    )
    frame = memoryview(wire)
    request, _ = ProduceRequest.decode(frame, 0, 9)
    records = request.topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert records.obj is wire
    part = FilePart(100_000)
    rows = [PartitionData(partition_index=0, records=part), PartitionData(records=records)]
    response = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=rows)])
    out: list[Any] = []
    response.encode(out, 12)
    assert [type(x) for x in out] == [bytearray, FilePart, bytearray, memoryview, bytearray]
    assert out[1] is part
    assert out[3] is records
    joined = join_parts(out)
    assert len(joined) == parts_size(out)
    back, _ = FetchResponse.decode(joined, 0, 12)
    assert back.responses[0].partitions[0].records == b"F" * 100_000
    assert back.responses[0].partitions[1].records == large


def test_a_field_that_the_version_lacks_must_be_at_its_default() -> None:
    with pytest.raises(EncodeError, match="replica_state"):
        FetchRequest(replica_state=ReplicaState(replica_id=1)).encode([], 14)
    FetchRequest(replica_state=ReplicaState()).encode([], 14)
    with pytest.raises(EncodeError, match="v3_and_below_transactional_id"):
        AddPartitionsToTxnRequest(v3_and_below_transactional_id="t").encode([], 4)
    # rack_id is ignorable
    FetchRequest(rack_id="r").encode([], 4)


def test_unknown_tags_are_kept_in_order_and_refused_by_old_versions() -> None:
    leader = LeaderIdAndEpoch(leader_id=1, leader_epoch=2, unknown_tags={5: b"five"})
    rows = [PartitionData(current_leader=leader, unknown_tags={200: b"x", 9: b"", 77: b"yz"})]
    message = FetchResponse(responses=[FetchableTopicResponse(partitions=rows)])
    wire = encode(message, 12)
    back, _ = FetchResponse.decode(wire, 0, 12)
    row = back.responses[0].partitions[0]
    assert row.unknown_tags == {9: b"", 77: b"yz", 200: b"x"}
    assert row.current_leader == leader
    assert row.diverging_epoch is None
    assert encode(back, 12) == wire
    with pytest.raises(EncodeError, match="unknown_tags"):
        encode(MetadataRequest(unknown_tags={1: b""}), 8)
    with pytest.raises(EncodeError, match="clash"):
        encode(FetchRequest(cluster_id="c", unknown_tags={0: b""}), 12)


def test_a_nullable_tagged_struct_writes_its_null() -> None:
    # Its default is an empty struct, so that null is a value: Apache writes it for every member
    # that speaks the consumer protocol.
    null = ConsumerGroupMemberMetadataValue(classic_member_metadata=None)
    assert encode(null, 0).endswith(b"\x01\x00\x01\x00")
    absent = ConsumerGroupMemberMetadataValue()
    assert encode(absent, 0) == encode(null, 0)[:-4] + b"\x00"
    for message in (null, absent):
        assert ConsumerGroupMemberMetadataValue.decode(encode(message, 0), 0, 0)[0] == message
    assert absent.classic_member_metadata == ClassicMemberMetadata()


@pytest.mark.parametrize("bad", ["text", 2**31, None, 1.5])
def test_values_outside_their_type_are_encode_errors(bad: object) -> None:
    with pytest.raises(EncodeError):
        encode(FetchRequest(max_wait_ms=bad), 12)  # type: ignore[arg-type]


def test_strings_longer_than_kafkas_limit_are_encode_errors() -> None:
    for version in (0, 1):
        with pytest.raises(EncodeError):
            encode(SaslHandshakeRequest(mechanism="x" * 32768), version)
    with pytest.raises(EncodeError, match="longer than"):
        encode(ProduceRequest(transactional_id="x" * 32768), 9)


def test_equality_is_by_class_and_value() -> None:
    assert FetchRequest() == FetchRequest()
    assert FetchRequest() != FetchRequest(max_bytes=1)
    assert FetchRequest() != ProduceRequest()
    assert FetchRequest().topics is not FetchRequest().topics
    with pytest.raises(TypeError):
        hash(FetchRequest())
    with pytest.raises(TypeError, match="ReplicaState is a part"):
        ReplicaState().encode([], 1)
    with pytest.raises(TypeError, match="Message is a part"):
        Message.decode(b"", 0, 0)
