"""JSON files that commands read: partitions and offsets, elections, reassignment plans."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pykbroker.cli.command import CommandError

_VERSION: Final = 1
_NOT_JSON: Final = "The input string is not a valid JSON"


def read_json_object(file: str) -> dict[str, Any]:
    """Return the object in a file; raises CommandError if there is none, or for another version."""
    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    try:
        root = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(_NOT_JSON) from error
    if not isinstance(root, dict):
        raise CommandError(_NOT_JSON)
    version = root.get("version", _VERSION)
    if version != _VERSION:
        raise CommandError(f"Not supported version field value {version}")
    return root


def entries(
    root: Mapping[str, Any], name: str, kinds: Mapping[str, type], what: str = "partition"
) -> list[dict[str, Any]]:
    """Return the objects of the array `name`, each with these fields of these types."""
    found = root[name]
    if not isinstance(found, list):
        raise CommandError(f'Field "{name}" is no array')
    for each in found:
        if not isinstance(each, dict):
            raise CommandError(f"Not a {what}: {json.dumps(each)}")
        for field, kind in kinds.items():
            if type(each.get(field)) is not kind:
                raise CommandError(f'Missing or wrong field "{field}" in {json.dumps(each)}')
    return found
