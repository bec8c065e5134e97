"""`pykbroker configs`: kafka-configs.sh."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pykbroker.cli.admin import AdminClient, BrokerConnection, check
from pykbroker.cli.command import CommandError, CommandParser, add_json, print_json
from pykbroker.cli.connection_flags import add_connection, connect
from pykbroker.config.definition import ConfigError, ConfigSource
from pykbroker.values import NamedTuple

DESCRIPTION: Final = "Describe or change configuration of topics, brokers and groups at run time."

_SET: Final = 0
_DELETE: Final = 1

# Entity type -> (resource type, source of values set on the entity itself).
_RESOURCES: Final = {
    "topics": (2, ConfigSource.DYNAMIC_TOPIC_CONFIG),
    "brokers": (4, ConfigSource.DYNAMIC_BROKER_CONFIG),
    "broker-loggers": (8, ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG),
    "client-metrics": (16, ConfigSource.CLIENT_METRICS_CONFIG),
    "groups": (32, ConfigSource.GROUP_CONFIG),
}
_QUOTA_TYPES: Final = ("users", "clients", "ips")
_SOURCES: Final = {
    0: "UNKNOWN",
    1: "DYNAMIC_TOPIC_CONFIG",
    2: "DYNAMIC_BROKER_CONFIG",
    3: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    4: "STATIC_BROKER_CONFIG",
    5: "DEFAULT_CONFIG",
    6: "DYNAMIC_BROKER_LOGGER_CONFIG",
    7: "DYNAMIC_CLIENT_METRICS_CONFIG",
    8: "DYNAMIC_GROUP_CONFIG",
}
_SHORT_FLAGS: Final = {
    "topic": "topics",
    "broker": "brokers",
    "broker_logger": "broker-loggers",
    "group": "groups",
    "client_metrics": "client-metrics",
    "user": "users",
    "client": "clients",
    "ip": "ips",
}
_COMMA: Final = re.compile(r",(?=[^\]]*(?:\[|$))")
_EQUALS: Final = re.compile(r"\s*=\s*(?=[^\]]*(?:\[|$))")


class Entity(NamedTuple):
    type: str
    name: str | None

    @property
    def singular(self) -> str:
        return self.type[:-1]


def add_arguments(parser: CommandParser) -> None:
    add_connection(parser)
    parser.add_argument("--describe", action="store_true", help="show configuration")
    parser.add_argument("--alter", action="store_true", help="change configuration")
    parser.add_argument(
        "--all", action="store_true", help="also describe values that are not set explicitly"
    )
    types = ", ".join((*_RESOURCES, *_QUOTA_TYPES))
    parser.add_argument("--entity-type", action="append", metavar="TYPE", help=f"one of {types}")
    parser.add_argument("--entity-name", action="append", metavar="NAME", help="name of the entity")
    parser.add_argument(
        "--entity-default", action="store_true", help="the default entity of the given type"
    )
    parser.add_argument(
        "--add-config",
        metavar="K=V,K=[V,V]",
        help="values to set; brackets hold values with commas",
    )
    parser.add_argument(
        "--add-config-file", metavar="FILE", help="properties file with values to set"
    )
    parser.add_argument("--delete-config", metavar="K,K", help="keys to remove")
    for flag in _SHORT_FLAGS:
        name = flag.replace("_", "-")
        parser.add_argument(
            f"--{name}",
            metavar="NAME",
            help=f"short for --entity-type {_SHORT_FLAGS[flag]} --entity-name NAME",
        )
    for name in ("broker", "user", "client", "ip"):
        parser.add_argument(
            f"--{name}-defaults",
            action="store_true",
            help=f"short for --entity-type {name}s --entity-default",
        )
    add_json(parser)
    parser.set_defaults(parser=parser)


def run(options: argparse.Namespace) -> int:
    entity = _checked_entity(options)
    with connect(options) as client:
        if options.alter:
            _alter(client, entity, options)
        else:
            _describe(client, entity, options)
    return 0


def _checked_entity(options: argparse.Namespace) -> Entity:
    error = options.parser.error
    if options.alter == options.describe:
        error("Command must include exactly one action: --describe, --alter")
    types = list(options.entity_type or ())
    names = list(options.entity_name or ())
    if options.entity_default:
        names.append("")
    for flag, type_ in _SHORT_FLAGS.items():
        if getattr(options, flag) is not None:
            types.append(type_)
            names.append(getattr(options, flag))
        if getattr(options, f"{flag}_defaults", False):
            types.append(type_)
            names.append("")
    if not types:
        error("At least one entity type must be specified")
    for type_ in types:
        if type_ not in _RESOURCES and type_ not in _QUOTA_TYPES:
            known = ", ".join((*_RESOURCES, *_QUOTA_TYPES))
            error(f"Invalid entity type {type_}, the entity type must be one of {known}")
    if any(type_ in _QUOTA_TYPES for type_ in types):
        raise CommandError("Quotas and credentials of users, clients and ips are not built yet")
    if len(types) > 1:
        error("Only one entity type may be specified")
    if len(names) > 1:
        error("Only one entity name may be specified")
    entity = Entity(types[0], names[0] if names else None)
    if options.alter:
        _check_alter(options, entity)
    return entity


def _check_alter(options: argparse.Namespace, entity: Entity) -> None:
    if entity.name is None:
        raise CommandError("An entity name must be specified for every entity type")
    if not (options.add_config or options.add_config_file or options.delete_config):
        options.parser.error(
            "At least one of --add-config, --add-config-file, or --delete-config must be "
            "specified with --alter"
        )
    if options.add_config and options.add_config_file:
        options.parser.error("Only one of --add-config or --add-config-file must be specified")
    if not entity.name and entity.type != "brokers":
        raise CommandError(f"There are no default configs for {entity.type}")


def _is_default_of_brokers(entity: Entity) -> bool:
    return entity.type == "brokers" and entity.name == ""


# --- alter --------------------------------------------------------------------------------------


def parse_added(options: argparse.Namespace) -> dict[str, str]:
    """Return --add-config or --add-config-file as a mapping."""
    if options.add_config_file:
        from pykbroker.config.load import load_file

        try:
            added = dict(load_file(options.add_config_file))
        except ConfigError as error:
            raise CommandError(error.message) from error
    else:
        added = {}
        for pair in _COMMA.split(options.add_config or "") if options.add_config else ():
            parts = _EQUALS.split(pair)
            if len(parts) != 2:
                raise CommandError(
                    "Invalid entity config: all configs to be added must be in the format "
                    '"key=val" or  "key=[val1,val2]" to group values which contain commas.'
                )
            added[parts[0].strip()] = re.sub(r"\[?\]?", "", parts[1]).strip()
    for name in added:
        if not re.fullmatch(r"[$a-zA-Z0-9._-]*", name):
            raise CommandError(f"Invalid character found for config key: {name}")
    return added


def _alter(client: AdminClient, entity: Entity, options: argparse.Namespace) -> None:
    from pykbroker.protocol.messages.incremental_alter_configs_request import (
        AlterableConfig,
        AlterConfigsResource,
        IncrementalAlterConfigsRequest,
    )

    assert entity.name is not None
    added = parse_added(options)
    deleted = [each.strip() for each in (options.delete_config or "").split(",") if each.strip()]
    if entity.type in ("brokers", "broker-loggers") and entity.name:
        _check_broker_id(entity)
    changes = [
        AlterableConfig(name=name, config_operation=_DELETE, value="") for name in deleted
    ] + [
        AlterableConfig(name=name, config_operation=_SET, value=value)
        for name, value in added.items()
    ]
    request = IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=_RESOURCES[entity.type][0],
                resource_name=entity.name,
                configs=changes,
            )
        ]
    )
    for result in _owner(client, entity).send(request).responses:
        check(result.error_code, result.error_message)
    if entity.name:
        print(f"Completed updating config for {entity.singular} {entity.name}.")
    else:
        print(f"Completed updating default config for {entity.type} in the cluster.")


def _check_broker_id(entity: Entity) -> None:
    try:
        int(entity.name or "")
    except ValueError as error:
        raise CommandError(
            f"The entity name for {entity.type} must be a valid integer broker id, found: "
            f"{entity.name}"
        ) from error


def _owner(client: AdminClient, entity: Entity) -> BrokerConnection:
    """Return the broker itself for its own configuration, and any broker for everything else."""
    if entity.type in ("brokers", "broker-loggers") and entity.name:
        return client.node(int(entity.name))
    return client.any_broker


# --- describe -----------------------------------------------------------------------------------


def _describe(client: AdminClient, entity: Entity, options: argparse.Namespace) -> None:
    if not options.all and entity.name is not None and not _exists(client, entity):
        print(
            f"The {entity.singular} '{entity.name}' doesn't exist and doesn't have dynamic config."
        )
        return
    names = [entity.name] if entity.name is not None else _names(client, entity.type)
    shown = []
    for name in names:
        each = Entity(entity.type, name)
        entries = _entries(client, each, everything=options.all)
        if options.json:
            shown.append(
                {"type": each.singular, "name": name, "configs": list(map(_json, entries))}
            )
            continue
        if _is_default_of_brokers(each):
            print(f"Default configs for {each.type} in the cluster are:")
        else:
            kind = "All" if options.all else "Dynamic"
            print(f"{kind} configs for {each.singular} {name} are:")
        for entry in entries:
            print("  " + _line(entry))
    if options.json:
        print_json(shown)


def _exists(client: AdminClient, entity: Entity) -> bool:
    name = entity.name or ""
    if entity.type in ("brokers", "broker-loggers") and name == "":
        return entity.type == "brokers"
    if entity.type in ("brokers", "broker-loggers"):
        return name in map(str, client.nodes())
    return name in _names(client, entity.type)


def _names(client: AdminClient, type_: str) -> list[str]:
    """Return all entities of a type; for brokers also the default, whose name is empty."""
    if type_ == "topics":
        return client.topic_names()
    if type_ == "brokers":
        return [*map(str, client.nodes()), ""]
    if type_ == "broker-loggers":
        return list(map(str, client.nodes()))
    names = set(_resources(client, type_))
    if type_ == "groups":
        from pykbroker.cli.group_queries import list_groups

        names |= {each.group_id for each in list_groups(client)}
    return sorted(names)


def _resources(client: AdminClient, type_: str) -> Iterable[str]:
    from pykbroker.protocol.messages.list_config_resources_request import (
        ListConfigResourcesRequest,
    )

    request = ListConfigResourcesRequest(resource_types=[_RESOURCES[type_][0]])
    response = client.any_broker.send(request)
    check(response.error_code)
    return [each.resource_name for each in response.config_resources]


def _entries(client: AdminClient, entity: Entity, *, everything: bool) -> Sequence[Any]:
    from pykbroker.protocol.messages.describe_configs_request import (
        DescribeConfigsRequest,
        DescribeConfigsResource,
    )

    type_, source = _RESOURCES[entity.type]
    if _is_default_of_brokers(entity):
        source = ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(
                resource_type=type_, resource_name=entity.name or "", configuration_keys=None
            )
        ],
        include_synonyms=True,
    )
    (result,) = _owner(client, entity).send(request).results
    check(result.error_code, result.error_message)
    entries = [each for each in result.configs if everything or each.config_source == source]
    return sorted(entries, key=lambda each: each.name)


def _line(entry: Any) -> str:
    synonyms = ", ".join(
        f"{_SOURCES.get(each.source, 'UNKNOWN')}:{each.name}={_null(each.value)}"
        for each in entry.synonyms
    )
    sensitive = "true" if entry.is_sensitive else "false"
    return f"{entry.name}={_null(entry.value)} sensitive={sensitive} synonyms={{{synonyms}}}"


def _null(value: str | None) -> str:
    return "null" if value is None else value


def _json(entry: Any) -> Mapping[str, object]:
    return {
        "name": entry.name,
        "value": entry.value,
        "sensitive": entry.is_sensitive,
        "readOnly": entry.read_only,
        "source": _SOURCES.get(entry.config_source, "UNKNOWN"),
        "synonyms": [
            {"name": each.name, "value": each.value, "source": _SOURCES.get(each.source, "UNKNOWN")}
            for each in entry.synonyms
        ],
    }
