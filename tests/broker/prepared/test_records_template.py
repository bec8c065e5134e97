"""The samples of a template are made when it is made: later ones cost nothing but the patching."""

from __future__ import annotations

from collections.abc import Sequence

from pykbroker.broker.prepared.records_template import RecordsTemplate
from pykbroker.protocol.api import APIS
from pykbroker.protocol.messages.fetch_response import FetchResponse
from tests.broker.prepared.test_reply_template import fetched


def test_the_encoder_is_asked_once() -> None:
    asked = 0

    def counted(numbers: Sequence[int], records: Sequence[bytes]) -> FetchResponse:
        nonlocal asked
        asked += 1
        return fetched(numbers, records)

    template = RecordsTemplate(APIS[1], 12, 3, 2, counted)
    before = asked
    one = template.frame(1, range(6), [b"a", b"b"])
    assert template.frame(1, range(6), [b"a", b"b"]) == one
    assert template.frame(2, range(6), [b"a", b"b"]) != one
    assert asked == before
