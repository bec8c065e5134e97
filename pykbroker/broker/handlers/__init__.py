"""The APIs a node serves: dispatch, version checks and ApiVersions all come from `HANDLERS`.

Each API has one module in this package (Fetch has two: for records, and for the metadata log). It
exports `HANDLER` and is imported with the first request for its API, so a node starts without
loading the code of unused APIs. The worker has a client's request wait while the import runs beside
the event loop (`LongRequests.load`).

A handler is a plain function `handle(services, request)`. It never awaits. It returns

* the reply, an instance of the API's response class;
* a `Deferred` that will be resolved with any of the other things in this list;
* `InSlices(job)`: `job()` may take long and calls `breathe`; it returns what a handler may return;
* None: no reply (Produce with acks=0);
* `CloseConnection(reason)`.

If it raises `KafkaError` (or its Deferred is resolved with one), `error_reply` builds the answer.
Any other exception closes the connection; unless it says that the request is malformed, it is a
bug, and the traceback is logged.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from pykbroker.broker.coordinators import GROUP_COORDINATOR, TRANSACTION_COORDINATOR
from pykbroker.broker.prepared import Prepare
from pykbroker.deferred import Deferred
from pykbroker.network.request import CloseConnection, Request
from pykbroker.protocol.api import API_BY_NAME, Api, request_class
from pykbroker.protocol.primitives import Message
from pykbroker.values import NamedTuple


class InSlices(NamedTuple):
    """Returned by a handler if the rest of its work is to be done in slices."""

    job: Callable[[], Any]


def in_slices_if(is_long: bool, job: Callable[[], Any]) -> Any:
    """Return the result of `job`, or `InSlices(job)` if it takes long."""
    return InSlices(job) if is_long else job()


Outcome = Message | Deferred | CloseConnection | InSlices | None
# The first argument is the node's NodeServices or BrokerServices, as declared by the handler: only
# a node that has them serves the API.
Handle = Callable[[Any, Request], Outcome]


class Handler(NamedTuple):
    """The object that a handler module exports as `HANDLER`.

    `error_reply(request, code, message)` returns the answer when the whole request failed.
    `prepare`: prepares for requests like the one that was handled (see `broker/prepared`).
    """

    api_key: int
    handle: Handle
    min_version: int
    max_version: int
    error_reply: Callable[[Request, int, str | None], Message | CloseConnection]
    prepare: Prepare | None = None


class Route:
    """One line of HANDLERS: an API, its versions, its listeners, and the module that handles it.

    `decode`, `handle` and `error_reply` are available after `load`.
    """

    __slots__ = (
        "advertised_min_version",
        "api",
        "decode",
        "error_reply",
        "handle",
        "loaded",
        "machine",
        "max_version",
        "min_version",
        "module",
        "on_broker",
        "on_controller",
        "prepare",
        "request_count",
    )

    def __init__(
        self,
        name: str,
        module: str,
        on_controller: bool,
        advertised_min_version: int | None,
        on_broker: bool = True,
        machine: str | None = None,
    ) -> None:
        api = API_BY_NAME[name]
        self.api: Api = api
        self.module = module
        self.machine = machine
        self.min_version = api.min_version
        self.max_version = api.max_version
        if advertised_min_version is None:
            advertised_min_version = api.min_version
        self.advertised_min_version = advertised_min_version
        self.on_broker = on_broker and "broker" in api.listeners
        self.on_controller = on_controller
        self.loaded = False
        self.request_count = 0
        self.decode: Callable[..., tuple[Any, int]]  # of the API's request class
        self.handle: Handle
        self.error_reply: Callable[[Request, int, str | None], Message | CloseConnection]
        self.prepare: Prepare | None = None

    def load(self) -> None:
        """Import the handler, the classes of its messages, and the machine that decides.

        May be called in any thread: `loaded` is set last.
        """
        if self.machine is not None:
            import_module(self.machine)
        handler: Handler = import_module(f"{__name__}.{self.module}").HANDLER
        if handler.api_key != self.api.key:
            raise AssertionError(f"{self.module} handles API {handler.api_key}, not {self.api}")
        self.decode = request_class(self.api.key).decode
        self.handle = handler.handle
        self.error_reply = handler.error_reply
        self.prepare = handler.prepare
        self.min_version = handler.min_version
        self.max_version = handler.max_version
        self.loaded = True

    def __repr__(self) -> str:
        return f"Route({self.api!r} -> {self.module})"


class Served(NamedTuple):
    """One line of HANDLERS: Kafka's name of the API, its module, and its peculiarities.

    `on_controller`: served on controller listeners; `on_broker`: served on broker listeners, if the
    API exists there. `advertised_min_version`: the minimum in ApiVersions, if it differs from the
    actual one. `machine`: a module of a coordinator or of the controller that the requests need; it
    is imported with the handler.
    """

    name: str
    module: str
    on_controller: bool = False
    advertised_min_version: int | None = None
    on_broker: bool = True
    machine: str | None = None


# The parts of the controller.
_TOPICS: Final = "pykbroker.kraft.controller.topics"
_TOPIC_DELETION: Final = "pykbroker.kraft.controller.topic_deletion"
_TOPIC_GROWTH: Final = "pykbroker.kraft.controller.topic_growth"
_CONFIGS: Final = "pykbroker.kraft.controller.configs"
_FEATURES: Final = "pykbroker.kraft.controller.features"
_ELECTIONS: Final = "pykbroker.kraft.controller.elections"
_ISR_CHANGES: Final = "pykbroker.kraft.controller.alter_partition"
_REASSIGNMENT: Final = "pykbroker.kraft.controller.reassignment"
_DIRECTORIES: Final = "pykbroker.kraft.controller.directories"

HANDLERS: tuple[Served, ...] = (
    # Kafka lists Produce from 0 on, for old librdkafka, and refuses 0 to 2 (KAFKA-18659).
    Served("Produce", "produce", advertised_min_version=0),
    Served("Fetch", "fetch"),
    Served("Fetch", "fetch_metadata", on_controller=True, on_broker=False),
    Served("FetchSnapshot", "fetch_snapshot", on_controller=True),
    Served("Vote", "vote", on_controller=True),
    Served("BeginQuorumEpoch", "begin_quorum_epoch", on_controller=True),
    Served("EndQuorumEpoch", "end_quorum_epoch", on_controller=True),
    Served("UpdateRaftVoter", "update_raft_voter", on_controller=True),
    Served("ListOffsets", "list_offsets"),
    Served("OffsetForLeaderEpoch", "offset_for_leader_epoch"),
    Served("DeleteRecords", "delete_records"),
    Served("InitProducerId", "init_producer_id"),
    Served("WriteTxnMarkers", "write_txn_markers"),
    Served("DescribeProducers", "describe_producers"),
    Served("AddPartitionsToTxn", "add_partitions_to_txn", machine=TRANSACTION_COORDINATOR),
    Served("AddOffsetsToTxn", "add_offsets_to_txn", machine=TRANSACTION_COORDINATOR),
    Served("EndTxn", "end_txn", machine=TRANSACTION_COORDINATOR),
    Served("DescribeTransactions", "describe_transactions", machine=TRANSACTION_COORDINATOR),
    Served("ListTransactions", "list_transactions", machine=TRANSACTION_COORDINATOR),
    Served("DescribeLogDirs", "describe_log_dirs"),
    Served("AlterReplicaLogDirs", "alter_replica_log_dirs"),
    Served("ApiVersions", "api_versions", on_controller=True),
    Served("Metadata", "metadata"),
    Served("CreateTopics", "create_topics", on_controller=True, machine=_TOPICS),
    Served("DeleteTopics", "delete_topics", on_controller=True, machine=_TOPIC_DELETION),
    Served("CreatePartitions", "create_partitions", on_controller=True, machine=_TOPIC_GROWTH),
    Served("ElectLeaders", "elect_leaders", on_controller=True, machine=_ELECTIONS),
    Served("AlterPartition", "alter_partition", on_controller=True, machine=_ISR_CHANGES),
    Served(
        "AlterPartitionReassignments",
        "alter_partition_reassignments",
        on_controller=True,
        machine=_REASSIGNMENT,
    ),
    Served(
        "ListPartitionReassignments",
        "list_partition_reassignments",
        on_controller=True,
        machine=_REASSIGNMENT,
    ),
    Served("DescribeConfigs", "describe_configs", on_controller=True),
    Served("AlterConfigs", "alter_configs", on_controller=True, machine=_CONFIGS),
    Served(
        "IncrementalAlterConfigs", "incremental_alter_configs", on_controller=True, machine=_CONFIGS
    ),
    Served("ListConfigResources", "list_config_resources"),
    Served("DescribeCluster", "describe_cluster", on_controller=True),
    Served("DescribeTopicPartitions", "describe_topic_partitions"),
    Served("DescribeQuorum", "describe_quorum", on_controller=True),
    Served("UpdateFeatures", "update_features", on_controller=True, machine=_FEATURES),
    Served("Envelope", "envelope", on_controller=True),
    Served("BrokerRegistration", "broker_registration", on_controller=True),
    Served("BrokerHeartbeat", "broker_heartbeat", on_controller=True),
    Served("UnregisterBroker", "unregister_broker", on_controller=True),
    Served("UnregisterController", "unregister_controller", on_controller=True),
    Served("AllocateProducerIds", "allocate_producer_ids", on_controller=True),
    Served("ControllerRegistration", "controller_registration", on_controller=True),
    Served(
        "AssignReplicasToDirs", "assign_replicas_to_dirs", on_controller=True, machine=_DIRECTORIES
    ),
    # The controller creates the topic of a coordinator with the first request.
    Served("FindCoordinator", "find_coordinator", machine=_TOPICS),
    Served("JoinGroup", "join_group", machine=GROUP_COORDINATOR),
    Served("SyncGroup", "sync_group", machine=GROUP_COORDINATOR),
    Served("Heartbeat", "heartbeat", machine=GROUP_COORDINATOR),
    Served("LeaveGroup", "leave_group", machine=GROUP_COORDINATOR),
    Served("OffsetCommit", "offset_commit", machine=GROUP_COORDINATOR),
    Served("OffsetFetch", "offset_fetch", machine=GROUP_COORDINATOR),
    Served("DescribeGroups", "describe_groups", machine=GROUP_COORDINATOR),
    Served("ListGroups", "list_groups", machine=GROUP_COORDINATOR),
    Served("TxnOffsetCommit", "txn_offset_commit", machine=GROUP_COORDINATOR),
    Served("DeleteGroups", "delete_groups", machine=GROUP_COORDINATOR),
    Served("OffsetDelete", "offset_delete", machine=GROUP_COORDINATOR),
)


def make_routes() -> list[Route]:
    """Return the routes of one node, in the order of their API keys."""
    routes = [Route(*served) for served in HANDLERS]
    routes.sort(key=lambda route: route.api.key)
    return routes
