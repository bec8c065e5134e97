"""DescribeConfigs: what a key's value is, where it comes from, and what else could decide it.

In: the layers of configuration of a node, a topic or a group.
Out: `ConfigValue` entries, as ConfigHelper.scala answers them: in the order of the table of keys,
those of all brokers' dynamic configuration by name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pykbroker.config.broker_keys import BROKER_KEYS, DYNAMIC_ONLY_KEYS, broker_synonyms
from pykbroker.config.definition import (
    ConfigSource,
    ConfigSynonym,
    ConfigType,
    ConfigValue,
    Key,
    UpdateMode,
    Value,
    value_text,
)

# The layers that decide a broker key, strongest first.
Layers = Sequence[tuple[int, Mapping[str, str]]]


def broker_key_of(name: str) -> Key | None:
    """The key behind a name, without a `listener.name.x.` in front of it; None if there is none,
    as for names that carry a SASL mechanism.
    """
    for each in broker_synonyms(name):
        key = BROKER_KEYS.get(each) or DYNAMIC_ONLY_KEYS.get(each)
        if key is not None:
            return key
    return None


def layered_synonyms(name: str, layers: Layers) -> list[ConfigSynonym]:
    """Every setting that could decide `name`, strongest first, starting with its own name.

    Other names in front are dropped (`dropWhile` in ConfigHelper.configSynonyms): Kafka shows
    log.retention.hours as the reason of retention.ms only behind a log.retention.ms.
    """
    names = broker_synonyms(name)
    found: list[ConfigSynonym] = []
    for source, layer in layers:
        for each in names:
            if each in layer:
                found.append(_synonym(each, layer[each], source))
    for each in names:
        key = BROKER_KEYS.get(each)
        if key is not None and key.default is not None:
            found.append(_synonym(each, key.default_text, ConfigSource.DEFAULT_CONFIG))
    start = next((i for i, each in enumerate(found) if each.name == name), len(found))
    return found[start:]


def _synonym(name: str, value: str | None, source: int) -> ConfigSynonym:
    key = broker_key_of(name)
    hidden = key is None or key.type is ConfigType.PASSWORD
    return ConfigSynonym(name, None if hidden else value, int(source))


def describe_broker(
    values: Mapping[str, Value], layers: Layers, names: Collection[str] | None
) -> list[ConfigValue]:
    """Return entries of the keys of a node (`names`; empty or None: all), internal keys only when
    they are set.
    """
    configured = {name for _, layer in layers for name in layer}
    result = []
    for name, key in BROKER_KEYS.items():
        if (names and name not in names) or (key.internal and name not in configured):
            continue
        result.append(_broker_entry(name, key, value_text(values[name]), layers))
    for name in sorted(configured - BROKER_KEYS.keys()):
        other = broker_key_of(name)
        if other is None or (names and name not in names):
            continue
        text = next(layer[name] for _, layer in layers if name in layer)
        entry = _broker_entry(name, other, text, layers)
        entry.name = name
        entry.read_only = name not in DYNAMIC_ONLY_KEYS
        result.append(entry)
    return result


def describe_cluster_default(
    cluster: Mapping[str, str], names: Collection[str] | None
) -> list[ConfigValue]:
    """Return entries of what is set for all brokers (the resource with the empty name); `names` as
    above.
    """
    layers = ((ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG, cluster),)
    result = []
    for name, text in sorted(cluster.items()):
        key = broker_key_of(name)
        if key is None or (names and name not in names):
            continue
        entry = _broker_entry(name, key, text, layers)
        entry.name = name
        wanted = ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
        entry.synonyms = tuple(each for each in entry.synonyms if each.source == wanted)
        result.append(entry)
    return result


def _broker_entry(name: str, key: Key, text: str | None, layers: Layers) -> ConfigValue:
    synonyms = tuple(layered_synonyms(name, layers))
    source = synonyms[0].source if synonyms else int(ConfigSource.DEFAULT_CONFIG)
    read_only = key.mode is UpdateMode.READ_ONLY
    return ConfigValue(key, text, source, synonyms, read_only=read_only)


def describe_overridable(
    key: Key,
    text: str | None,
    *,
    overridden: bool,
    override_source: int,
    defaults: list[ConfigSynonym],
) -> ConfigValue:
    """An entry of a topic or group: its own override in front of what the brokers say."""
    synonyms = list(defaults)
    if overridden:
        shown = None if key.type is ConfigType.PASSWORD else text
        synonyms.insert(0, ConfigSynonym(key.name, shown, int(override_source)))
    source = synonyms[0].source if synonyms else int(ConfigSource.DEFAULT_CONFIG)
    return ConfigValue(key, text, source, tuple(synonyms), read_only=False)
