"""Keys that a node cannot do without, reported all at once.

In: the typed values that somebody set.
Out: nothing, or a ConfigError that names every key that is missing. A single missing key is
reported in Kafka's words; where Kafka has words of its own for a combination of keys
(`controller.quorum.voters` or `controller.quorum.bootstrap.servers`), a lone gap is left to the
check that has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pykbroker.config.broker_keys import BROKER_KEYS
from pykbroker.config.definition import ConfigError, Value


def check_required(given: Mapping[str, Value]) -> None:
    """Raise a ConfigError that names every missing key, except for a lone gap in a combination."""
    required = [name for name, key in BROKER_KEYS.items() if key.required and name not in given]
    combined = list(_missing_for_the_quorum(given))
    missing = required + combined
    if len(missing) > 1:
        raise ConfigError(f"Missing required configurations: {', '.join(missing)}.", missing[0])
    if required:
        why = f'Missing required configuration "{required[0]}" which has no default value.'
        raise ConfigError(why, required[0])


def _missing_for_the_quorum(given: Mapping[str, Value]) -> Iterator[str]:
    roles = given.get("process.roles")
    if isinstance(roles, tuple) and "controller" in roles and "listeners" not in given:
        yield "listeners (the default has no controller listener)"
    servers, voters = "controller.quorum.bootstrap.servers", "controller.quorum.voters"
    if not given.get(servers) and not given.get(voters):
        yield f"{servers} (or {voters})"
