"""Handlers of requests that may name very many things breathe between them.

What a handler does between two breaths holds the event loop. So it must breathe about as often as
there are elements in the request; how long that takes on some machine decides nothing here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pykbroker.broker.handlers import (
    Handler,
    alter_configs,
    alter_partition_reassignments,
    create_partitions,
    create_topics,
    delete_groups,
    delete_records,
    delete_topics,
    describe_configs,
    describe_groups,
    describe_log_dirs,
    describe_producers,
    describe_topic_partitions,
    elect_leaders,
    fetch,
    find_coordinator,
    incremental_alter_configs,
    leave_group,
    list_config_resources,
    list_offsets,
    list_partition_reassignments,
    metadata,
    offset_commit,
    offset_fetch,
    offset_for_leader_epoch,
    txn_offset_commit,
    write_txn_markers,
)
from pykbroker.kraft.image import TOPIC_RESOURCE
from pykbroker.protocol.messages import alter_configs_request as legacy
from pykbroker.protocol.messages import alter_partition_reassignments_request as reassignments
from pykbroker.protocol.messages import create_partitions_request, create_topics_request
from pykbroker.protocol.messages import delete_records_request as deletions
from pykbroker.protocol.messages import describe_configs_request as descriptions
from pykbroker.protocol.messages import describe_producers_request as producers
from pykbroker.protocol.messages import describe_topic_partitions_request as pages
from pykbroker.protocol.messages import elect_leaders_request as elections
from pykbroker.protocol.messages import fetch_request as fetches
from pykbroker.protocol.messages import incremental_alter_configs_request as incremental
from pykbroker.protocol.messages import list_offsets_request as offsets
from pykbroker.protocol.messages import list_partition_reassignments_request as ongoing
from pykbroker.protocol.messages import offset_commit_request as commits
from pykbroker.protocol.messages import offset_fetch_request as committed
from pykbroker.protocol.messages import offset_for_leader_epoch_request as epochs
from pykbroker.protocol.messages import txn_offset_commit_request as txn_commits
from pykbroker.protocol.messages import write_txn_markers_request as markers
from pykbroker.protocol.messages.delete_groups_request import DeleteGroupsRequest
from pykbroker.protocol.messages.delete_topics_request import DeleteTopicsRequest
from pykbroker.protocol.messages.describe_groups_request import DescribeGroupsRequest
from pykbroker.protocol.messages.describe_log_dirs_request import DescribeLogDirsRequest
from pykbroker.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from pykbroker.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from pykbroker.protocol.messages.list_config_resources_request import ListConfigResourcesRequest
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from tests.broker.handlers.admin_broker import AdminBroker
from tests.broker.handlers.data_plane import Call
from tests.broker.handlers.group_broker import GroupBroker

MANY = 1500
NAMES = [f"x{number}" for number in range(MANY)]
NUMBERS = range(MANY)

# What the broker has to do, and how many breaths that takes at least.
BROKER: dict[str, tuple[Handler, int, Callable[[], Any], int]] = {
    "ListOffsets": (
        list_offsets.HANDLER,
        7,
        lambda: offsets.ListOffsetsRequest(
            topics=[
                offsets.ListOffsetsTopic(
                    name="t",
                    partitions=[
                        offsets.ListOffsetsPartition(partition_index=n, timestamp=-1)
                        for n in NUMBERS
                    ],
                )
            ]
        ),
        MANY,
    ),
    "OffsetForLeaderEpoch": (
        offset_for_leader_epoch.HANDLER,
        4,
        lambda: epochs.OffsetForLeaderEpochRequest(
            topics=[
                epochs.OffsetForLeaderTopic(
                    topic="t",
                    partitions=[
                        epochs.OffsetForLeaderPartition(partition=n, leader_epoch=0)
                        for n in NUMBERS
                    ],
                )
            ]
        ),
        MANY,
    ),
    "DescribeProducers": (
        describe_producers.HANDLER,
        0,
        lambda: producers.DescribeProducersRequest(
            topics=[producers.TopicRequest(name="t", partition_indexes=list(NUMBERS))]
        ),
        MANY,
    ),
    "DeleteRecords": (
        delete_records.HANDLER,
        2,
        lambda: deletions.DeleteRecordsRequest(
            topics=[
                deletions.DeleteRecordsTopic(
                    name="t",
                    partitions=[
                        deletions.DeleteRecordsPartition(partition_index=n, offset=0)
                        for n in NUMBERS
                    ],
                )
            ]
        ),
        MANY,
    ),
    "Fetch": (
        fetch.HANDLER,
        12,
        lambda: fetches.FetchRequest(
            max_wait_ms=0,
            topics=[
                fetches.FetchTopic(
                    topic="t", partitions=[fetches.FetchPartition(partition=n) for n in NUMBERS]
                )
            ],
        ),
        2 * MANY,
    ),
    "DescribeLogDirs": (
        describe_log_dirs.HANDLER,
        4,
        lambda: DescribeLogDirsRequest(topics=None),
        2 * 5,  # the logs there are: two of "t", three of the group coordinator
    ),
    "OffsetCommit": (
        offset_commit.HANDLER,
        8,
        lambda: commits.OffsetCommitRequest(
            group_id="g",
            topics=[
                commits.OffsetCommitRequestTopic(
                    name="t",
                    partitions=[
                        commits.OffsetCommitRequestPartition(partition_index=n) for n in NUMBERS
                    ],
                )
            ],
        ),
        MANY,
    ),
    "TxnOffsetCommit": (
        txn_offset_commit.HANDLER,
        5,
        lambda: txn_commits.TxnOffsetCommitRequest(
            transactional_id="x",
            group_id="g",
            topics=[
                txn_commits.TxnOffsetCommitRequestTopic(
                    name="t",
                    partitions=[
                        txn_commits.TxnOffsetCommitRequestPartition(partition_index=2 + n)
                        for n in NUMBERS
                    ],
                )
            ],
        ),
        MANY,
    ),
    "WriteTxnMarkers": (
        write_txn_markers.HANDLER,
        2,
        lambda: markers.WriteTxnMarkersRequest(
            markers=[
                markers.WritableTxnMarker(
                    producer_id=1,
                    topics=[
                        markers.WritableTxnMarkerTopic(name="t", partition_indexes=list(NUMBERS))
                    ],
                )
            ]
        ),
        MANY,
    ),
    "OffsetFetch": (
        offset_fetch.HANDLER,
        8,
        lambda: committed.OffsetFetchRequest(
            groups=[committed.OffsetFetchRequestGroup(group_id=name, topics=None) for name in NAMES]
        ),
        MANY,
    ),
    "FindCoordinator": (
        find_coordinator.HANDLER,
        4,
        lambda: FindCoordinatorRequest(key_type=0, coordinator_keys=NAMES),
        MANY,
    ),
    "DescribeGroups": (
        describe_groups.HANDLER,
        5,
        lambda: DescribeGroupsRequest(groups=NAMES),
        MANY // describe_groups.AT_ONCE,
    ),
    "DeleteGroups": (
        delete_groups.HANDLER,
        2,
        lambda: DeleteGroupsRequest(groups_names=NAMES),
        MANY // delete_groups.AT_ONCE,
    ),
    "LeaveGroup": (
        leave_group.HANDLER,
        5,
        lambda: LeaveGroupRequest(
            group_id="g", members=[MemberIdentity(member_id=name) for name in NAMES]
        ),
        MANY // leave_group.AT_ONCE,
    ),
}

METADATA: dict[str, tuple[Handler, int, Callable[[], Any], int]] = {
    "Metadata": (
        metadata.HANDLER,
        12,
        lambda: MetadataRequest(
            topics=[MetadataRequestTopic(name=name) for name in NAMES],
            allow_auto_topic_creation=False,
        ),
        3 * MANY,
    ),
    "DescribeTopicPartitions": (
        describe_topic_partitions.HANDLER,
        0,
        lambda: pages.DescribeTopicPartitionsRequest(
            topics=[pages.TopicRequest(name=name) for name in NAMES]
        ),
        MANY,
    ),
    "DescribeConfigs": (
        describe_configs.HANDLER,
        4,
        lambda: descriptions.DescribeConfigsRequest(
            resources=[
                descriptions.DescribeConfigsResource(
                    resource_type=TOPIC_RESOURCE, resource_name=name
                )
                for name in NAMES
            ]
        ),
        MANY,
    ),
    "AlterConfigs": (
        alter_configs.HANDLER,
        2,
        lambda: legacy.AlterConfigsRequest(
            resources=[
                legacy.AlterConfigsResource(resource_type=TOPIC_RESOURCE, resource_name=name)
                for name in NAMES
            ]
        ),
        2 * MANY,
    ),
    "IncrementalAlterConfigs": (
        incremental_alter_configs.HANDLER,
        1,
        lambda: incremental.IncrementalAlterConfigsRequest(
            resources=[
                incremental.AlterConfigsResource(resource_type=TOPIC_RESOURCE, resource_name=name)
                for name in NAMES
            ]
        ),
        2 * MANY,
    ),
    "ListConfigResources": (
        list_config_resources.HANDLER,
        1,
        ListConfigResourcesRequest,
        2,  # the broker, twice
    ),
    "CreateTopics": (
        create_topics.HANDLER,
        7,
        lambda: create_topics_request.CreateTopicsRequest(
            validate_only=True,
            topics=[
                create_topics_request.CreatableTopic(
                    name=name, num_partitions=1, replication_factor=1
                )
                for name in NAMES
            ],
        ),
        MANY,
    ),
    "DeleteTopics": (
        delete_topics.HANDLER,
        5,
        lambda: DeleteTopicsRequest(topic_names=NAMES, timeout_ms=1000),
        MANY,
    ),
    "CreatePartitions": (
        create_partitions.HANDLER,
        3,
        lambda: create_partitions_request.CreatePartitionsRequest(
            timeout_ms=1000,
            topics=[
                create_partitions_request.CreatePartitionsTopic(name=name, count=2)
                for name in NAMES
            ],
        ),
        MANY,
    ),
    "ElectLeaders": (
        elect_leaders.HANDLER,
        2,
        lambda: elections.ElectLeadersRequest(
            topic_partitions=[elections.TopicPartitions(topic="t", partitions=list(NUMBERS))]
        ),
        MANY,
    ),
    "AlterPartitionReassignments": (
        alter_partition_reassignments.HANDLER,
        0,
        lambda: reassignments.AlterPartitionReassignmentsRequest(
            topics=[
                reassignments.ReassignableTopic(
                    name="t",
                    partitions=[
                        reassignments.ReassignablePartition(partition_index=n, replicas=[1])
                        for n in NUMBERS
                    ],
                )
            ]
        ),
        MANY,
    ),
    "ListPartitionReassignments": (
        list_partition_reassignments.HANDLER,
        0,
        lambda: ongoing.ListPartitionReassignmentsRequest(
            topics=[
                ongoing.ListPartitionReassignmentsTopics(name=name, partition_indexes=[0])
                for name in NAMES
            ]
        ),
        MANY,
    ),
}


@pytest.mark.parametrize("api", BROKER)
def test_requests_to_a_broker(api: str) -> None:
    handler, version, message, breaths = BROKER[api]
    broker = GroupBroker()
    call = Call(broker, handler, message(), version)
    broker.node.end_turn()
    assert call.answer is not None
    assert broker.breaths >= breaths


@pytest.mark.parametrize("api", METADATA)
def test_requests_about_the_metadata(api: str) -> None:
    handler, version, message, breaths = METADATA[api]
    broker = AdminBroker()
    broker.create("t")
    broker.breaths = 0
    assert broker.call(handler, message(), version) is not None
    assert broker.breaths >= breaths
