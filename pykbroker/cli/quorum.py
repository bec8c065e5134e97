"""`pykbroker quorum describe`: kafka-metadata-quorum.sh.

Adding and removing controllers is not supported: the voters of a quorum are those of its
configuration, or those that its directories were formatted with.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

from pykbroker.cli.admin import AdminClient, BrokerConnection, check
from pykbroker.cli.command import CommandError, CommandParser, add_json, print_json, print_table
from pykbroker.cli.connection_flags import add_connection, connect
from pykbroker.protocol.primitives import ZERO_UUID, uuid_to_str

DESCRIPTION: Final = "Describe the quorum of controllers that keeps the metadata of the cluster."

_TOPIC: Final = "__cluster_metadata"
_COLUMNS: Final = (
    "NodeId",
    "DirectoryId",
    "LogEndOffset",
    "Lag",
    "LastFetchTimestamp",
    "LastCaughtUpTimestamp",
    "Status",
)


def add_arguments(parser: CommandParser) -> None:
    add_connection(parser, controllers=True)
    commands = parser.add_subparsers(dest="action", required=True, metavar="{describe}")
    describing = commands.add_parser("describe", help="describe the quorum")
    add_connection(describing, controllers=True, repeated=True)
    describing.add_argument(
        "--status", action="store_true", help="leader, voters, observers, and their progress"
    )
    describing.add_argument("--replication", action="store_true", help="one line for each replica")
    describing.add_argument(
        "--human-readable", action="store_true", help="with --replication: ages instead of times"
    )
    add_json(describing)


def run(options: argparse.Namespace) -> int:
    if options.status and options.replication:
        raise CommandError(
            "Only one of --status or --replication should be specified with describe sub-command"
        )
    if not options.status and not options.replication:
        raise CommandError(
            "One of --status or --replication must be specified with describe sub-command"
        )
    if options.status and options.human_readable:
        raise CommandError("The option --human-readable is only supported along with --replication")
    with connect(options) as client:
        quorum = Quorum(client)
    if options.json:
        print_json(quorum.as_json())
    elif options.status:
        print("\n".join(quorum.status()))
    else:
        rows = quorum.replication(int(time.time() * 1000) if options.human_readable else None)
        print_table(_COLUMNS, rows)
    return 0


class Quorum:
    """The DescribeQuorum and DescribeCluster responses about the quorum, and its descriptions."""

    def __init__(self, client: AdminClient) -> None:
        self.cluster_id: Final = str(client.describe_cluster().cluster_id)
        response = client.at_controller(_ask)
        self.partition: Final = response.topics[0].partitions[0]
        self._endpoints: Final = {
            node.node_id: [_endpoint(at) for at in node.listeners] for node in response.nodes
        }
        self._leader: Final = self._find_leader()

    def _find_leader(self) -> Any:
        leader_id = self.partition.leader_id
        for voter in self.partition.current_voters:
            if voter.replica_id == leader_id:
                return voter
        raise CommandError(f"The leader of the quorum, {leader_id}, is none of its voters")

    def status(self) -> list[str]:
        partition = self.partition
        slowest = min(partition.current_voters, key=lambda each: each.log_end_offset)
        values = {
            "ClusterId": self.cluster_id,
            "LeaderId": partition.leader_id,
            "LeaderEpoch": partition.leader_epoch,
            "HighWatermark": partition.high_watermark,
            "MaxFollowerLag": self._leader.log_end_offset - slowest.log_end_offset,
            "MaxFollowerLagTimeMs": self._lag_ms(slowest),
            "CurrentVoters": self._nodes(partition.current_voters),
            "CurrentObservers": self._nodes(partition.observers),
        }
        return [f"{name + ':':<24}{value}" for name, value in values.items()]

    def _lag_ms(self, slowest: Any) -> int:
        if slowest is self._leader:
            return 0
        leader_ms = self._leader.last_caught_up_timestamp
        slowest_ms = slowest.last_caught_up_timestamp
        return -1 if min(leader_ms, slowest_ms) == -1 else int(leader_ms - slowest_ms)

    def _nodes(self, replicas: Iterable[Any]) -> str:
        return "[" + ", ".join(map(self._node, replicas)) + "]"

    def _node(self, replica: Any) -> str:
        parts = [f'"id": {replica.replica_id}']
        if replica.replica_directory_id != ZERO_UUID:
            parts.append(f'"directoryId": "{uuid_to_str(replica.replica_directory_id)}"')
        endpoints = self._endpoints.get(replica.replica_id)
        if endpoints:
            shown = ", ".join(f'"{each}"' for each in endpoints)
            parts.append(f'"endpoints": [{shown}]')
        return "{" + ", ".join(parts) + "}"

    def _roles(self) -> list[tuple[Any, str]]:
        followers = [each for each in self.partition.current_voters if each is not self._leader]
        return [
            (self._leader, "Leader"),
            *((each, "Follower") for each in followers),
            *((each, "Observer") for each in self.partition.observers),
        ]

    def replication(self, now_ms: int | None) -> list[Sequence[str]]:
        """Return a row for each replica; with `now_ms`, with ages instead of times."""
        return [
            (
                str(each.replica_id),
                uuid_to_str(each.replica_directory_id),
                str(each.log_end_offset),
                str(self._leader.log_end_offset - each.log_end_offset),
                _time(each.last_fetch_timestamp, now_ms, "last fetch"),
                _time(each.last_caught_up_timestamp, now_ms, "last caught up"),
                role,
            )
            for each, role in self._roles()
        ]

    def as_json(self) -> object:
        return {
            "clusterId": self.cluster_id,
            "leaderId": self.partition.leader_id,
            "leaderEpoch": self.partition.leader_epoch,
            "highWatermark": self.partition.high_watermark,
            "replicas": [
                {
                    "id": each.replica_id,
                    "directoryId": uuid_to_str(each.replica_directory_id),
                    "endpoints": self._endpoints.get(each.replica_id, []),
                    "logEndOffset": each.log_end_offset,
                    "lastFetchTimestamp": each.last_fetch_timestamp,
                    "lastCaughtUpTimestamp": each.last_caught_up_timestamp,
                    "status": role,
                }
                for each, role in self._roles()
            ],
        }


def _ask(connection: BrokerConnection) -> Any:
    from pykbroker.protocol.messages import describe_quorum_request as messages

    partitions = [messages.PartitionData(partition_index=0)]
    topics = [messages.TopicData(topic_name=_TOPIC, partitions=partitions)]
    response = connection.send(messages.DescribeQuorumRequest(topics=topics))
    check(response.error_code, response.error_message)
    if [len(topic.partitions) for topic in response.topics] != [1]:
        raise CommandError(f"DescribeQuorum: {connection.address} does not describe the quorum")
    partition = response.topics[0].partitions[0]
    check(partition.error_code, partition.error_message)
    return response


def _endpoint(at: Any) -> str:
    host = f"[{at.host}]" if ":" in at.host else at.host
    return f"{at.name}://{host}:{at.port}"


def _time(at_ms: int, now_ms: int | None, what: str) -> str:
    if at_ms == -1:
        return "-1"
    if now_ms is None:
        return str(at_ms)
    if not 0 < at_ms <= now_ms:
        raise CommandError(
            "Error while computing relative time, possible drift in system clock. Current "
            f"timestamp is {now_ms}, {what} timestamp is {at_ms}"
        )
    return f"{now_ms - at_ms} ms ago"
