"""`pykbroker storage format|info|random-uuid`: kafka-storage.sh.

`pykbroker start` formats an empty directory by itself; this command is for users who choose the
cluster id, the first voters or the levels of features, or want to inspect a directory.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from pykbroker.cli.command import CommandError, CommandParser
from pykbroker.config.broker_config import BrokerConfig
from pykbroker.config.definition import ConfigError
from pykbroker.config.load import complete_standalone, describes_quorum, load_config
from pykbroker.environment.real.files import RealFiles
from pykbroker.log.directories.checkpoints import META_PROPERTIES, CorruptCheckpoint, MetaProperties

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pykbroker.kraft.raft.voters import VoterSet

DESCRIPTION: Final = "Format the data directories of a node, or describe them."


def add_arguments(parser: CommandParser) -> None:
    commands = parser.add_subparsers(
        dest="action", required=True, metavar="{info,format,random-uuid}"
    )
    describing = commands.add_parser("info", help="describe the data directories of this node")
    _add_config(describing)
    format_ = commands.add_parser("format", help="format the data directories of this node")
    _add_config(format_)
    format_.add_argument(
        "-t",
        "--cluster-id",
        required=True,
        metavar="ID",
        help="cluster id, such as random-uuid prints",
    )
    format_.add_argument(
        "-g",
        "--ignore-formatted",
        action="store_true",
        help="skip directories that are already formatted",
    )
    quorum = format_.add_mutually_exclusive_group()
    quorum.add_argument(
        "-s",
        "--standalone",
        action="store_true",
        help="this node is the only voter (the default if no other controller is configured)",
    )
    quorum.add_argument(
        "-I",
        "--initial-controllers",
        metavar="ID@HOST:PORT:DIRECTORY-ID,...",
        help="the voters of a new quorum; the same for all nodes",
    )
    quorum.add_argument(
        "-N",
        "--no-initial-controllers",
        action="store_true",
        help="the voters are known to other controllers: controller.quorum.bootstrap.servers",
    )
    format_.add_argument(
        "-r",
        "--release-version",
        metavar="V",
        help="release (3.9) or metadata.version (3.9-IV0) to finalise; default: the latest",
    )
    format_.add_argument(
        "-f",
        "--feature",
        action="append",
        default=[],
        metavar="NAME=LEVEL",
        help="finalise a feature at this level; may be repeated",
    )
    commands.add_parser("random-uuid", help="print a random UUID")


def _add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-c", "--config", required=True, metavar="FILE", help="server.properties")


def run(options: argparse.Namespace) -> int:
    if options.action == "random-uuid":
        print(random_uuid())
        return 0
    config = _load(options.config)
    return _describe(config) if options.action == "info" else _format(config, options)


def random_uuid() -> str:
    """Return a random UUID in Kafka's base64; never one that a command line takes for a flag."""
    from pykbroker.protocol.primitives import uuid_to_str

    while True:
        text = uuid_to_str(uuid4().bytes)
        if not text.startswith("-"):  # Uuid.randomUuid() avoids these too
            return text


def _load(file: str) -> BrokerConfig:
    try:
        properties = load_config(file)
    except ConfigError as error:
        raise CommandError(error.message) from error
    if not describes_quorum(properties):
        complete_standalone(properties)
    try:
        return BrokerConfig.from_properties(properties)
    except ConfigError as error:
        raise CommandError(properties.locate(error)) from error


def _directories(config: BrokerConfig) -> list[str]:
    return sorted({*config.log_directories, config.metadata_log_directory})


def _describe(config: BrokerConfig) -> int:
    files = RealFiles()
    found: list[str] = []
    problems: list[str] = []
    metadata: MetaProperties | None = None
    for directory in _directories(config):
        if not files.exists(directory):
            problems.append(f"{directory} does not exist")
            continue
        if not files.is_dir(directory):
            problems.append(f"{directory} is not a directory")
            continue
        found.append(directory)
        path = f"{directory}/{META_PROPERTIES}"
        if not files.exists(path):
            problems.append(f"{directory} is not formatted.")
            continue
        try:
            properties = MetaProperties.from_bytes(files.read_file(path), path)
        except (CorruptCheckpoint, OSError) as error:
            problems.append(f"Error loading {path}: {error}")
            continue
        if metadata is None:
            metadata = properties
        elif properties.cluster_id != metadata.cluster_id:
            problems.append("Mismatched cluster IDs between storage directories.")
        elif properties.node_id != metadata.node_id:
            problems.append("Mismatched node IDs between storage directories.")
    _print_block("Found log director" + ("y" if len(found) == 1 else "ies"), found)
    if metadata is not None:
        print(f"Found metadata: {_shown(metadata)}\n")
    _print_block("Found problem" + ("" if len(problems) == 1 else "s"), problems)
    return 1 if problems else 0


