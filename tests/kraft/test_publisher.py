"""Committed batches become images; publishers hear of each once, in their order."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.decision import MetadataRecord
from pykbroker.deferred import Deferred
from pykbroker.kraft.delta import InconsistentMetadata
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_log import LogBatch
from pykbroker.kraft.metadata_snapshot import Snapshot, SnapshotId
from pykbroker.kraft.publisher import FEW, MetadataLoader, UnsupportedCluster, delta_of_all
from pykbroker.protocol.messages.abort_transaction_record import AbortTransactionRecord
from pykbroker.protocol.messages.begin_transaction_record import BeginTransactionRecord
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.end_transaction_record import EndTransactionRecord
from pykbroker.protocol.messages.feature_level_record import FeatureLevelRecord
from pykbroker.protocol.messages.no_op_record import NoOpRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from tests.harness.records import partition_record


class Log:
    def __init__(self) -> None:
        self.loader = MetadataLoader()
        self.calls: list[tuple[str, list[str]]] = []
        self.offset = 0
        self.loader.publish_to([self.publisher("first"), self.publisher("second")])
        self.calls.clear()

    def publisher(self, name: str) -> Any:
        calls = self.calls

        class Publisher:
            def apply(self, delta: Any, image: MetadataImage) -> None:
                calls.append((name, sorted(at.name for at in delta.changed_topics.values())))

        return Publisher()

    def batch(self, *messages: Any) -> LogBatch:
        records = [MetadataRecord(message) for message in messages]
        base, self.offset = self.offset, self.offset + len(records)
        return LogBatch(base, self.offset - 1, 1, 100, 50, records, [])

    def commit(self, *batches: LogBatch) -> list[tuple[str, list[str]]]:
        self.calls.clear()
        self.loader.on_commit(batches)
        return list(self.calls)


def topic(name: str) -> TopicRecord:
    return TopicRecord(name=name, topic_id=name.encode() * 16)


def test_batches_that_are_committed_together_are_published_once() -> None:
    log = Log()
    assert log.commit(log.batch(topic("a")), log.batch(topic("b"))) == [
        ("first", ["a", "b"]),
        ("second", ["a", "b"]),
    ]
    assert log.loader.image.offset == 1
    assert log.loader.bytes_since_snapshot == 100


def test_no_ops_move_the_image_and_nobody_is_told() -> None:
    log = Log()
    assert log.commit(log.batch(NoOpRecord())) == []
    assert log.loader.image.offset == 0


def test_a_transaction_shows_when_it_ends() -> None:
    log = Log()
    before = log.batch(topic("a"), BeginTransactionRecord(name="x"), topic("b"))
    assert log.commit(before) == [("first", ["a"]), ("second", ["a"])]
    assert log.loader.in_transaction
    assert log.loader.image.offset == 0
    assert log.commit(log.batch(topic("c"))) == []
    assert log.commit(log.batch(EndTransactionRecord()))[0] == ("first", ["b", "c"])
    assert not log.loader.in_transaction


def test_an_aborted_transaction_never_was() -> None:
    log = Log()
    log.commit(log.batch(BeginTransactionRecord(name="x"), topic("a")))
    assert log.commit(log.batch(AbortTransactionRecord(reason=""), topic("b")))[0] == (
        "first",
        ["b"],
    )
    assert set(log.loader.image.topics_by_name) == {"b"}


@pytest.mark.parametrize(
    "messages",
    [
        [EndTransactionRecord()],
        [AbortTransactionRecord(reason="")],
        [BeginTransactionRecord(name="x"), BeginTransactionRecord(name="y")],
    ],
)
def test_markers_without_a_partner(messages: list[Any]) -> None:
    log = Log()
    with pytest.raises(InconsistentMetadata):
        log.commit(log.batch(*messages))


def test_a_feature_that_is_not_built_stops_the_node() -> None:
    log = Log()
    with pytest.raises(UnsupportedCluster, match=r"share\.version"):
        log.commit(log.batch(FeatureLevelRecord(name="share.version", feature_level=1)))


def test_a_snapshot_is_the_beginning() -> None:
    records = [MetadataRecord(topic("a"))]
    loader = MetadataLoader()
    loader.load_snapshot(Snapshot(SnapshotId(40, 3), 77, 1, None, records))
    assert set(loader.image.topics_by_name) == {"a"}
    assert loader.image.provenance == (39, 3, 77)


def test_a_publisher_that_comes_later_is_told_everything() -> None:
    log = Log()
    log.commit(log.batch(topic("a")))
    log.calls.clear()
    log.loader.publish_to([log.publisher("late")])
    assert log.calls == [("late", ["a"])]
    everything = delta_of_all(log.loader.image)
    assert everything.apply(log.loader.image.provenance) != MetadataImage()


def test_a_later_snapshot_replaces_the_image_and_tells_the_difference() -> None:
    log = Log()
    log.commit(log.batch(topic("gone")), log.batch(topic("kept")))
    deltas: list[Any] = []

    class Publisher:
        def apply(self, delta: Any, image: MetadataImage) -> None:
            deltas.append(delta)

    log.loader.publish_to([Publisher()])
    records = [MetadataRecord(topic("kept")), MetadataRecord(topic("new"))]
    log.loader.load_snapshot(Snapshot(SnapshotId(40, 3), 77, 1, None, records))
    delta = deltas[-1]
    assert [at.name for at in delta.changed_topics.values()] == ["new"]
    assert [at.name for at in delta.deleted_topics.values()] == ["gone"]
    assert delta.apply(log.loader.image.provenance) == log.loader.image


class Later:
    """Slices of a test: jobs run when it says so."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Any, Deferred]] = []

    is_running = False

    def run(self, name: str, job: Any, is_wanted: Any = None, after_slice: Any = None) -> Deferred:
        deferred = Deferred()
        self.jobs.append((job, deferred))
        return deferred

    def hold(self, is_held: bool) -> None:
        """Every job is wanted."""

    def breathe(self) -> None:
        """Nothing else waits."""

    def apart(self, work: Any) -> None:
        work()

    def close(self) -> None:
        """Nothing is left behind."""

    def go_on(self) -> None:
        job, deferred = self.jobs.pop(0)
        try:
            deferred.resolve(job())
        except Exception as failure:
            deferred.resolve(failure)


