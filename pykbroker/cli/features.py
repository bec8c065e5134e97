"""`pykbroker features`: kafka-features.sh."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pykbroker.cli.admin import AdminClient, BrokerConnection, ServerError, check
from pykbroker.cli.command import CommandError, CommandParser, add_json, print_json, whole_number
from pykbroker.cli.connection_flags import add_connection, connect
from pykbroker.errors import ErrorCode, error_message
from pykbroker.kraft.metadata_version import (
    LATEST_METADATA_VERSION,
    METADATA_VERSION,
    metadata_version_level,
    metadata_version_name,
    metadata_version_names,
)
from pykbroker.kraft.release_features import dependencies, release_levels

DESCRIPTION: Final = "Describe the features of a cluster, or change their levels."

_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE = 1, 2, 3
_TIMEOUT_MS: Final = 60_000
_ACTIONS: Final = {
    "describe": "show which levels are finalised and supported",
    "upgrade": "raise levels",
    "downgrade": "lower levels",
    "disable": "lower levels to 0",
    "version-mapping": "show the levels that belong to a release",
    "feature-dependencies": "show which features a level needs",
}


def add_arguments(parser: CommandParser) -> None:
    add_connection(parser, controllers=True)
    names = "{" + ",".join(_ACTIONS) + "}"
    commands = parser.add_subparsers(dest="action", required=True, metavar=names)
    parsers = {name: commands.add_parser(name, help=text) for name, text in _ACTIONS.items()}
    for name in ("describe", "upgrade", "downgrade", "disable"):
        add_connection(parsers[name], controllers=True, repeated=True)
    parsers["describe"].add_argument(
        "--node-id",
        type=whole_number(32),
        metavar="N",
        help="the node to ask; any node by default",
    )
    add_json(parsers["describe"])
    for name in ("upgrade", "downgrade", "disable"):
        _add_update_arguments(parsers[name], name)
    parsers["version-mapping"].add_argument(
        "--release-version", metavar="V", help="release or metadata.version; default: the latest"
    )
    parsers["feature-dependencies"].add_argument(
        "--feature",
        action="append",
        required=True,
        metavar="NAME=LEVEL",
        help="a feature and its level; may be repeated",
    )


def _add_update_arguments(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument(
        "--feature",
        action="append",
        default=[],
        metavar="NAME" if name == "disable" else "NAME=LEVEL",
        help="a feature to change; may be repeated",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="validate the change without applying it"
    )
    if name != "disable":
        parser.add_argument(
            "--release-version", metavar="V", help="set all features to the levels of this release"
        )
        parser.add_argument("--metadata", metavar="V", help="deprecated: set metadata.version")
    if name != "upgrade":
        parser.add_argument(
            "--unsafe", action="store_true", help="change levels even if metadata is lost"
        )


def run(options: argparse.Namespace) -> int:
    if options.action == "version-mapping":
        return _map_version(options.release_version)
    if options.action == "feature-dependencies":
        return _print_dependencies(options.feature)
    if options.action == "describe":
        return _describe(options)
    updates = _updates(options)
    if not updates:
        raise CommandError(f"You must specify at least one feature to {options.action}")
    with connect(options) as client:
        return _update(client, options, updates)


# --- describe ---------------------------------------------------------------------------------


def _describe(options: argparse.Namespace) -> int:
    from pykbroker.protocol.messages.api_versions_request import ApiVersionsRequest

    node_id: int | None = options.node_id
    if node_id is not None and node_id < 0:
        raise CommandError(f"Invalid node id {node_id}: must be non-negative.")
    request = ApiVersionsRequest(client_software_name="pykbroker-cli", client_software_version="1")
    with connect(options) as client:
        connection = client.any_broker if node_id is None else client.node(node_id)
        response = connection.send(request)
    check(response.error_code)
    if options.json:
        print_json(_as_json(response))
    else:
        print("\n".join(describe(response)))
    return 0


def describe(response: Any) -> list[str]:
    """Return a line for each feature that the node supports, from its ApiVersionsResponse."""
    epoch = response.finalized_features_epoch
    finalized = _finalized(response)
    return [
        f"Feature: {each.name:<40}"
        f"  SupportedMinVersion: {level_text(each.name, each.min_version):<15}"
        f"  SupportedMaxVersion: {level_text(each.name, each.max_version):<15}"
        f"  FinalizedVersionLevel: {level_text(each.name, finalized.get(each.name, 0)):<15}"
        f"  Epoch: {'-' if epoch < 0 else epoch}"
        for each in sorted(response.supported_features, key=lambda each: each.name)
    ]


def _finalized(response: Any) -> dict[str, int]:
    return {each.name: each.max_version_level for each in response.finalized_features}


def _as_json(response: Any) -> object:
    finalized = _finalized(response)
    return [
        {
            "feature": each.name,
            "supportedMinVersion": each.min_version,
            "supportedMaxVersion": each.max_version,
            "finalizedVersionLevel": finalized.get(each.name, 0),
            "epoch": response.finalized_features_epoch,
        }
        for each in sorted(response.supported_features, key=lambda each: each.name)
    ]


def level_text(feature: str, level: int) -> str:
    """Return a level as the script prints it: those of metadata.version have names."""
    if feature != METADATA_VERSION:
        return str(level)
    name = metadata_version_name(level)
    return name if name in metadata_version_names() else f"UNKNOWN {level}"


# --- upgrade, downgrade, disable --------------------------------------------------------------


def _updates(options: argparse.Namespace) -> dict[str, int]:
    """Return the requested level by feature."""
    if options.action == "disable":
        return _once([(name, 0) for name in options.feature])
    if options.release_version is not None:
        if options.metadata is not None or options.feature:
            raise CommandError("Can not specify `release-version` with other feature flags.")
        level = _metadata_level(options.release_version)
        is_upgrade = options.action == "upgrade"
        # To upgrade a feature to 0 is not asked for.
        others = {
            name: each for name, each in release_levels(level).items() if each or not is_upgrade
        }
        return {METADATA_VERSION: level, **others}
    pairs = [parse_level(each) for each in options.feature]
    if options.metadata is not None:
        print(" `metadata` flag is deprecated and may be removed in a future release.")
        pairs.insert(0, (METADATA_VERSION, _metadata_level(options.metadata)))
    for _, level in pairs:
        if level < 0:
            raise CommandError("Cannot specify a negative version level.")
    return _once(pairs)


def _once(pairs: Sequence[tuple[str, int]]) -> dict[str, int]:
    updates: dict[str, int] = {}
    for name, level in pairs:
        if name in updates:
            raise CommandError(f"Feature {name} was specified more than once.")
        if not name:
            raise CommandError("Provided feature can not be empty.")
        updates[name] = level
    return updates


def parse_level(text: str) -> tuple[str, int]:
    """Parse `NAME=LEVEL`."""
    name, equals, level = text.partition("=")
    if not equals:
        raise CommandError(f"Can't parse feature=level string {text}: equals sign not found.")
    try:
        number = int(level)
    except ValueError:
        number = 1 << 15
    if not -(1 << 15) <= number < 1 << 15:
        raise CommandError(
            f"Can't parse feature=level string {text}: unable to parse {level.strip()} as a short."
        )
    return name.strip(), number


def _metadata_level(version: str) -> int:
    level = metadata_version_level(version)
    if level is None:
        raise CommandError(
            f"Unknown metadata.version '{version}'. Supported metadata.version are: "
            + ", ".join(metadata_version_names())
        )
    return level


def _update(client: AdminClient, options: argparse.Namespace, updates: Mapping[str, int]) -> int:
    kind = _UPGRADE
    if options.action != "upgrade":
        kind = _UNSAFE_DOWNGRADE if options.unsafe else _SAFE_DOWNGRADE
    errors = update_features(client, updates, kind, validate_only=options.dry_run)
    for name, level in sorted(updates.items()):
        target = "" if options.action == "disable" else f" to {level}"
        if name in errors:
            verb = "Can not" if options.dry_run else "Could not"
            print(f"{verb} {options.action} {name}{target}. {errors[name]}")
        else:
            verb = "can be" if options.dry_run else "was"
            print(f"{name} {verb} {options.action.removesuffix('e')}ed{target}.")
    if errors:
        raise CommandError(f"{len(errors)} out of {len(updates)} operation(s) failed.")
    return 0


def update_features(
    client: AdminClient, updates: Mapping[str, int], kind: int, *, validate_only: bool
) -> dict[str, str]:
    """Let the controller change these levels; return the errors by feature."""
    from pykbroker.protocol.messages.update_features_request import (
        FeatureUpdateKey,
        UpdateFeaturesRequest,
    )

    request = UpdateFeaturesRequest(
        timeout_ms=_TIMEOUT_MS,
        feature_updates=[
            FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
            for name, level in updates.items()
        ],
        validate_only=validate_only,
    )

    def ask(connection: BrokerConnection) -> dict[str, str]:
        response = connection.send(request)
        if response.error_code == ErrorCode.NOT_CONTROLLER:
            raise ServerError(response.error_code)
        if response.error_code != ErrorCode.NONE:
            message = response.error_message or str(error_message(response.error_code))
            return dict.fromkeys(updates, message)
        return {
            each.feature: each.error_message or str(error_message(each.error_code))
            for each in response.results
            if each.error_code != ErrorCode.NONE
        }

    return client.at_controller(ask)


# --- tables -----------------------------------------------------------------------------------


def _map_version(release: str | None) -> int:
    version = metadata_version_name(LATEST_METADATA_VERSION) if release is None else release
    level = _metadata_level(version)
    print(f"{METADATA_VERSION}={level} ({version})")
    for name, each in release_levels(level).items():
        print(f"{name}={each}")
    return 0


def _print_dependencies(features: Sequence[str]) -> int:
    for text in features:
        name, level = parse_level(text)
        if name == METADATA_VERSION:
            version = metadata_version_name(level)
            if version not in metadata_version_names():
                raise CommandError(f"Unknown metadata.version {level}")
            print(f"{name}={level} ({version}) has no dependencies.")
            continue
        if name not in release_levels(LATEST_METADATA_VERSION):
            raise CommandError(f"Unknown feature: {name}")
        needed = dependencies(name, level)
        if needed is None:
            raise CommandError(f"No feature:{name} with feature level {level}")
        if not needed:
            print(f"{name}={level} has no dependencies.")
            continue
        print(f"{name}={level} requires:")
        for other, least in needed.items():
            print(f"    {other}={least} ({level_text(other, least)})")
    return 0
