"""Request and response headers.

::

    request v1   api_key int16 | api_version int16 | correlation_id int32 | client_id string?
    request v2   the same, client_id still with its int16 length, then tagged fields
    response v0  correlation_id int32
    response v1  correlation_id int32 | tagged fields

Which request header applies depends on the API and version inside it. An API that Kafka 4.4 does
not have is refused, because nobody can say how long its header is; a version that does not exist is
not, because ApiVersions must be answered then (KIP-511).
"""

from __future__ import annotations

import struct

from pykbroker.protocol.api import API_VERSIONS, APIS, Api
from pykbroker.protocol.parts_writer import Parts, parts_size
from pykbroker.protocol.primitives import (
    DecodeError,
    Message,
    read_tag_count,
    read_unknown_tags,
    struct_error,
)

_unpack_request = struct.Struct(">hhih").unpack_from
_pack_request = struct.Struct(">ihhih").pack
_pack_response = struct.Struct(">ii").pack
_pack_flexible_response = struct.Struct(">iib").pack
_unpack_correlation = struct.Struct(">i").unpack_from
_patch_size = struct.Struct(">i").pack_into


class RequestHeader:
    """A decoded request header; `body_pos` is where the request begins in the frame."""

    __slots__ = ("api", "api_key", "api_version", "body_pos", "client_id", "correlation_id")

    api: Api
    api_key: int
    api_version: int
    body_pos: int
    client_id: str
    correlation_id: int

    def __repr__(self) -> str:
        return (
            f"RequestHeader({self.api.name} v{self.api_version}, "
            f"correlation_id={self.correlation_id}, client_id={self.client_id!r})"
        )


def decode_request_header(
    frame: bytes | memoryview, into: RequestHeader | None = None
) -> RequestHeader:
    """The header of a whole request frame (without its length). A null client id reads as "".
    DecodeError.

    `into` is filled and returned when given: a subclass with fields of its own, say.
    """
    header = RequestHeader() if into is None else into
    try:
        key, version, header.correlation_id, size = _unpack_request(frame, 0)
        api = APIS.get(key)
        if api is None:
            raise DecodeError(f"unknown API key {key}")
        header.api = api
        header.api_key = key
        header.api_version = version
        pos = 10
        if size > 0:
            pos = 10 + size
            header.client_id = str(frame[10:pos], "utf-8", "java")
        else:
            header.client_id = ""
        if version >= api.flexible_from:
            count = frame[pos]
            pos += 1
            if count:
                count, pos = read_tag_count(frame, pos - 1)
                _, pos = read_unknown_tags(frame, pos, count)
    except (IndexError, struct_error) as error:
        raise _cut_short("request", frame) from error
    if pos > len(frame):
        raise _cut_short("request", frame)
    header.body_pos = pos
    return header


def encode_response(
    api: Api, version: int, correlation_id: int, response: Message, out: Parts
) -> int:
    """Append the whole response frame (length, header, body) to the empty list `out`.

    Answers the size in bytes of all the parts.
    """
    head = bytearray(
        _pack_flexible_response(0, correlation_id, 0)
        if version >= api.flexible_from and api.key != API_VERSIONS
        else _pack_response(0, correlation_id)
    )
    out.append(head)
    response.encode(out, version)
    if len(out) == 1:
        size = len(head)
    else:
        if not out[-1]:
            out.pop()
        size = parts_size(out)
    _patch_size(head, 0, size - 4)
    return size


def encode_request(
    api: Api, version: int, correlation_id: int, client_id: str | None, request: Message, out: Parts
) -> int:
    """Append the whole request frame (length, header, body) to the empty list `out`.

    Answers the size in bytes of all the parts.
    """
    text = b"" if client_id is None else client_id.encode()
    size = -1 if client_id is None else len(text)
    head = bytearray(_pack_request(0, api.key, version, correlation_id, size))
    head += text
    if version >= api.flexible_from:
        head.append(0)
    out.append(head)
    request.encode(out, version)
    if len(out) > 1 and not out[-1]:
        out.pop()
    total = parts_size(out)
    _patch_size(head, 0, total - 4)
    return total


def decode_response_header(frame: bytes | memoryview, api: Api, version: int) -> tuple[int, int]:
    """(correlation id, position of the body) of a whole response frame without its length.
    DecodeError.
    """
    try:
        correlation_id: int = _unpack_correlation(frame, 0)[0]
        pos = 4
        if version >= api.flexible_from and api.key != API_VERSIONS:
            count, pos = read_tag_count(frame, pos)
            _, pos = read_unknown_tags(frame, pos, count)
    except (IndexError, struct_error) as error:
        raise _cut_short("response", frame) from error
    return correlation_id, pos


def _cut_short(kind: str, frame: bytes | memoryview) -> DecodeError:
    return DecodeError(f"{kind} header is cut short: the frame has {len(frame)} bytes")
