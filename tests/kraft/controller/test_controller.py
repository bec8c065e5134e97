"""Activation, transactions, and the rule that replay is the only mutator."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykbroker.decision import MetadataRecord
from pykbroker.errors import KafkaError
from pykbroker.kraft.controller.controller import Controller
from pykbroker.kraft.delta import InconsistentMetadata, MetadataDelta
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_record_codec import decode_metadata_record, encode_metadata_record
from pykbroker.kraft.metadata_replay import MetadataReplay
from pykbroker.protocol.messages.abort_transaction_record import AbortTransactionRecord
from pykbroker.protocol.messages.alter_configs_request import AlterConfigsRequest
from pykbroker.protocol.messages.begin_transaction_record import BeginTransactionRecord
from pykbroker.protocol.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from pykbroker.protocol.messages.delete_topics_request import DeleteTopicsRequest
from pykbroker.protocol.messages.end_transaction_record import EndTransactionRecord
from pykbroker.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.testing.world.randomness import SeededSource
from tests.kraft.controller.controller_world import ControllerWorld, names_of, topic


def test_an_empty_log_gets_the_bootstrap_records_in_a_transaction() -> None:
    world = ControllerWorld()
    assert names_of(world.log) == [
        "BeginTransactionRecord",
        "FeatureLevelRecord",
        "EndTransactionRecord",
    ]
    assert world.image.features == {"metadata.version": 33}


def test_eligible_leaders_begin_with_one_number_of_in_sync_replicas_for_the_cluster() -> None:
    features = {"metadata.version": 33, "eligible.leader.replicas.version": 1}
    world = ControllerWorld(features=features, min_insync_replicas="2")
    assert names_of(world.log) == [
        "BeginTransactionRecord",
        "FeatureLevelRecord",
        "FeatureLevelRecord",
        "ConfigRecord",
        "EndTransactionRecord",
    ]
    assert world.image.cluster_config() == {"min.insync.replicas": "2"}
    assert world.image.features == features


def test_before_metadata_transactions_the_bootstrap_records_stand_alone() -> None:
    assert names_of(ControllerWorld(features={"metadata.version": 7}).log) == ["FeatureLevelRecord"]


def test_a_log_that_is_not_empty_gets_nothing() -> None:
    world = ControllerWorld()
    assert world.controller.activate([], world.now_ms).records == []


def test_an_unfinished_transaction_is_aborted_by_the_next_leader() -> None:
    world = ControllerWorld()
    records = [
        MetadataRecord(BeginTransactionRecord(name="x")),
        MetadataRecord(TopicRecord(name="t", topic_id=b"t" * 16)),
    ]
    world.controller.replay(records, world.controller.state.next_offset, 1, 0)
    decision = world.controller.activate([], world.now_ms)
    assert names_of(decision.records) == ["AbortTransactionRecord"]
    world.controller.replay(decision.records, world.controller.state.next_offset, 2, 0)
    assert world.image.topics_by_name == {}


def test_a_transaction_that_ends_stays() -> None:
    world = ControllerWorld()
    records = [
        MetadataRecord(BeginTransactionRecord(name="x")),
        MetadataRecord(TopicRecord(name="t", topic_id=b"t" * 16)),
        MetadataRecord(EndTransactionRecord()),
    ]
    world.controller.replay(records, world.controller.state.next_offset, 1, 0)
    assert set(world.image.topics_by_name) == {"t"}
    assert world.controller.activate([], world.now_ms).records == []


@pytest.mark.parametrize("record", [EndTransactionRecord(), AbortTransactionRecord(reason="")])
def test_a_transaction_that_did_not_begin_cannot_end(record: Any) -> None:
    world = ControllerWorld()
    with pytest.raises(InconsistentMetadata):
        world.controller.replay([MetadataRecord(record)], 9, 1, 0)


def test_the_index_begins_with_what_is_committed_and_follows() -> None:
    world = ControllerWorld().brokers(1, 2)
    world.create(topic("t", assignments={0: [1, 2]}))
    committed = MetadataReplay(world.image)
    later = Controller(
        node_id=1,
        cluster_id="c",
        config=world.config,
        new_uuid=world.new_uuid,
        random=SeededSource(random.Random(1)),
        committed=committed,
        next_offset=len(world.log),
    )
    topic_id = world.image.topics_by_name["t"].id
    assert list(later.state.index.in_sync(2)) == [(topic_id, 0)]
    change = PartitionChangeRecord(topic_id=topic_id, partition_id=0, isr=[1])
    later.replay([MetadataRecord(change, 2)], len(world.log), 1, 0)
    assert list(later.state.index.in_sync(2)) == []


def test_deciding_changes_nothing() -> None:
    world = ControllerWorld().brokers(1, 2, 3)
    before = world.image
    request = world.registration(4)
    world.controller.register_broker(request, request.MAX_VERSION, world.now_ms)
    assert world.image is before


NAMES = st.sampled_from(["a", "b", "c.d", "c_d", "e"])
BROKERS = st.integers(1, 3)
OPERATIONS = st.one_of(
    st.tuples(st.just("create"), NAMES, st.integers(1, 4), st.integers(1, 3)),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("grow"), NAMES, st.integers(1, 6)),
    st.tuples(st.just("set"), NAMES, st.sampled_from(["retention.ms", "segment.bytes"])),
    st.tuples(st.just("replace"), NAMES),
    st.tuples(st.just("restart"), BROKERS),
    st.tuples(st.just("fence"), BROKERS),
    st.tuples(st.just("alive"), BROKERS),
    st.tuples(st.just("leave"), BROKERS),
)


def perform(world: ControllerWorld, operation: tuple[Any, ...]) -> None:
    kind, name, *rest = operation
    controller = world.controller
    if kind == "create":
        world.create(topic(name, rest[0], rest[1]))
    elif kind == "delete":
        world.decide(controller.delete_topics, DeleteTopicsRequest(topic_names=[name]), 5)
    elif kind == "grow":
        asked = CreatePartitionsTopic(name=name, count=rest[0], assignments=None)
        world.decide(controller.create_partitions, CreatePartitionsRequest(topics=[asked]))
    elif kind == "set":
        config = AlterableConfig(name=rest[0], config_operation=0, value="1048576")
        resource = AlterConfigsResource(resource_type=2, resource_name=name, configs=[config])
        world.decide(
            controller.incremental_alter_configs,
            IncrementalAlterConfigsRequest(resources=[resource]),
        )
    elif kind == "replace":
        from pykbroker.protocol.messages import alter_configs_request as legacy

        whole = legacy.AlterConfigsResource(resource_type=2, resource_name=name)
        world.decide(controller.legacy_alter_configs, AlterConfigsRequest(resources=[whole]))
    elif kind == "restart":
        world.now_ms += 60_000
        world.register(name, incarnation_id=world.new_uuid())
    elif kind == "fence":
        world.heartbeat(name, want_fence=True)
    elif kind == "alive":
        world.heartbeat(name)
    else:
        world.heartbeat(name, want_shut_down=True)


@given(st.lists(OPERATIONS, max_size=25))
@settings(max_examples=60)
def test_replaying_the_log_gives_the_same_state(operations: list[tuple[Any, ...]]) -> None:
    world = ControllerWorld().brokers(1, 2, 3)
    for operation in operations:
        with suppress(KafkaError):  # an answer to the whole request: nothing was written
            perform(world, operation)
    # Every partition that has a leader has it in sync and not fenced; no broker twice. (A broker
    # that is unfenced again before it has registered leads even though it was shutting down.)
    for described in world.image.topics_by_name.values():
        for partition in described.partitions.values():
            assert len(set(partition.replicas)) == len(partition.replicas)
            assert partition.isr
            if partition.leader != -1:
                assert partition.leader in partition.isr
                assert not world.image.brokers[partition.leader].fenced
    again = world.fresh()
    for offset, record in enumerate(world.log):
        written = decode_metadata_record(encode_metadata_record(record))
        again.replay([written], offset, world.epoch, world.now_ms)
    assert without_provenance(again.image) == without_provenance(world.image)
    # The snapshot of the image makes the same image.
    delta = MetadataDelta(MetadataImage())
    for record in world.image.records():
        delta.replay(decode_metadata_record(encode_metadata_record(record)).message)
    assert without_provenance(delta.apply(world.image.provenance)) == without_provenance(
        world.image
    )


def without_provenance(image: MetadataImage) -> list[Any]:
    return [
        image.topics_by_name,
        image.topics_by_id,
        image.brokers,
        image.configs,
        image.features,
        image.next_producer_id,
    ]
