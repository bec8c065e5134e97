"""Formats log directories before a node's first start: `storage format`.

    each of log.dirs         meta.properties: cluster id, node id, a unique directory id
    the metadata directory   __cluster_metadata-0/00000000000000000000-0000000000.checkpoint:
                             the first voters and the finalised features (of controllers)

`format_storage` implements the command. `ensure_storage` is called at startup: it formats empty
directories, and rejects those of another cluster or node and those with other contents.
Source: Kafka's `Formatter.java`, `MetaPropertiesEnsemble.java`, `KafkaRaftServer.scala`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final

from pykbroker.config import BrokerConfig
from pykbroker.decision import MetadataRecord
from pykbroker.environment.files import Files
from pykbroker.kraft.metadata_snapshot import BOOTSTRAP, encode_snapshot
from pykbroker.kraft.metadata_version import (
    FIRST_DIRECTORY_ASSIGNMENT,
    FORMATTED_FEATURES,
    KRAFT_VERSION,
    METADATA_VERSION,
    metadata_version_name,
    supports_directory_assignment,
)
from pykbroker.kraft.raft.initial_voters import default_voters
from pykbroker.kraft.raft.voters import VoterSet
from pykbroker.log.directories.checkpoints import META_PROPERTIES, CorruptCheckpoint, MetaProperties
from pykbroker.protocol.messages.feature_level_record import FeatureLevelRecord
from pykbroker.protocol.primitives import DecodeError, uuid_from_str, uuid_to_str
from pykbroker.values import NamedTuple

_log = logging.getLogger(__name__)

METADATA_DIRECTORY: Final = "__cluster_metadata-0"

# What a fresh directory may contain: files of a mount point, our lock, remains of an interrupted
# format.
_HARMLESS: Final = frozenset({"lost+found", ".lock", f"{META_PROPERTIES}.tmp"})
_FORMATTING: Final = frozenset({BOOTSTRAP.file_name, f"{BOOTSTRAP.file_name}.part"})


class StorageError(Exception):
    """The storage cannot be used, or not be formatted as asked; the text is for the operator."""


class UnreadableDirectory(StorageError):
    """The identity of a directory cannot be read; the node can run without it, unless it has the
    metadata log.
    """


class Storage(NamedTuple):
    """The directories of one node, and those that were formatted just now; one that cannot be read
    has no id.
    """

    cluster_id: str
    directory_ids: dict[str, bytes]
    formatted: list[str]


def metadata_log_path(config: BrokerConfig) -> str:
    """`…/__cluster_metadata-0`"""
    return f"{config.metadata_log_directory}/{METADATA_DIRECTORY}"


def all_directories(config: BrokerConfig) -> list[str]:
    """Return log.dirs, and metadata.log.dir if it is a different directory."""
    directories = list(config.log_directories)
    if config.metadata_log_directory not in directories:
        directories.append(config.metadata_log_directory)
    return directories


def read_meta_properties(files: Files, directory: str) -> MetaProperties | None:
    """Read a directory's identity; None if it was never formatted.

    Raises StorageError if it is damaged, UnreadableDirectory if it cannot be read.
    """
    path = f"{directory}/{META_PROPERTIES}"
    try:
        return MetaProperties.from_bytes(files.read_file(path), path)
    except FileNotFoundError:
        return None
    except CorruptCheckpoint as fault:
        raise StorageError(str(fault)) from None
    except OSError as fault:
        raise UnreadableDirectory(f"{path}: {fault.strerror}") from fault


class Formatted(NamedTuple):
    """The result of `format_storage`, by directory; `failed` has the reason for each."""

    formatted: list[str]
    unreadable: list[str]
    failed: dict[str, str]


def format_storage(
    files: Files,
    config: BrokerConfig,
    cluster_id: str,
    *,
    now_ms: int,
    new_uuid: Callable[[], bytes],
    voters: VoterSet | None,
    ignore_formatted: bool = False,
    features: Mapping[str, int] = FORMATTED_FEATURES,
) -> Formatted:
    """Format every configured directory that is not yet formatted.

    `voters` are those of a new quorum; None: they are static, or known to other nodes. If this node
    is one of them, its metadata directory receives the directory id given there.

    A directory that cannot be read or written does not keep the others from being formatted. Raises
    StorageError and writes nothing if `cluster_id` is no UUID, if one is already formatted (unless
    `ignore_formatted`), damaged, of another cluster or node, or has a metadata log but no identity,
    or if none can be read.
    """
    _check_uuid(cluster_id)
    outcome = Formatted([], [], {})
    fresh: list[str] = []
    found: list[str] = []
    for directory in all_directories(config):
        try:
            properties = read_meta_properties(files, directory)
        except UnreadableDirectory:
            outcome.unreadable.append(directory)
            continue
        if properties is None:
            if _holds_metadata(files, directory):
                raise StorageError(
                    f"{directory} has no {META_PROPERTIES}, but a metadata log: it cannot be "
                    "formatted over that"
                )
            fresh.append(directory)
            continue
        _check_owner(properties, directory, cluster_id, config.node_id)
        found.append(directory)
    if found and not ignore_formatted:
        raise StorageError(
            f"Log directory {found[0]} is already formatted. Use --ignore-formatted to "
            "ignore this directory and format the others."
        )
    if not fresh and not found:
        raise StorageError("No available log directories to format.")
    for directory in fresh:
        try:
            _write(files, config, cluster_id, [directory], now_ms, new_uuid, features, voters)
        except StorageError as fault:
            outcome.failed[directory] = str(fault)
        else:
            outcome.formatted.append(directory)
    return outcome


class Survey(NamedTuple):
    """The identities of the directories, and the empty ones."""

    found: dict[str, MetaProperties]
    fresh: list[str]
    cluster_id: str | None


def survey_directories(files: Files, config: BrokerConfig) -> Survey:
    """Check that every directory belongs to this node or is empty. Writes nothing; raises
    StorageError.

    An unreadable directory is left to the log manager, which takes it offline, unless it has the
    metadata log.
    """
    found: dict[str, MetaProperties] = {}
    fresh: list[str] = []
    cluster_id: str | None = None
    for directory in all_directories(config):
        try:
            properties = read_meta_properties(files, directory)
        except UnreadableDirectory:
            if directory == config.metadata_log_directory:
                raise
            continue
        if properties is None:
            check_empty(files, directory)
            fresh.append(directory)
            continue
        if cluster_id is None:
            cluster_id = properties.cluster_id
        _check_owner(properties, directory, cluster_id, config.node_id)
        identity = properties.directory_id
        if identity is not None and identity in [at.directory_id for at in found.values()]:
            raise StorageError(f"{directory} has the directory.id of another log directory")
        found[directory] = properties
    if found and config.metadata_log_directory in fresh:
        raise StorageError(
            f"{config.metadata_log_directory} holds no metadata log, but other log directories of "
            f"this node do belong to cluster {cluster_id}: was it replaced?"
        )
    return Survey(found, fresh, cluster_id)


def check_log_directories(config: BrokerConfig, features: Mapping[str, int]) -> None:
    """Raise StorageError if the cluster is too old for several log directories (KIP-858)."""
    level = features.get(METADATA_VERSION)
    if level is None or supports_directory_assignment(level) or len(config.log_directories) == 1:
        return
    needed = metadata_version_name(FIRST_DIRECTORY_ASSIGNMENT)
    raise StorageError(
        "Multiple log directories (aka JBOD) are not supported in the current MetadataVersion "
        f"{metadata_version_name(level)}. Need {needed} or higher"
    )


def ensure_storage(
    files: Files,
    config: BrokerConfig,
    *,
    now_ms: int,
    new_uuid: Callable[[], bytes],
    new_cluster_id: str | None = None,
) -> Storage:
    """Make sure that every directory belongs to this node; empty ones are formatted, and those from
    before KIP-858 get an id. Raises StorageError.

    The cluster id is that of the formatted directories. If there are none, it is `new_cluster_id`,
    or a random one.
    """
    found, fresh, cluster_id = survey_directories(files, config)
    if cluster_id is None:
        cluster_id = new_cluster_id or uuid_to_str(new_uuid())
        _check_uuid(cluster_id)
    # A directory from before KIP-858 has no id yet.
    nameless = [directory for directory, at in found.items() if at.directory_id is None]
    unnamed = fresh + nameless
    voters = None
    if config.metadata_log_directory in unnamed:
        voters = default_voters(config, new_uuid)
        if voters is None and config.is_controller and not config.controller_quorum_voters:
            _log.warning(
                "%s is formatted without voters: this controller looks for the quorum of "
                "controller.quorum.bootstrap.servers. To begin a new quorum, empty it and format "
                "it by pykbroker storage format with --initial-controllers or --standalone",
                config.metadata_log_directory,
            )
    _write(files, config, cluster_id, unnamed, now_ms, new_uuid, FORMATTED_FEATURES, voters)
    ids = {path: at.directory_id for path, at in found.items() if at.directory_id is not None}
    for directory in unnamed:
        written = read_meta_properties(files, directory)
        if written is None or written.directory_id is None:
            raise StorageError(f"{directory}/{META_PROPERTIES} could not be written")
        ids[directory] = written.directory_id
    return Storage(cluster_id, ids, fresh)


def _check_uuid(cluster_id: str) -> None:
    try:
        uuid_from_str(cluster_id)
    except (DecodeError, ValueError):
        raise StorageError(
            f"Cluster ID string {cluster_id} does not appear to be a valid UUID"
        ) from None


def _check_owner(
    properties: MetaProperties, directory: str, cluster_id: str | None, node_id: int
) -> None:
    if properties.cluster_id != cluster_id:
        raise StorageError(
            f"Invalid cluster.id in: {directory}/{META_PROPERTIES}. Expected {cluster_id}, but "
            f"read {properties.cluster_id}"
        )
    if properties.node_id != node_id:
        raise StorageError(
            f"Stored node id {properties.node_id} in {directory}/{META_PROPERTIES} doesn't match "
            f"the configured node.id {node_id}"
        )


def check_empty(files: Files, directory: str) -> None:
    """Raise StorageError if a directory has foreign contents: a start never formats it (`storage
    format` does).
    """
    try:
        names = files.listdir(directory) if files.is_dir(directory) else []
    except OSError as fault:
        raise StorageError(f"{directory}: {fault.strerror}") from fault
    harmless = set(_HARMLESS)
    if not _holds_metadata(files, directory):
        harmless.add(METADATA_DIRECTORY)
    foreign = sorted(name for name in names if name not in harmless)
    if foreign:
        raise StorageError(
            f"{directory} has no {META_PROPERTIES} and is not empty (it holds {foreign[0]}): "
            "use an empty directory, or format it with `pykbroker storage format`"
        )


def _holds_metadata(files: Files, directory: str) -> bool:
    """Return whether there is more of a metadata log than an interrupted format leaves."""
    path = f"{directory}/{METADATA_DIRECTORY}"
    return files.is_dir(path) and not set(files.listdir(path)) <= _FORMATTING


def _write(
    files: Files,
    config: BrokerConfig,
    cluster_id: str,
    directories: list[str],
    now_ms: int,
    new_uuid: Callable[[], bytes],
    features: Mapping[str, int],
    voters: VoterSet | None,
) -> None:
    """Write the metadata directory's checkpoint first, because
    meta.properties marks a directory as complete.
    """
    for directory in directories:
        try:
            files.mkdir(directory)
            holds_metadata = directory == config.metadata_log_directory
            if holds_metadata and voters is not None and config.node_id in voters.nodes:
                directory_id = voters.nodes[config.node_id].key.directory_id
            else:
                directory_id = new_uuid()
            if holds_metadata and config.is_controller:
                _write_bootstrap(files, config, now_ms, features, voters)
            properties = MetaProperties(cluster_id, config.node_id, directory_id)
            path = f"{directory}/{META_PROPERTIES}"
            files.replace_file(path, properties.to_bytes(now_ms))
            files.sync_dir(directory.rpartition("/")[0] or "/")
        except OSError as fault:
            raise StorageError(f"{directory}: {fault.strerror}") from fault


def _write_bootstrap(
    files: Files,
    config: BrokerConfig,
    now_ms: int,
    features: Mapping[str, int],
    voters: VoterSet | None,
) -> None:
    path = f"{metadata_log_path(config)}/{BOOTSTRAP.file_name}"
    # An existing checkpoint names another directory id: it remains from an interrupted format.
    files.mkdir(metadata_log_path(config))
    # A static list of voters (controller.quorum.voters) is kraft.version 0: it stays in the file.
    kraft_version = 0 if config.controller_quorum_voters else features.get(KRAFT_VERSION, 0)
    batches = encode_snapshot(
        BOOTSTRAP,
        bootstrap_records(features),
        kraft_version=kraft_version,
        voters=voters,
        last_contained_log_timestamp_ms=now_ms,
        now_ms=now_ms,
    )
    partial = f"{path}.part"
    files.write_file(partial, b"".join(batches), sync=True)
    files.make_read_only(partial)
    files.rename(partial, path)
    files.sync_dir(metadata_log_path(config))


def bootstrap_records(features: Mapping[str, int]) -> list[MetadataRecord]:
    """FeatureLevel records of the finalised features; kraft.version has its own records."""
    names = sorted(features, key=lambda name: (name != METADATA_VERSION, name))
    return [
        MetadataRecord(FeatureLevelRecord(name=name, feature_level=features[name]))
        for name in names
        if name != KRAFT_VERSION and features[name] > 0
    ]
