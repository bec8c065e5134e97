"""The end of a transaction: its markers follow the answer to the client."""

from __future__ import annotations

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from pykbroker.protocol.messages.list_transactions_request import ListTransactionsRequest
from tests.harness.raw_client import RawClient
from tests.harness.waiting import wait_for

DECIDED = ["PrepareCommit", "PrepareAbort"]


def await_markers(servers: str, topic: str, partition: int) -> None:
    """Wait until no transaction of the partition is open."""
    admin = AdminClient({"bootstrap.servers": servers})

    def end(isolation: IsolationLevel) -> int:
        wanted = TopicPartition(topic, partition)
        futures = admin.list_offsets({wanted: OffsetSpec.latest()}, isolation_level=isolation)
        return int(futures[wanted].result(60).offset)

    def is_decided() -> bool:
        return end(IsolationLevel.READ_COMMITTED) == end(IsolationLevel.READ_UNCOMMITTED)

    wait_for(is_decided, "the markers")


def await_ends(servers: str, *more_states: str) -> None:
    """Wait until a lone node has completed every transaction whose end is decided: all markers are
    written, those of committed offsets too, and the coordinator has noted it. With `more_states`
    (such as "Ongoing") until no transaction is in one of them either."""

    def are_complete() -> bool:
        with RawClient(servers) as client:
            request = ListTransactionsRequest(state_filters=[*DECIDED, *more_states])
            answer = client.ask("ListTransactions", 0, request)
        return answer.error_code == 0 and not answer.transaction_states

    wait_for(are_complete, "the ends of transactions")
