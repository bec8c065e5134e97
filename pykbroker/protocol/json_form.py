"""Messages as JSON, in the form of Kafka's generated JsonConverter classes.

The JSON objects are dicts with camelCase names in schema order, uuids in Kafka's base64, bytes in
plain base64, records as an empty string or (with ``serialize_records=False``, as in Kafka's request
log) as ``...SizeInBytes``. Tagged fields at their defaults are left out; unknown tags are not
shown. Reflection over the schemas: for commands, the offline reader and tests, not the hot path.
"""

from __future__ import annotations

import base64
import binascii
import math
from typing import Any, TypeVar

from pykbroker.protocol.api import message_class
from pykbroker.protocol.parts_writer import part_size
from pykbroker.protocol.primitives import (
    ZERO_UUID,
    DecodeError,
    EncodeError,
    Message,
    uuid_from_str,
    uuid_to_str,
)
from pykbroker.protocol.schema import INTEGER_TYPES, Field, Struct, message_schema
from pykbroker.protocol.schema import Message as Schema

_RANGES = {
    "int8": (-0x80, 0x7F),
    "int16": (-0x8000, 0x7FFF),
    "uint16": (0, 0xFFFF),
    "int32": (-0x80000000, 0x7FFFFFFF),
    "uint32": (0, 0xFFFFFFFF),
    "int64": (-0x8000000000000000, 0x7FFFFFFFFFFFFFFF),
}

M = TypeVar("M", bound=Message)


def to_json(message: Message, version: int, serialize_records: bool = True) -> dict[str, Any]:
    """The JSON object of a whole message; EncodeError if the version cannot represent it."""
    name = type(message).__name__
    schema = message_schema(name)
    if version not in schema.versions:
        raise EncodeError(f"{name} has no version {version}")
    return _struct_to_json(message, schema.root, version, serialize_records)


def _struct_to_json(
    message: Any, struct: Struct, version: int, serialize_records: bool
) -> dict[str, Any]:
    node: dict[str, Any] = {}
    for item in struct.fields:
        value = getattr(message, item.snake_name)
        if version not in item.versions:
            if not item.ignorable and not is_default(item, value):
                raise EncodeError(f"attempted to write a non-default {item.name} at {version}")
            continue
        if version in item.tagged and is_default(item, value):
            continue
        name = item.json_name
        if item.type == "records" and value is not None and not serialize_records:
            node[name + "SizeInBytes"] = part_size(value)
        elif value is None:
            if version not in item.nullable:
                raise EncodeError(f"{item.name} is null at version {version}")
            node[name] = None
        elif item.is_array:
            node[name] = [_to_json(item, x, version, serialize_records) for x in value]
        else:
            node[name] = _to_json(item, value, version, serialize_records)
    return node


def _to_json(item: Field, value: Any, version: int, serialize_records: bool) -> Any:
    kind = item.element_type
    if item.struct is not None:
        return _struct_to_json(value, item.struct, version, serialize_records)
    if kind == "uuid":
        return uuid_to_str(value)
    if kind == "bytes":
        return base64.b64encode(value).decode("ascii")
    if kind == "records":
        return ""
    if kind == "float64" and not math.isfinite(value):
        # JSON has no such numbers; Jackson writes their Java names as strings.
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value


def is_default(item: Field, value: Any) -> bool:
    """Whether the field's value is the one its schema starts it with."""
    if value is None:
        return item.default == "null" or item.type == "records" or item.starts_absent
    if item.is_array or item.type == "bytes":
        return item.default != "null" and len(value) == 0
    if item.struct is not None:
        if item.default == "null":
            return False
        if value.unknown_tags:
            return False
        return all(is_default(x, getattr(value, x.snake_name)) for x in item.struct.fields)
    if item.type == "records":
        return False
    return bool(value == default_value(item))


def default_value(item: Field) -> Any:
    """The default of a field of a fixed type or a string."""
    if item.default == "null":
        return None
    if item.type == "bool":
        return item.default.lower() == "true"
    if item.type == "float64":
        return float(item.default or 0)
    if item.type == "string":
        return item.default
    if item.type == "uuid":
        return ZERO_UUID
    return int(item.default or "0", 0)


def from_json(cls: type[M], node: Any, version: int) -> M:
    """The message of class `cls` from its JSON object; DecodeError if it does not fit."""
    schema = message_schema(cls.__name__)
    if version not in schema.versions:
        raise DecodeError(f"{cls.__name__} has no version {version}")
    message = cls()
    _fill(message, schema, schema.root, node, version)
    return message


def _fill(message: Any, schema: Schema, struct: Struct, node: Any, version: int) -> None:
    if not isinstance(node, dict):
        raise DecodeError(f"{struct.name} is not a JSON object")
    for item in struct.fields:
        if item.json_name not in node:
            mandatory = version in item.versions and version not in item.tagged
            if mandatory:
                raise DecodeError(f"{struct.name} has no field {item.json_name!r}")
            continue
        if version not in item.versions:
            continue
        value = node[item.json_name]
        if value is None:
            if version not in item.nullable:
                raise DecodeError(f"{item.json_name} is null at version {version}")
            taken: Any = None
        elif item.is_array:
            if not isinstance(value, list):
                raise DecodeError(f"{item.json_name} is not a JSON array")
            taken = [_from_json(schema, item, x, version) for x in value]
        else:
            taken = _from_json(schema, item, value, version)
        setattr(message, item.snake_name, taken)


def _from_json(schema: Schema, item: Field, value: Any, version: int) -> Any:
    kind = item.element_type
    if item.struct is not None:
        below = _struct_class(schema, kind)()
        _fill(below, schema, item.struct, value, version)
        return below
    try:
        return _scalar_from_json(kind, value)
    except (ValueError, TypeError, binascii.Error) as error:
        raise DecodeError(f"{item.json_name}: {error}") from error


def _scalar_from_json(kind: str, value: Any) -> Any:
    if kind in INTEGER_TYPES:
        low, high = _RANGES[kind]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{value!r} is not an {kind}")
        return value
    if kind == "bool":
        if not isinstance(value, bool):
            raise ValueError(f"{value!r} is not a boolean")
        return value
    if kind == "float64":
        return float(value)
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a string")
    if kind == "uuid":
        return uuid_from_str(value)
    if kind in ("bytes", "records"):
        return base64.b64decode(value, validate=True)
    return value


def _struct_class(schema: Schema, name: str) -> type[Message]:
    whole = message_class(schema.name)
    module = __import__(whole.__module__, fromlist=[name])
    found: type[Message] = getattr(module, name)
    return found
