"""Options of the data source: every one typed, every wrong one named."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from pykbroker.offline import KAFKA_COLUMNS
from pykbroker.spark import OptionError
from pykbroker.spark.bounds import Bound
from pykbroker.spark.option_names import CANONICAL, IGNORED_OPTIONS
from pykbroker.spark.options import SourceOptions, parse_options
from pykbroker.types import TopicPartition


def parsed(**given: object) -> Any:
    return parse_options({"path": "/logs", **given})


def test_defaults_are_those_of_the_connector() -> None:
    options = parsed(subscribe="a")
    assert options.paths == ("/logs",)
    assert options.topics == ("a",)
    assert options.columns == KAFKA_COLUMNS
    assert options.start is None
    assert options.end is None
    assert options.isolation == "read_uncommitted"
    assert options.fail_on_data_loss is True
    assert options.max_trigger_delay_ms == 15 * 60_000
    assert options.max_offsets_per_trigger is None


def test_names_are_not_case_sensitive_and_values_may_be_python_objects() -> None:
    options = parse_options(
        {"PATH": Path("/logs"), "SUBSCRIBE": "a, b,a", "failondataloss": False, "MinPartitions": 4}
    )
    assert options.paths == ("/logs",)
    assert options.topics == ("a", "b")
    assert options.fail_on_data_loss is False
    assert options.min_partitions == 4


@pytest.mark.parametrize(
    "text, paths",
    [
        ("/a,/b", ("/a", "/b")),
        ('["/a,x", "/b"]', ("/a,x", "/b")),
        ("s3://bucket/logs", ("s3://bucket/logs",)),
    ],
)
def test_paths(text: str, paths: tuple[str, ...]) -> None:
    assert parse_options({"path": text}).paths == paths
    assert parse_options({"paths": text}).paths == paths


def test_relative_paths_mean_the_same_in_all_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = parse_options({"path": "logs,s3://b/x", "corruptBatchSink": "sink"})
    assert options.paths == (f"{tmp_path}/logs", "s3://b/x")
    assert options.corrupt_sink == f"{tmp_path}/sink"


@pytest.mark.parametrize(
    "pattern, topic, matches",
    [
        (".*", "orders", True),
        (".*", "__consumer_offsets", False),
        (".*", "__cluster_metadata", False),
        ("__.*|x", "__transaction_state", False),
        ("__.*|x", "__consumer_offsets_of_mine", True),
        ("(?i)ORD.*", "orders", True),
        ("a|b", "ab", False),
    ],
)
def test_patterns_match_no_internal_topics(pattern: str, topic: str, matches: bool) -> None:
    found = parsed(subscribePattern=pattern).topic_pattern
    assert (re.fullmatch(found, topic) is not None) == matches


def test_storage_options_go_into_the_uri() -> None:
    options = parse_options(
        {
            "path": "s3://b/logs?region=x",
            "storage.scheme": "http",
            "storage.endpoint_override": "127.0.0.1:1",
        }
    )
    assert options.paths == ("s3://b/logs?region=x&endpoint_override=127.0.0.1%3A1&scheme=http",)


def test_a_job_of_the_connector_moves_over_by_its_format_and_a_path() -> None:
    options = parsed(
        **{
            "kafka.bootstrap.servers": "broker:9092",
            "kafka.security.protocol": "SASL_SSL",
            "kafka.sasl.mechanism": "PLAIN",
            "kafka.ssl.truststore.location": "/x",
            "kafka.max.poll.records": "10",
            "kafka.fetch.max.bytes": "10",
            "kafkaConsumer.pollTimeoutMs": "10",
            "fetchOffset.numRetries": "3",
            "groupIdPrefix": "x",
            "kafka.isolation.level": "read_committed",
            "kafka.check.crcs": "false",
            "subscribe": "a",
            "includeHeaders": "true",
        }
    )
    assert options.isolation == "read_committed"
    assert options.verify_checksums is False
    assert options.columns == (*KAFKA_COLUMNS, "headers")


def test_columns() -> None:
    assert parsed(columns="value, key").columns == ("value", "key")
    assert parsed(columns="value", includeHeaders=True).columns == ("value", "headers")
    assert parsed(columns="headers,key", includeHeaders=True).columns == ("headers", "key")


def test_columns_that_say_where_a_record_lies() -> None:
    assert parsed(columns="codec,offset", includeBatchMetadata=True).columns == (
        "codec",
        "offset",
        "batch_base_offset",
        "batch_position",
        "segment_base_offset",
        "batch_size",
        "producer_id",
        "producer_epoch",
        "base_sequence",
        "leader_epoch",
        "is_transactional",
        "is_control",
        "key_size",
        "value_size",
    )


def test_defaults_are_stated_once() -> None:
    assert parsed() == SourceOptions(paths=("/logs",))
    assert SourceOptions(paths=("/logs",)).split_bytes == 256 << 20


def test_bounds_follow_the_precedence_of_the_connector() -> None:
    by_offset = {"startingOffsets": '{"a":{"0":3}}'}
    by_time = {"startingOffsetsByTimestamp": '{"a":{"0":1000}}'}
    assert parsed(**by_offset).start == Bound(
        "startingOffsets", by_partition={TopicPartition("a", 0): 3}
    )
    both = parsed(**by_offset, **by_time).start
    assert both == Bound(
        "startingOffsetsByTimestamp",
        by_partition={TopicPartition("a", 0): 1000},
        is_time=True,
    )
    all_three = parsed(**by_offset, **by_time, startingTimestamp="5").start
    assert all_three == Bound("startingTimestamp", all_at=5, is_time=True)
    assert parsed(endingOffsets="latest").end == Bound("endingOffsets", all_at=-1)


def test_assign() -> None:
    options = parsed(assign='{"a":[0,2],"b":[1]}')
    assert options.assigned == {
        TopicPartition("a", 0),
        TopicPartition("a", 2),
        TopicPartition("b", 1),
    }
    assert options.topics == ("a", "b")


@pytest.mark.parametrize(
    "text, expected", [("256m", 256 << 20), ("1G", 1 << 30), ("77", 77), ("8 MiB", 8 << 20)]
)
def test_sizes(text: str, expected: int) -> None:
    assert parsed(splitBytes=text).split_bytes == expected


@pytest.mark.parametrize(
    "text, expected", [("15m", 900_000), ("2s", 2000), ("500", 500), ("1h", 3_600_000)]
)
def test_durations(text: str, expected: int) -> None:
    assert parsed(maxTriggerDelay=text).max_trigger_delay_ms == expected


@pytest.mark.parametrize(
    "name, given",
    [
        ("path", {"path": ""}),
        ("path", {"path": " , "}),
        ("path", {"path": "[1"}),
        ("nosuch", {"nosuch": "1"}),
        ("kafka.nosuch", {"kafka.nosuch": "1"}),
        ("kafka.auto.offset.reset", {"kafka.auto.offset.reset": "earliest"}),
        ("kafka.value.deserializer", {"kafka.value.deserializer": "x"}),
        ("subscribePattern", {"subscribe": "a", "subscribePattern": "b"}),
        ("subscribePattern", {"subscribePattern": "("}),
        ("subscribePattern", {"subscribePattern": "[a-z&&[^b]]"}),
        ("columns", {"view": "batches", "columns": "offset"}),
        ("includeHeaders", {"view": "segments", "includeHeaders": True}),
        ("includeBatchMetadata", {"view": "transactions", "includeBatchMetadata": "true"}),
        ("assign", {"assign": "a"}),
        ("assign", {"assign": "{}"}),
        ("assign", {"assign": '{"a":["x"]}'}),
        ("assign", {"assign": '{"a":[0.5]}'}),
        ("assign", {"assign": '{"a":[0],"a":[1]}'}),
        ("subscribe", {"subscribe": ","}),
        ("startingOffsets", {"startingOffsets": "now"}),
        ("startingOffsets", {"startingOffsets": '{"a":{"0":"1"}}'}),
        ("startingOffsets", {"startingOffsets": '{"a":[0]}'}),
        ("startingOffsets", {"startingOffsets": '{"a":{"0":-3}}'}),
        ("startingOffsets", {"startingOffsets": '{"a":{"0":1.0}}'}),
        ("startingOffsets", {"startingOffsets": '{"a":{"0":1,"0":2}}'}),
        ("startingOffsets", {"startingOffsets": '{"a":{"0":1,"00":2}}'}),
        ("endingOffsets", {"endingOffsets": "[]"}),
        ("startingTimestamp", {"startingTimestamp": "-1"}),
        ("startingTimestamp", {"startingTimestamp": "today"}),
        ("startingOffsetsByTimestamp", {"startingOffsetsByTimestamp": "latest"}),
        ("startingOffsetsByTimestampStrategy", {"startingOffsetsByTimestampStrategy": "x"}),
        ("isolation", {"isolation": "serializable"}),
        (
            "isolation",
            {"isolation": "read_committed", "kafka.isolation.level": "read_uncommitted"},
        ),
        ("endBound", {"endBound": "lso"}),
        ("mode", {"mode": "IGNORE"}),
        ("decoder", {"decoder": "numba"}),
        ("view", {"view": "index"}),
        ("failOnDataLoss", {"failOnDataLoss": "maybe"}),
        ("minPartitions", {"minPartitions": "0"}),
        ("maxOffsetsPerTrigger", {"maxOffsetsPerTrigger": "many"}),
        ("splitBytes", {"splitBytes": "0"}),
        ("splitBytes", {"splitBytes": "big"}),
        ("maxDecompressedBytes", {"maxDecompressedBytes": "2g"}),
        ("maxTriggerDelay", {"maxTriggerDelay": "soon"}),
        ("columns", {"columns": "key,vaule"}),
        ("columns", {"columns": "key,key"}),
        ("columns", {"columns": ""}),
        ("corruptBatchFormat", {"corruptBatchFormat": "csv"}),
        ("corruptBatchFormat", {"corruptBatchFormat": "parquet"}),
        ("storage.region", {"storage.region": "x"}),
        ("storage.access_key", {"path": "s3://b/x", "storage.access_key": "x"}),
    ],
)
def test_a_wrong_option_is_refused_by_its_name(name: str, given: dict[str, object]) -> None:
    with pytest.raises(OptionError) as caught:
        parse_options({"path": "/logs", **given})
    assert caught.value.name == name
    assert name in str(caught.value)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.name, str(copy)) == (name, str(caught.value))


@pytest.mark.parametrize(
    "given",
    [
        {"startingOffsets": "latest"},
        {"startingOffsets": '{"a":{"0":-1}}'},
        {"endingOffsets": "earliest"},
        {"endingOffsets": '{"a":{"0":-2}}'},
    ],
)
def test_what_makes_no_sense_in_a_batch(given: dict[str, object]) -> None:
    options = parsed(**given)
    with pytest.raises(OptionError, match=next(iter(given))):
        options.check_batch()


def test_what_makes_no_sense_in_a_stream() -> None:
    with pytest.raises(OptionError, match="endingOffsets"):
        parsed(endingOffsets="latest").check_stream()
    with pytest.raises(OptionError, match="view"):
        parsed(view="segments").check_stream()
    with pytest.raises(OptionError, match="minOffsetsPerTrigger"):
        parsed(minOffsetsPerTrigger=5, maxOffsetsPerTrigger=4).check_stream()
    parsed(startingOffsets="latest", maxOffsetsPerTrigger=4).check_stream()


def test_no_option_is_both_honoured_and_ignored() -> None:
    assert not IGNORED_OPTIONS & CANONICAL.keys()
    assert all(name == name.lower() for name in IGNORED_OPTIONS)


@pytest.mark.parametrize(
    "name",
    [
        "kafka.group.protocol",
        "kafka.group.remote.assignor",
        "kafka.auto.include.jmx.reporter",
        "kafka.config.providers",
        "kafka.config.providers.file.class",
    ],
)
def test_newer_options_of_the_network_may_stay(name: str) -> None:
    assert parsed(**{name: "x"}) == parsed()


def test_a_pattern_in_the_syntax_of_java_is_said_to_be_that() -> None:
    with pytest.raises(OptionError, match="Python's syntax, not Java's"):
        parsed(subscribePattern=r"\p{Lower}.*")


@pytest.mark.parametrize(
    "wrong,meant",
    [
        ("spiltBytes", "splitBytes"),
        ("SUBSCIBE", "subscribe"),
        ("startingOffset", "startingOffsets"),
    ],
)
def test_a_misspelled_option_is_told_what_was_meant(wrong: str, meant: str) -> None:
    with pytest.raises(OptionError, match=rf"{wrong}: is unknown; did you mean {meant}\?"):
        parse_options({"path": "/logs", wrong: "1"})
    with pytest.raises(OptionError, match="nosuch: is unknown; the options are path, "):
        parse_options({"path": "/logs", "nosuch": "1"})
