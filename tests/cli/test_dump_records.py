from __future__ import annotations

import argparse
import json
import struct

import pytest

from pykbroker.cli import dump_records as dump
from pykbroker.cli.command import CommandError
from pykbroker.decision import MetadataRecord
from pykbroker.kraft.metadata_record_codec import encode_metadata_record
from pykbroker.protocol.control_records import KRAFT_VERSION, encode_key, encode_message
from pykbroker.protocol.messages.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)
from pykbroker.protocol.messages.group_metadata_key import GroupMetadataKey
from pykbroker.protocol.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from pykbroker.protocol.messages.kraft_version_record import KRaftVersionRecord
from pykbroker.protocol.messages.offset_commit_key import OffsetCommitKey
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.protocol.messages.transaction_log_key import TransactionLogKey
from pykbroker.protocol.messages.transaction_log_value import TransactionLogValue
from pykbroker.protocol.parts_writer import join_parts
from pykbroker.protocol.primitives import Message
from pykbroker.protocol.record import Record


def decoder(**flags: object) -> dump.RecordDecoder:
    names = ("offsets", "transaction_log", "cluster_metadata", "share_group_state")
    options: dict[str, object] = {f"{name}_decoder": False for name in names}
    options |= {"key_decoder_class": None, "value_decoder_class": None} | flags
    return dump.decoder_for(argparse.Namespace(**options))


def content(message: Message, prefix: int, version: int) -> bytes:
    """A key or value: its type or version, and the message."""
    parts: list[object] = []
    message.encode(parts, version)  # type: ignore[arg-type]
    return struct.pack(">h", prefix) + join_parts(parts)  # type: ignore[arg-type]


def record(key: bytes | None, value: bytes | None, offset: int = 5) -> Record:
    return Record(offset, 0, key, value)


def test_committed_offsets() -> None:
    key = content(OffsetCommitKey(group="g", topic="t", partition=3), 1, 0)
    value = content(OffsetCommitValue(offset=9, metadata="m", commit_timestamp=1), 3, 3)
    shown_key, shown_value = decoder(offsets_decoder=True).decode(record(key, value))
    assert shown_key == '{"type":"1","data":{"group":"g","topic":"t","partition":3}}'
    assert shown_value is not None
    assert shown_value.startswith('{"version":"3","data":{"offset":9,"leaderEpoch":-1,')
    deleted = decoder(offsets_decoder=True).decode(record(key, None))
    assert deleted == (shown_key, "<DELETE>")


def test_members_of_groups_are_opened() -> None:
    subscription = content(ConsumerProtocolSubscription(topics=["t"]), 1, 1)
    member = MemberMetadata(
        member_id="m",
        client_id="c",
        client_host="h",
        rebalance_timeout=1,
        session_timeout=1,
        subscription=subscription,
        assignment=b"",
    )
    value = GroupMetadataValue(
        protocol_type="consumer", generation=1, protocol="range", leader="m", members=[member]
    )
    key = content(GroupMetadataKey(group="g"), 2, 0)
    _, shown = decoder(offsets_decoder=True).decode(record(key, content(value, 3, 3)))
    assert shown is not None
    (decoded,) = json.loads(shown)["data"]["members"]
    assert decoded["subscription"]["topics"] == ["t"]
    assert decoded["assignment"] == ""


def test_states_of_transactions_have_names() -> None:
    key = content(TransactionLogKey(transactional_id="t"), 0, 0)
    value = TransactionLogValue(producer_id=1, transaction_status=4, transaction_partitions=None)
    _, shown = decoder(transaction_log_decoder=True).decode(record(key, content(value, 0, 0)))
    assert shown is not None
    assert json.loads(shown)["data"]["transactionStatus"] == "CompleteCommit"


def test_what_coordinators_do_not_know() -> None:
    offsets = decoder(offsets_decoder=True)
    unknown = offsets.decode(record(struct.pack(">h", 999), b""))
    assert unknown == ("Unknown record type 999 at offset 5, skipping.", None)
    torn, nothing = offsets.decode(record(b"\x00\x01\x00", b""))
    assert str(torn).startswith("Error at offset 5, skipping. ")
    assert nothing is None
    with pytest.raises(CommandError, match="message had a missing key"):
        offsets.decode(record(None, b"x"))


def test_metadata_records() -> None:
    message = TopicRecord(name="t", topic_id=bytes(15) + b"\x01")
    value = encode_metadata_record(MetadataRecord(message))
    shown = decoder(cluster_metadata_decoder=True).decode(record(None, value))
    assert shown == (
        None,
        (
            '{"type":"TOPIC_RECORD","version":0,"data":'
            '{"name":"t","topicId":"AAAAAAAAAAAAAAAAAAAAAQ"}}'
        ),
    )
    _, error = decoder(cluster_metadata_decoder=True).decode(record(None, b"\x07"))
    assert str(error).startswith("Error at 5, skipping. ")


def test_control_records() -> None:
    key, value = encode_message(KRaftVersionRecord(version=0, kraft_version=1))
    assert dump.control_text(record(key, value)) == ' KRaftVersion {"version":0,"kRaftVersion":1}'
    later = encode_key(KRAFT_VERSION)[:2] + struct.pack(">h", 99)
    assert dump.control_text(record(later, b"")) == " controlType: UNKNOWN(99)"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("org.apache.kafka.tools.api.StringDecoder", "é".encode(), "é"),
        ("StringDecoder", b"\xff", "\ufffd"),
        ("IntegerDecoder", struct.pack(">i", -5), "-5"),
        ("LongDecoder", struct.pack(">q", 1 << 40), str(1 << 40)),
        ("DoubleDecoder", struct.pack(">d", 1e10), "1.0E10"),
    ],
)
def test_plain_values(name: str, value: bytes, text: str) -> None:
    plain = decoder(value_decoder_class=name)
    assert plain.chosen
    assert plain.decode(record(b"k", value)) == ("k", text)


def test_plain_values_that_do_not_fit() -> None:
    with pytest.raises(CommandError, match="LongDecoder: 1 bytes, not 8"):
        decoder(value_decoder_class="LongDecoder").decode(record(None, b"x"))
    with pytest.raises(CommandError, match="Unknown decoder Mine: known are StringDecoder"):
        decoder(key_decoder_class="Mine")


def test_json_as_jackson_writes_it() -> None:
    assert dump.compact({"a": ["é", 1, "\x1f"]}) == '{"a":["é",1,"\\u001F"]}'
