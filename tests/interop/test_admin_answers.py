"""Apache Kafka 4.4 and pykbroker answer 500 requests about topics and configurations alike.

Metadata, CreateTopics, DeleteTopics, CreatePartitions, DescribeConfigs, AlterConfigs,
IncrementalAlterConfigs, ListConfigResources, DescribeCluster, DescribeTopicPartitions,
DescribeQuorum, UpdateFeatures, ElectLeaders, AlterPartitionReassignments and
ListPartitionReassignments, in every version, with the texts of errors: see admin_script.
"""

from __future__ import annotations

from pykbroker.testing import Broker
from tests.harness.answers import check_answers
from tests.harness.apache import ApacheBroker
from tests.interop import admin_script

# Where we answer otherwise, on purpose: a pattern of the label, and why.
KNOWN: dict[str, str] = {}


def test_every_answer_is_apaches() -> None:
    with ApacheBroker() as apache:
        theirs = admin_script.play(apache.bootstrap_servers, is_slow_to_see=True)
    with Broker() as broker:
        ours = admin_script.play(broker.bootstrap_servers)
    assert len(theirs) > 490
    needed = check_answers(theirs, ours, KNOWN)
    assert needed == set(KNOWN), "we answer as Apache does there: take it off the list"
