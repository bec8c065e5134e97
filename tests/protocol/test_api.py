"""The table of APIs and records."""

from __future__ import annotations

import sys

import pytest

from pykbroker.protocol.api import (
    API_BY_NAME,
    APIS,
    message_class,
    metadata_record_class,
    offsets_record_classes,
    request_class,
    response_class,
    share_record_classes,
    snake_case,
    transaction_record_classes,
    transaction_state_name,
)
from pykbroker.protocol.schema import to_snake_case
from tests.protocol.random_messages import SCHEMAS


def test_all_apis_of_kafka_4_4_are_there() -> None:
    assert sorted(APIS) == [key for key in range(95) if key not in (4, 5, 6, 7)]
    for key, api in APIS.items():
        request, response = request_class(key), response_class(key)
        assert (request.__name__, response.__name__) == (
            api.name + "Request",
            api.name + "Response",
        )
        assert request.API_KEY == response.API_KEY == key
        assert (api.min_version, api.max_version) == (request.MIN_VERSION, request.MAX_VERSION)
        assert response.LATEST_VERSION == request.LATEST_VERSION == api.latest_version
        assert API_BY_NAME[api.name] is api
        assert set(api.listeners) <= {"broker", "controller"}
        assert api.name in repr(api)


def test_versions_that_matter() -> None:
    rows = {
        "Produce": (3, 13, 9),
        "Fetch": (4, 18, 12),
        "Metadata": (0, 13, 9),
        "ApiVersions": (0, 5, 3),
        "InitProducerId": (0, 5, 2),
        "SaslHandshake": (0, 1, 32767),
        "TxnOffsetCommit": (0, 6, 3),
    }
    for name, row in rows.items():
        api = API_BY_NAME[name]
        assert (api.min_version, api.max_version, api.flexible_from) == row
    assert API_BY_NAME["InitProducerId"].latest_version == 6


def test_records_by_number() -> None:
    assert metadata_record_class(2).__name__ == "TopicRecord"
    assert metadata_record_class(29).__name__ == "UnregisterControllerRecord"
    key, value = offsets_record_classes(1)
    assert (key.__name__, value.__name__) == ("OffsetCommitKey", "OffsetCommitValue")
    assert transaction_record_classes(0)[1].__name__ == "TransactionLogValue"
    assert share_record_classes(1)[0].__name__ == "ShareUpdateKey"
    for lookup in (metadata_record_class, offsets_record_classes, request_class, response_class):
        with pytest.raises(KeyError):
            lookup(6 if lookup is not offsets_record_classes else 9)


def test_classes_are_found_by_name_and_loaded_once() -> None:
    for name in SCHEMAS:
        assert snake_case(name) == to_snake_case(name)
        assert message_class(name) is message_class(name)
    assert message_class("KRaftVersionRecord").__module__.endswith(".kraft_version_record")


def test_the_table_alone_imports_no_message() -> None:
    import subprocess

    code = (
        "import sys, pykbroker.protocol.api, pykbroker.protocol.headers;"
        "print(sorted(m for m in sys.modules if '.protocol.messages.' in m))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['pykbroker.protocol.messages.index']"


def test_states_of_transactions_have_names() -> None:
    assert transaction_state_name(0) == "Empty"
    assert transaction_state_name(7) == "PrepareEpochFence"
    assert transaction_state_name(8) == "8"
    assert transaction_state_name(-1) == "-1"
