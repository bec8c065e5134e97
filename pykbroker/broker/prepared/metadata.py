"""Metadata, prepared: a request that differs from an earlier one in its correlation id only.

The response to a request for existing topics is a function of the image and of the request's bytes
(and of the listener, which is fixed for a connection). A connection keeps the encoded response
while the image is the same; only its correlation id changes. Requests for all topics, for more than
FEW, or for topics that do not exist, which may have to be created, are left to the general path; so
are long responses.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING, TypeAlias

from pykbroker.broker.prepared import CORRELATION_ID_AT, MISSED, SERVED, PreparedRequest
from pykbroker.broker.prepared.request_pattern import RequestPattern
from pykbroker.protocol.headers import encode_response
from pykbroker.protocol.parts_writer import Parts
from pykbroker.protocol.primitives import ZERO_UUID, Message

if TYPE_CHECKING:
    from pykbroker.broker.metadata.metadata_view import MetadataView
    from pykbroker.kraft.image import MetadataImage
    from pykbroker.network.request import PreparedConnection, Request
    from pykbroker.protocol.messages.metadata_request import MetadataRequest

FEW = 10  # topics: longer answers are made bit by bit
MOST_REQUEST_BYTES = 1024
MOST_REPLY_BYTES = 8 * 1024  # each connection keeps its own

_put_i32 = Struct(">i").pack_into

Handle: TypeAlias = Callable[["Request"], object]


class PreparedMetadata(PreparedRequest):
    """Serves Metadata requests that differ in their correlation ids only."""

    __slots__ = ("_handle", "_image", "_pattern", "_reply", "_request", "_view")

    def __init__(self, handle: Handle, view: MetadataView, request: Request) -> None:
        """handle: the general path's handler."""
        super().__init__()
        self._view = view
        self._request = request
        self._handle = handle
        request.frame = memoryview(bytes(request.frame))  # nothing else of what was received
        self._pattern = RequestPattern(request.frame)
        self._image: MetadataImage | None = None
        self._reply = bytearray()

    def serve(
        self,
        connection: PreparedConnection,
        frame: bytes | bytearray,
        start: int,
        end: int,
        correlation_id: int,
        now_ms: int,
    ) -> int:
        if not self._pattern.matches(frame, start, end):
            return MISSED
        image = self._view.image
        if image is not self._image and not self._encode(image):
            return MISSED
        reply = bytearray(self._reply)
        _put_i32(reply, CORRELATION_ID_AT, correlation_id)
        connection.reply(reply)
        return SERVED

    def _encode(self, image: MetadataImage) -> bool:
        """Encode the response for this image; return False to leave it to the general path."""
        request = self._request
        if not are_there(image, request.message):
            return False
        response = self._handle(request)
        if not isinstance(response, Message):
            return False
        out: Parts = []
        size = encode_response(request.api, request.api_version, 0, response, out)
        if len(out) != 1 or size > MOST_REPLY_BYTES:
            return False
        self._reply = bytearray(out[0])  # type: ignore[arg-type]
        self._image = image
        return True


def are_there(image: MetadataImage, message: MetadataRequest) -> bool:
    """Return whether the request names a few topics, and all of them exist."""
    topics = message.topics
    if not topics or len(topics) > FEW:
        return False
    return all(
        topic.name in image.topics_by_name
        if topic.topic_id == ZERO_UUID
        else topic.topic_id in image.topics_by_id
        for topic in topics
    )


def prepare_with(handle: Handle, view: MetadataView, request: Request) -> PreparedMetadata | None:
    """Prepare for requests like this one, which the general path has served."""
    if len(request.frame) > MOST_REQUEST_BYTES:
        return None
    if not are_there(view.image, request.message):
        return None
    return PreparedMetadata(handle, view, request)