class LongLog(Log):
    """A log whose loader publishes large changes when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.slices = Later()
        self.fatal: list[BaseException] = []
        self.published: list[str] = []
        self.loader = MetadataLoader(self.slices, self.fatal.append)
        self.loader.publish_to([self.publisher("first")])
        self.calls.clear()

    def take(self, name: str, *messages: Any) -> None:
        self.loader.on_commit([self.batch(*messages)], lambda: self.published.append(name))


def wide(name: str, partitions: int) -> list[Any]:
    topic_id = name.encode() * 16
    return [topic(name), *(partition_record(topic_id, number) for number in range(partitions))]


def test_a_large_change_is_published_in_slices_and_all_that_follows_after_it() -> None:
    log = LongLog()
    log.take("small", *wide("a", FEW))
    assert (log.published, log.slices.jobs) == (["small"], [])
    log.take("large", *wide("b", FEW + 1))
    log.take("next", *wide("c", 1))
    assert log.calls == [("first", ["a"])]
    assert set(log.loader.image.topics_by_name) == {"a"}  # what is not published does not show
    assert set(log.loader.committed().stable.topics_by_name) == {"a", "b", "c"}
    log.slices.go_on()
    assert log.calls == [("first", ["a"]), ("first", ["b"]), ("first", ["c"])]
    assert log.published == ["small", "large", "next"]
    assert set(log.loader.image.topics_by_name) == {"a", "b", "c"}
    log.take("small again", topic("d"))
    assert (log.published[-1], log.slices.jobs) == ("small again", [])


def test_what_is_committed_while_a_publisher_breathes_is_published_after() -> None:
    log = LongLog()

    class Breathing:
        def apply(self, delta: Any, image: MetadataImage) -> None:
            if "b" in image.topics_by_name and "c" not in image.topics_by_name:
                log.take("meanwhile", *wide("c", FEW + 1))

    log.loader.publish_to([Breathing(), log.publisher("last")])
    log.calls.clear()
    log.take("large", *wide("b", FEW + 1))
    log.slices.go_on()
    assert log.calls == [("first", ["b"]), ("last", ["b"]), ("first", ["c"]), ("last", ["c"])]
    assert log.published == ["large", "meanwhile"]
    assert log.slices.jobs == []


def test_a_batch_that_goes_on_is_published_with_its_end() -> None:
    log = LongLog()
    whole = log.batch(topic("a"), topic("b"))
    first = whole._replace(last_offset=0, records=whole.records[:1], is_end=False)
    rest = whole._replace(base_offset=1, records=whole.records[1:])
    log.loader.on_commit([first], lambda: log.published.append("first"))
    assert (log.calls, log.published, log.loader.image.offset) == ([], [], -1)
    log.loader.on_commit([rest], lambda: log.published.append("rest"))
    assert (log.calls, log.published) == ([("first", ["a", "b"])], ["rest"])
    assert log.loader.image.offset == 1


def test_a_snapshot_of_many_partitions_is_published_in_slices() -> None:
    log = LongLog()
    records = [MetadataRecord(message) for message in wide("b", FEW + 1)]
    log.loader.load_snapshot(Snapshot(SnapshotId(40, 3), 77, 1, None, records))
    log.offset = 40
    log.take("next", *wide("c", 1))
    assert (log.calls, log.published) == ([], [])
    log.slices.go_on()
    assert log.calls == [("first", ["b"]), ("first", ["c"])]
    assert log.published == ["next"]
    assert set(log.loader.image.topics_by_name) == {"b", "c"}


def test_a_publisher_that_fails_in_a_slice_is_fatal() -> None:
    log = LongLog()
    log.take("large", *wide("b", FEW + 1))
    log.loader._publishers[0].apply = None  # type: ignore[method-assign, assignment]
    log.slices.go_on()
    assert [type(failure) for failure in log.fatal] == [TypeError]
    assert log.published == []


def test_publishers_of_a_large_image_are_told_in_slices_or_say_why_not() -> None:
    log = LongLog()
    log.take("large", *wide("b", FEW + 1))
    log.slices.go_on()
    log.calls.clear()
    told = log.loader.publish_to([log.publisher("late")])
    assert not told.done
    log.slices.go_on()
    assert (told.done, told.value, log.calls) == (True, None, [("late", ["b"])])
    refused = log.loader.publish_to([object()])  # type: ignore[list-item]
    log.slices.go_on()
    assert isinstance(refused.value, AttributeError)
    assert log.fatal == []


def test_many_configurations_are_published_in_slices_too() -> None:
    log = LongLog()
    log.take(
        "configs",
        *[
            ConfigRecord(resource_type=2, resource_name=f"t{number}", name="a", value="b")
            for number in range(FEW + 1)
        ],
    )
    assert log.published == []
    log.slices.go_on()
    assert log.published == ["configs"]


def test_nothing_is_published_to_those_that_are_being_closed() -> None:
    log = LongLog()
    log.take("large", *wide("b", FEW + 1))
    log.loader.stop_publishing()
    log.slices.go_on()
    log.take("small", topic("c"))
    assert log.calls == []
    assert log.published == ["large", "small"]
    assert not log.loader.image.topics_by_name


def test_one_that_applies_a_long_change_may_be_closed_when_it_has_ended() -> None:
    log = LongLog()
    assert log.loader.stop_publishing() is None
    log = LongLog()
    log.take("large", *wide("b", FEW + 1))
    left = log.loader.stop_publishing()
    assert left is not None
    assert not left.done
    log.slices.go_on()
    assert (left.done, left.value) == (True, None)
    log.take("small", topic("c"))
    assert log.published == ["large", "small"]


def test_the_node_halts_before_a_publisher_that_has_failed_is_closed() -> None:
    log = LongLog()

    def fail(delta: Any, image: MetadataImage) -> None:
        left = log.loader.stop_publishing()
        assert left is not None
        left.on_resolved(lambda _: log.published.append(f"left after {log.fatal}"))
        raise ValueError("a bug")

    log.take("large", *wide("b", FEW + 1))
    log.loader._publishers[0].apply = fail  # type: ignore[method-assign]
    log.slices.go_on()
    assert log.published == ["left after [ValueError('a bug')]"]


def test_the_one_that_is_told_at_that_moment_is_the_last() -> None:
    log = LongLog()

    class Stopping:
        def apply(self, delta: Any, image: MetadataImage) -> None:
            log.loader.stop_publishing()

    log.loader.publish_to([log.publisher("before"), Stopping(), log.publisher("after")])
    assert [name for name, _ in log.calls] == ["before"]
