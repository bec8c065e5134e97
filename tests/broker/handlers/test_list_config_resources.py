"""ListConfigResources: which resources there are to configure."""

from __future__ import annotations

from pykbroker.broker.handlers.list_config_resources import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage
from pykbroker.protocol.messages.list_config_resources_request import ListConfigResourcesRequest
from tests.broker.handlers.admin_broker import AdminBroker


def test_all_types() -> None:
    broker = AdminBroker()
    broker.create("t")
    answer = broker.call(HANDLER, ListConfigResourcesRequest(), 1)
    assert {(at.resource_type, at.resource_name) for at in answer.config_resources} == {
        (2, "t"),
        (4, "1"),
        (8, "1"),
    }


def test_only_brokers_with_the_listener_of_the_client() -> None:
    broker = AdminBroker()
    image = broker.metadata.image
    other = image.brokers[1]._replace(id=2, listeners={})
    changed = MetadataImage(brokers={**image.brokers, 2: other})
    broker.metadata.apply(MetadataDelta(image), changed)
    answer = broker.call(HANDLER, ListConfigResourcesRequest(resource_types=[4, 8]), 1)
    assert [(at.resource_type, at.resource_name) for at in answer.config_resources] == [
        (8, "1"),
        (4, "1"),
    ]


def test_chosen_types() -> None:
    broker = AdminBroker()
    broker.create("t")
    answer = broker.call(HANDLER, ListConfigResourcesRequest(resource_types=[2]), 1)
    assert [at.resource_name for at in answer.config_resources] == ["t"]
    answer = broker.call(HANDLER, ListConfigResourcesRequest(resource_types=[2, 99]), 1)
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION


def test_version_0_lists_client_metrics_of_which_there_are_none() -> None:
    broker = AdminBroker()
    broker.create("t")
    answer = broker.call(HANDLER, ListConfigResourcesRequest(), 0)
    assert (answer.error_code, answer.config_resources) == (0, [])
