"""Configuration: the keys of brokers, topics and groups, checked, typed and described.

`BrokerConfig`, `TopicConfig` and `GroupConfig` are what the rest of the program reads;
`definition.Key` is what is known about a name, and broker_keys, topic_keys and group_keys list
them all. `load` gathers the text from files, environment and overrides.
"""

from __future__ import annotations

from pykbroker.config.broker_config import BrokerConfig, ListenerConfig
from pykbroker.config.definition import ConfigError, ConfigSource, ConfigSynonym, ConfigValue
from pykbroker.config.dynamic import apply_list_operation, validate_broker_overrides
from pykbroker.config.group_config import GroupConfig, validate_group_overrides
from pykbroker.config.listeners import Endpoint
from pykbroker.config.topic_config import TopicConfig, validate_topic_overrides

__all__ = [
    "BrokerConfig",
    "ConfigError",
    "ConfigSource",
    "ConfigSynonym",
    "ConfigValue",
    "Endpoint",
    "GroupConfig",
    "ListenerConfig",
    "TopicConfig",
    "apply_list_operation",
    "validate_broker_overrides",
    "validate_group_overrides",
    "validate_topic_overrides",
]
