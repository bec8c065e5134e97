"""The part of admin_script about the cluster: its nodes, its quorum, its features."""

from __future__ import annotations

from collections.abc import Iterator

from pykbroker.protocol.messages import (
    describe_cluster_request,
    describe_quorum_request,
    update_features_request,
)
from tests.interop.conversation import Line


def cluster_lines() -> Iterator[Line]:
    for version in range(3):
        for fields in (
            {},
            {"include_cluster_authorized_operations": True},
            {"endpoint_type": 2},
            {"endpoint_type": 3},
            {"include_fenced_brokers": True},
        ):
            if (version >= 1 or "endpoint_type" not in fields) and (
                version >= 2 or "include_fenced_brokers" not in fields
            ):
                message = describe_cluster_request.DescribeClusterRequest(**fields)
                yield Line(f"{fields}", "DescribeCluster", version, message)
    for version in range(3):
        for topic, partition in (
            ("__cluster_metadata", 0),
            ("__cluster_metadata", 1),
            ("two-v7", 0),
        ):
            quorum = describe_quorum_request.DescribeQuorumRequest(
                topics=[
                    describe_quorum_request.TopicData(
                        topic_name=topic,
                        partitions=[
                            describe_quorum_request.PartitionData(partition_index=partition)
                        ],
                    )
                ]
            )
            yield Line(f"{topic}-{partition}", "DescribeQuorum", version, quorum)
    for version in range(3):
        for feature, level in (("no.such", 1), ("metadata.version", 1), ("metadata.version", 999)):
            update = update_features_request.UpdateFeaturesRequest(
                timeout_ms=60_000,
                feature_updates=[
                    update_features_request.FeatureUpdateKey(
                        feature=feature, max_version_level=level
                    )
                ],
            )
            yield Line(f"{feature} {level}", "UpdateFeatures", version, update)
