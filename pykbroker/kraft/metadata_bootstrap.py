"""What a node starts from before it has read anything from the quorum: bootstrap records, voters.

Functions over the configuration and the formatted directories.
Source: Kafka's `BootstrapMetadata.java`, `QuorumConfig.java`.
"""

from __future__ import annotations

from pykbroker.config import BrokerConfig
from pykbroker.decision import MetadataRecord
from pykbroker.environment.files import Files
from pykbroker.kraft.metadata_log import MetadataLog
from pykbroker.kraft.metadata_snapshot import (
    BOOTSTRAP,
    CorruptSnapshot,
    Snapshot,
    decode_snapshot,
)
from pykbroker.kraft.metadata_version import unsupported_features
from pykbroker.kraft.publisher import UnsupportedCluster
from pykbroker.kraft.raft.initial_voters import names_other_controllers
from pykbroker.kraft.raft.voters import ReplicaKey, VoterEndpoint, VoterNode, VoterSet
from pykbroker.kraft.storage_format import METADATA_DIRECTORY, StorageError
from pykbroker.log.directories.partition_directories import parse_directory_name
from pykbroker.protocol.primitives import DecodeError


def bootstrap_of(
    config: BrokerConfig, files: Files, latest: Snapshot | None
) -> list[MetadataRecord]:
    """Return the records for an empty log, from the checkpoint of formatting; empty without one,
    or if there is a later snapshot.

    Raises UnsupportedCluster if they finalise a feature that this node does not know, StorageError
    if the file of a Kafka before 4.3 cannot be decoded.
    """
    records: list[MetadataRecord] = []
    if latest is not None and latest.id == BOOTSTRAP:
        records = latest.records
    elif latest is None:
        # Kafka before 4.3 kept them beside the metadata log, in the log directory itself.
        path = f"{config.metadata_log_directory}/bootstrap.checkpoint"
        if files.exists(path):
            try:
                records = decode_snapshot(BOOTSTRAP, files.read_file(path)).records
            except (CorruptSnapshot, DecodeError) as fault:
                raise StorageError(f"{path}: {fault}") from fault
    levels = {
        record.message.name: record.message.feature_level
        for record in records
        if type(record.message).__name__ == "FeatureLevelRecord"
    }
    reasons = unsupported_features(levels)
    if reasons:
        raise UnsupportedCluster("This broker cannot serve the cluster: " + "; ".join(reasons))
    return records


def refuse_lost_metadata(
    config: BrokerConfig, files: Files, log: MetadataLog, bootstrap: list[MetadataRecord]
) -> None:
    """Refuse to start a lone controller, whose log is empty, if there are partitions: it knows no
    topics, so all of them would be set aside.

    Raises StorageError for these, or if there are no bootstrap records either.
    """
    for log_directory in config.log_directories:
        if not files.is_dir(log_directory):
            continue
        for name in files.listdir(log_directory):
            parsed = parse_directory_name(name)
            if parsed is None or parsed.kind or name == METADATA_DIRECTORY:
                continue
            raise StorageError(
                f"{log.directory} has lost its records, but {log_directory} holds partitions "
                f"({name}): without their metadata all of them would be set aside"
            )
    if not bootstrap:
        raise StorageError(f"{log.directory} holds no metadata: format the directory again")


def static_voters(config: BrokerConfig, local: VoterNode, latest: Snapshot | None) -> VoterSet:
    """Return the voters of controller.quorum.voters (`1@host:9093`), which
    apply while kraft.version is 0.

    A controller that has neither these nor another bootstrap server is a quorum by itself, unless
    it was formatted to join an existing quorum (`--no-initial-controllers`).
    """
    nodes: list[VoterNode] = []
    if latest is not None and latest.kraft_version > 0 and latest.voters is None:
        return VoterSet(nodes)
    name = local.endpoints[0].name
    for entry in config.controller_quorum_voters:
        node_id, _, address = str(entry).partition("@")
        host, _, port = address.rpartition(":")
        endpoint = VoterEndpoint(name, host.strip("[]"), int(port))
        nodes.append(VoterNode(ReplicaKey(int(node_id)), (endpoint,)))
    if not nodes and config.is_controller and not names_other_controllers(config):
        nodes.append(local._replace(key=ReplicaKey(local.key.id)))
    return VoterSet(nodes)
