"""The bytes of a metadata record, as the value of a record in `__cluster_metadata`.

    frame version (uvarint, 1) | record type (uvarint) | version (uvarint) | the message

Source: Kafka's `AbstractApiMessageSerde.java`, `MetadataRecordSerde.java`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from pykbroker.decision import MetadataRecord
from pykbroker.protocol.primitives import DecodeError, put_uvarint, read_uvarint

FRAME_VERSION: Final = 1

# Record type (API_KEY of the message) -> module and class; loaded on first use.
_KINDS: Final = {
    0: ("register_broker_record", "RegisterBrokerRecord"),
    1: ("unregister_broker_record", "UnregisterBrokerRecord"),
    2: ("topic_record", "TopicRecord"),
    3: ("partition_record", "PartitionRecord"),
    4: ("config_record", "ConfigRecord"),
    5: ("partition_change_record", "PartitionChangeRecord"),
    7: ("fence_broker_record", "FenceBrokerRecord"),
    8: ("unfence_broker_record", "UnfenceBrokerRecord"),
    9: ("remove_topic_record", "RemoveTopicRecord"),
    10: ("delegation_token_record", "DelegationTokenRecord"),
    11: ("user_scram_credential_record", "UserScramCredentialRecord"),
    12: ("feature_level_record", "FeatureLevelRecord"),
    14: ("client_quota_record", "ClientQuotaRecord"),
    15: ("producer_ids_record", "ProducerIdsRecord"),
    17: ("broker_registration_change_record", "BrokerRegistrationChangeRecord"),
    18: ("access_control_entry_record", "AccessControlEntryRecord"),
    19: ("remove_access_control_entry_record", "RemoveAccessControlEntryRecord"),
    20: ("no_op_record", "NoOpRecord"),
    21: ("zk_migration_state_record", "ZkMigrationStateRecord"),
    22: ("remove_user_scram_credential_record", "RemoveUserScramCredentialRecord"),
    23: ("begin_transaction_record", "BeginTransactionRecord"),
    24: ("end_transaction_record", "EndTransactionRecord"),
    25: ("abort_transaction_record", "AbortTransactionRecord"),
    26: ("remove_delegation_token_record", "RemoveDelegationTokenRecord"),
    27: ("register_controller_record", "RegisterControllerRecord"),
    28: ("clear_elr_record", "ClearElrRecord"),
    29: ("unregister_controller_record", "UnregisterControllerRecord"),
}
_loaded: dict[int, Any] = {}


def record_class(kind: int) -> Any:
    """Return the message class of a record type. Raises DecodeError for an unknown type."""
    found = _loaded.get(kind)
    if found is None:
        if kind not in _KINDS:
            raise DecodeError(f"no metadata record has the type {kind}")
        module, name = _KINDS[kind]
        found = getattr(import_module(f"pykbroker.protocol.messages.{module}"), name)
        _loaded[kind] = found
    return found


def encode_metadata_record(record: MetadataRecord) -> bytes:
    """Encode a record as value bytes."""
    message = record.message
    value = bytearray((FRAME_VERSION,))
    put_uvarint(value, message.API_KEY)
    put_uvarint(value, record.version)
    message.encode([value], record.version)
    return bytes(value)


def decode_metadata_record(value: bytes | memoryview) -> MetadataRecord:
    """Decode value bytes to a record. Raises DecodeError if they are invalid."""
    try:
        frame_version, pos = read_uvarint(value, 0)
        if frame_version != FRAME_VERSION:
            raise DecodeError(f"metadata records of the frame version {frame_version} are unknown")
        kind, pos = read_uvarint(value, pos)
        version, pos = read_uvarint(value, pos)
    except IndexError:
        raise DecodeError(f"a metadata record of {len(value)} bytes has no message") from None
    message, pos = record_class(kind).decode(value, pos, version)
    if pos != len(value):
        raise DecodeError(f"{len(value) - pos} bytes left over after a metadata record")
    return MetadataRecord(message, version)
