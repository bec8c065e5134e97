"""Headers against the generated header messages, and whole frames."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from pykbroker.protocol.api import API_BY_NAME, APIS
from pykbroker.protocol.headers import (
    decode_request_header,
    decode_response_header,
    encode_request,
    encode_response,
)
from pykbroker.protocol.messages.api_versions_request import ApiVersionsRequest
from pykbroker.protocol.messages.api_versions_response import ApiVersionsResponse
from pykbroker.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse
from pykbroker.protocol.messages.request_header import RequestHeader
from pykbroker.protocol.messages.response_header import ResponseHeader
from pykbroker.protocol.parts_writer import join_parts
from pykbroker.protocol.primitives import DecodeError
from tests.protocol.random_messages import encode


@pytest.mark.parametrize("client_id", [None, "", "a-client", "日本"])
@pytest.mark.parametrize("api_key", sorted(APIS))
def test_every_api_and_version_has_the_header_of_the_schema(
    api_key: int, client_id: str | None
) -> None:
    api = APIS[api_key]
    for version in range(api.min_version, api.latest_version + 1):
        header_version = 2 if version >= api.flexible_from else 1
        message = RequestHeader(
            request_api_key=api_key,
            request_api_version=version,
            correlation_id=-7,
            client_id=client_id,
            unknown_tags={0: b"kept out"} if header_version == 2 else None,
        )
        wire = encode(message, header_version)
        header = decode_request_header(wire + b"body")
        assert header.body_pos == len(wire)
        assert (header.api, header.api_key, header.api_version) == (api, api_key, version)
        assert header.correlation_id == -7
        assert header.client_id == (client_id or "")
        assert f"{api.name} v{version}" in repr(header)


def test_unknown_versions_still_have_a_header_but_unknown_apis_do_not() -> None:
    wire = struct.pack(">hhih", 18, 99, 1, -1) + b"\0"
    header = decode_request_header(wire)
    assert (header.api_version, header.body_pos) == (99, 11)
    for key in (-1, 4, 7, 95, 32767):
        with pytest.raises(DecodeError, match="unknown API key"):
            decode_request_header(struct.pack(">hhih", key, 0, 1, -1))


def test_every_cut_header_is_refused() -> None:
    wire = struct.pack(">hhih", 0, 9, 1, 3) + b"abc" + b"\x01\x00\x02xy"
    assert decode_request_header(wire).body_pos == len(wire)
    for size in range(len(wire)):
        with pytest.raises(DecodeError):
            decode_request_header(wire[:size])


@pytest.mark.parametrize("version", range(5))
def test_response_frames(version: int) -> None:
    api = API_BY_NAME["Heartbeat"]
    out: list[Any] = []
    size = encode_response(api, version, 42, HeartbeatResponse(error_code=27), out)
    wire = join_parts(out)
    assert size == len(wire) == 4 + struct.unpack_from(">i", wire)[0]
    frame = wire[4:]
    correlation_id, pos = decode_response_header(frame, api, version)
    assert correlation_id == 42
    header_version = 1 if version >= api.flexible_from else 0
    message, end = ResponseHeader.decode(frame, 0, header_version)
    assert (message.correlation_id, end) == (42, pos)
    back, end = HeartbeatResponse.decode(frame, pos, version)
    assert (back.error_code, end) == (27, len(frame))


def test_api_versions_answers_always_have_header_zero() -> None:
    api = API_BY_NAME["ApiVersions"]
    out: list[Any] = []
    encode_response(api, 3, 1, ApiVersionsResponse(), out)
    frame = join_parts(out)[4:]
    assert decode_response_header(frame, api, 3) == (1, 4)
    assert ApiVersionsResponse.decode(frame, 4, 3)[0] == ApiVersionsResponse()


def test_a_response_with_records_keeps_them_apart() -> None:
    records = memoryview(bytes(100_000))
    rows = [PartitionData(records=records)]
    response = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=rows)])
    out: list[Any] = []
    size = encode_response(API_BY_NAME["Fetch"], 4, 9, response, out)
    assert out[1] is records
    assert len(out) == 2, "no empty tail is sent"
    wire = join_parts(out)
    assert size == len(wire)
    assert struct.unpack_from(">ii", wire) == (size - 4, 9)


@pytest.mark.parametrize("client_id", [None, "", "tester"])
@pytest.mark.parametrize("version", [0, 4])
def test_request_frames(version: int, client_id: str | None) -> None:
    api = API_BY_NAME["Heartbeat"]
    request = HeartbeatRequest(group_id="g", member_id="m")
    out: list[Any] = []
    size = encode_request(api, version, 5, client_id, request, out)
    wire = join_parts(out)
    assert size == len(wire) == 4 + struct.unpack_from(">i", wire)[0]
    header = decode_request_header(wire[4:])
    assert (header.correlation_id, header.client_id) == (5, client_id or "")
    back, end = HeartbeatRequest.decode(wire[4:], header.body_pos, version)
    assert back == request
    assert end == size - 4


def test_api_versions_request_is_flexible_from_three() -> None:
    out: list[Any] = []
    request = ApiVersionsRequest(client_software_name="n", client_software_version="1")
    encode_request(API_BY_NAME["ApiVersions"], 3, 5, "c", request, out)
    header = decode_request_header(join_parts(out)[4:])
    assert header.body_pos == 12


def test_cut_response_headers_are_refused() -> None:
    with pytest.raises(DecodeError):
        decode_response_header(b"\0\0\0", API_BY_NAME["Fetch"], 4)
    with pytest.raises(DecodeError):
        decode_response_header(b"\0\0\0\1", API_BY_NAME["Fetch"], 12)
