"""Writes docs/configuration.md from the tables of keys: `python -m pykbroker.config.document`.

`--check` writes nothing and fails when the file is out of date.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from pykbroker.config.broker_keys import BROKER_KEYS, DYNAMIC_ONLY_KEYS, SUBJECTS
from pykbroker.config.definition import ConfigType, Key, Status, UpdateMode
from pykbroker.config.group_keys import GROUP_KEYS, GROUP_SYNONYMS
from pykbroker.config.topic_keys import TOPIC_KEYS, TOPIC_SYNONYMS

TARGET: Final = Path(__file__).resolve().parents[2] / "docs" / "configuration.md"

INTRODUCTION: Final = """\
# Configuration

<!-- Written by `python -m pykbroker.config.document`; do not edit. -->

pykbroker knows every key of Apache Kafka 4.4's broker, topic and group configuration. A key that
you set has one of four statuses:

- **honoured**: it has the same effect as in Apache Kafka.
- **accepted**: it is checked and shown to clients; the reason says why nothing more is needed.
- **unused**: it is checked and shown to clients. It tunes a feature that this broker does not have
  (the reason names it), and has no effect in Apache Kafka either while that feature is unused.
- **refused**: with any value but the default, startup (or the request) fails with the reason. An
  unknown key is refused as well, with the nearest known name.

## Where values come from

Each of these sources overrides the ones before it: `--config FILE`, the environment, the flags of
`pykbroker start` (`--data-dir`, `--listen`, `--metrics-listen`, `--node-id`), the flag
`--override KEY=VALUE`, and the values that clients set at run time, which are kept in the metadata
log.

- A file is read as Java properties (`server.properties`), or as YAML when its name ends in
  `.yaml` or `.yml`. YAML takes the same keys, flat (`num.partitions: 3`) or nested, and joins
  lists with commas.
- Environment variables follow the mapping of Apache's Docker image: the prefix `KAFKA_`, capitals,
  `_` for a dot, `__` for an underscore, `___` for a dash (`KAFKA_NUM_PARTITIONS=3`). A `KAFKA_`
  variable that names no key is ignored with a warning, because Kubernetes sets such variables.
  `CLUSTER_ID` is the cluster id with which `start` formats empty directories (a random one if it is
  not set).
- `listener.name.<listener>.<key>` sets a key for one listener. This works for `max.connections` and
  `num.network.threads`.

Without a file, or with a file that sets none of `process.roles`, `controller.quorum.voters` and
`controller.quorum.bootstrap.servers`, `pykbroker start` runs one combined node with its data in
`./pykbroker-data`; what you set replaces the values of that node one by one. A file that sets one
of the three describes a node of a quorum, as Kafka's `server.properties` does; nothing is filled
in, and an error names every key that is missing.

`pykbroker config check FILE` lists the keys that a file and the environment set, with the effect
of each, and all errors at once, without starting a node.

The column "Update" says how a key can change while the node runs: `read-only`, `per-broker` (for
one broker) or `cluster-wide` (also for all).
"""


def document() -> str:
    """The whole page."""
    lines = [INTRODUCTION, *_counts(), "## Broker configuration", ""]
    for title, keys in SUBJECTS:
        lines += [f"### {title}", "", *_table(sorted(keys, key=_name), updates=True)]
    lines += ["### At run time only", "", *_table(DYNAMIC_ONLY_KEYS.values(), updates=True)]
    lines += ["## Topic configuration", "", *_table(TOPIC_KEYS.values(), synonyms=_topic_default)]
    lines += ["## Group configuration", "", *_table(GROUP_KEYS.values(), synonyms=_group_default)]
    return "\n".join(lines).rstrip() + "\n"


def _name(key: Key) -> str:
    return key.name


def _counts() -> Iterator[str]:
    yield "| | honoured | accepted | unused | refused |"
    yield "|---|---|---|---|---|"
    tables = (("broker", BROKER_KEYS), ("topic", TOPIC_KEYS), ("group", GROUP_KEYS))
    for title, table in tables:
        counts = [sum(key.status is status for key in table.values()) for status in Status]
        yield f"| {title} | {' | '.join(map(str, counts))} |"
    yield ""


def _topic_default(key: Key) -> str:
    return ", ".join(f"`{name}`" for name, _ in TOPIC_SYNONYMS.get(key.name, ()))


def _group_default(key: Key) -> str:
    return f"`{GROUP_SYNONYMS[key.name]}`" if key.name in GROUP_SYNONYMS else ""


def _table(keys: Iterable[Key], *, updates: bool = False, synonyms: object = None) -> Iterator[str]:
    last = "Update" if updates else "Default from"
    yield f"| Key | Type | Default | Valid | {last} | Status |"
    yield "|---|---|---|---|---|---|"
    for key in keys:
        if updates:
            column = "" if key.mode is UpdateMode.READ_ONLY else key.mode.value
        else:
            column = synonyms(key) if callable(synonyms) else ""
        cells = (
            f"**{key.name}**<br>{key.doc}",
            key.type.name.lower(),
            _default(key),
            key.validator.text if key.validator is not None else "",
            column,
            key.status.value + (f": {key.reason}" if key.reason else ""),
        )
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""


def _default(key: Key) -> str:
    if key.required:
        return "(none)"
    text = key.default_text
    if text is None or key.type is ConfigType.PASSWORD:
        return "null"
    # The name of a Java class would say nothing here.
    return (
        f"`{text.rpartition('.')[2]}`" if text.startswith("org.") else f"`{text}`" if text else ""
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="pykbroker.config.document", description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when the file is out of date")
    options = parser.parse_args(arguments)
    text = document()
    if options.check:
        if not TARGET.exists() or TARGET.read_text("utf-8") != text:
            print(f"{TARGET.name} is out of date: run python -m pykbroker.config.document")
            return 1
        return 0
    TARGET.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
