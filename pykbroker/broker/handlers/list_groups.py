"""ListGroups (16): the groups that this broker coordinates.

Behaviour: filters ignore case; a filter without matches returns an empty list.
Versions: 0-5. 4+ states and a filter of them; 5+ types (in lower case) and a filter of them.
Not done: groups of other types than classic; authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.coordinator.group.queries import may_match
from pykbroker.environment.slices import paced
from pykbroker.protocol.messages.list_groups_response import ListGroupsResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.deferred import Deferred
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.list_groups_request import ListGroupsRequest

API_KEY = 16
MOST_FILTERS = 20


def handle(services: BrokerServices, request: Request) -> ListGroupsResponse | Deferred:
    """Ask the coordinator."""
    message: ListGroupsRequest = request.message
    # Every partition of the coordinator goes through the filters: a few name all that there is.
    states, types = message.states_filter, message.types_filter
    breathe = services.breathe
    if len(states) > MOST_FILTERS:
        message.states_filter = may_match(map(str.strip, paced(states, breathe))) or states[:1]
    if len(types) > MOST_FILTERS:
        message.types_filter = may_match(paced(types, breathe)) or types[:1]
    return services.groups.list_groups(message, request.api_version)


def error_reply(request: Request, code: int, message: str | None) -> ListGroupsResponse:
    """Return only the code; the API has no field for a message."""
    return ListGroupsResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=5, error_reply=error_reply
)