def _print_block(title: str, lines: Sequence[str]) -> None:
    if lines:
        print(f"{title}:")
        for line in lines:
            print(f"  {line}")
        print()


def _shown(metadata: MetaProperties) -> str:
    """Format like MetaProperties.toString: keys in alphabetical order."""
    from pykbroker.protocol.primitives import uuid_to_str

    directory = metadata.directory_id
    parts = {
        "cluster.id": metadata.cluster_id,
        "directory.id": None if directory is None else uuid_to_str(directory),
        "node.id": metadata.node_id,
        "version": metadata.version,
    }
    shown = (f"{key}={value}" for key, value in parts.items() if value is not None)
    return "{" + ", ".join(shown) + "}"


def _format(config: BrokerConfig, options: argparse.Namespace) -> int:
    from pykbroker.kraft.format_features import formatted_features, parse_feature_levels
    from pykbroker.kraft.metadata_version import METADATA_VERSION, metadata_version_name
    from pykbroker.kraft.storage_format import StorageError, format_storage

    try:
        voters = initial_voters(config, options)
        features = formatted_features(
            options.release_version,
            parse_feature_levels(options.feature),
            has_dynamic_quorum=not config.controller_quorum_voters,
        )
        outcome = format_storage(
            RealFiles(),
            config,
            options.cluster_id,
            now_ms=int(time.time() * 1000),
            new_uuid=lambda: uuid4().bytes,
            voters=voters,
            ignore_formatted=options.ignore_formatted,
            features=features,
        )
    except (StorageError, OSError) as error:
        raise CommandError(str(error)) from error
    for directory in outcome.unreadable:
        print(f"I/O error trying to read log directory {directory}. Ignoring...")
    if not outcome.formatted and not outcome.failed:
        print("All of the log directories are already formatted.")
        return 0
    print(f"Bootstrap metadata: {_bootstrap(features)}")
    version = metadata_version_name(features[METADATA_VERSION])
    metadata_directory = config.metadata_log_directory
    for directory in sorted(outcome.formatted, key=metadata_directory.__eq__):
        kind = _metadata_kind(config, voters) if directory == metadata_directory else "data"
        print(f"Formatting {kind} directory {directory} with metadata.version {version}.")
    if outcome.failed:
        reasons = "; ".join(outcome.failed.values())
        raise CommandError(f"Not formatted: {reasons}")
    return 0


def initial_voters(config: BrokerConfig, options: argparse.Namespace) -> VoterSet | None:
    """Return the voters of a new quorum, from the flags and the configuration; None if this node
    does not have to know them. Raises CommandError, or StorageError for a malformed flag.
    """
    from pykbroker.kraft.raft.initial_voters import names_other_controllers, standalone_voters
    from pykbroker.kraft.raft.voters_text import parse_voters

    if config.controller_quorum_voters and (options.standalone or options.initial_controllers):
        raise CommandError(
            "You cannot specify controller.quorum.voters and format the node with "
            "--initial-controllers or --standalone. If you want to use dynamic quorum, please "
            "remove controller.quorum.voters and specify controller.quorum.bootstrap.servers "
            "instead."
        )
    if options.initial_controllers is not None:
        return parse_voters(options.initial_controllers, config.controller_listener_names[0])
    if options.standalone and not config.is_controller:
        raise CommandError("You can only use --standalone on a controller.")
    if not config.is_controller or config.controller_quorum_voters:
        return None
    if options.no_initial_controllers:
        return None
    if not options.standalone and names_other_controllers(config):
        raise CommandError(
            "Because controller.quorum.voters is not set on this controller, you must specify one "
            "of the following: --standalone, --initial-controllers, or --no-initial-controllers."
        )
    return standalone_voters(config, lambda: uuid4().bytes)


def _metadata_kind(config: BrokerConfig, voters: VoterSet | None) -> str:
    """Return the kind of the metadata directory (Formatter.DirectoryType)."""
    if voters is None:
        return "metadata"
    is_voter = config.node_id in voters.nodes
    return "dynamic metadata voter" if is_voter else "dynamic metadata"


def _bootstrap(features: Mapping[str, int]) -> str:
    """Format the bootstrap records like BootstrapMetadata.toString."""
    from pykbroker.kraft.metadata_version import METADATA_VERSION
    from pykbroker.kraft.storage_format import bootstrap_records

    records = ", ".join(
        f"ApiMessageAndVersion(FeatureLevelRecord(name='{each.message.name}', "
        f"featureLevel={each.message.feature_level}) at version 0)"
        for each in bootstrap_records(features)
    )
    level = features[METADATA_VERSION]
    return (
        f"BootstrapMetadata(records=[{records}], metadataVersionLevel={level}, "
        "source=format command)"
    )
