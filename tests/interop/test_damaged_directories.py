"""Every kind of damage to a data directory, under a node and under stock clients.

The node starts and serves every record that is not damaged, or refuses the directory in one line;
it never serves a wrong record and never ends by itself. One line of its log names the file, and
`pykbroker dump-log --verify` finds the damage before that.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import time
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.cli.main import main
from pykbroker.testing import Broker
from pykbroker.testing.broker import BrokerFailed
from tests.harness.consumed import offset_of

TOPIC = "precious"
COUNT = 3000
NOW_MS = int(time.time() * 1000) - 100_000
SETTINGS = {"log.index.interval.bytes": "4096"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that was stopped cleanly: three segments and more of an idempotent producer."""
    data_dir = tmp_path_factory.mktemp("whole") / "data"
    with Broker(data_dir=data_dir, overrides=SETTINGS) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        topic = NewTopic(TOPIC, 1, 1, config={"segment.bytes": "1048576", "retention.ms": "-1"})
        admin.create_topics([topic])[TOPIC].result(60)
        produce(broker, 0, COUNT)
        broker.stop()
    assert len(list((data_dir / f"{TOPIC}-0").glob("*.log"))) >= 3
    return data_dir


def value(number: int) -> bytes:
    return b"%d " % number + bytes([number % 251]) * 1000


def produce(broker: Broker, first: int, count: int) -> None:
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "enable.idempotence": True,
            "batch.num.messages": 10,
        }
    )
    for number in range(first, first + count):
        producer.produce(TOPIC, value(number), b"%d" % number, 0, timestamp=NOW_MS + number)
        producer.poll(0)
    assert producer.flush(60) == 0


def consume(broker: Broker, start: int = OFFSET_BEGINNING) -> tuple[int, str | None]:
    """How many records there are from `start` on, each what it should be; the error at the end."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "reader",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 20,
            "check.crcs": True,
        }
    )
    consumer.assign([TopicPartition(TOPIC, 0, start)])
    found = 0
    while True:
        message = consumer.poll(60)
        assert message is not None, f"nothing after {found} records"
        error = message.error()
        if error is None:
            assert message.value() == value(offset_of(message))
            assert message.key() == b"%d" % offset_of(message)
            found += 1
        else:
            consumer.close()
            is_end = error.code() == KafkaError._PARTITION_EOF
            return found, None if is_end else error.name()


def verify(data_dir: Path) -> str:
    """What dump-log says of a damaged directory."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = main(["dump-log", "--verify", "--files", str(data_dir)])
    assert code == 1, printed.getvalue()
    return printed.getvalue()


def overwrite(path: Path, position: int, with_bytes: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(position)
        file.write(with_bytes)


def segment(data_dir: Path, index: int, suffix: str = "log") -> Path:
    return sorted((data_dir / f"{TOPIC}-0").glob(f"*.{suffix}"))[index]


def batch_position(path: Path, number: int) -> int:
    """Where the batch with this number begins."""
    content = path.read_bytes()
    position = 0
    for _ in range(number):
        position += 12 + int.from_bytes(content[position + 8 : position + 12], "big")
    return position


@pytest.fixture
def broken(whole: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    shutil.copytree(whole, tmp_path / "data")
    return tmp_path / "data"


def log_lines(broker: Broker, name: str) -> list[str]:
    return [
        line
        for line in broker.log_text.splitlines()
        if name in line and (" WARN" in line or " ERROR" in line)
    ]


def test_a_corrupt_byte_in_a_record(broken: Path) -> None:
    path = segment(broken, 1)
    base = int(path.stem)
    position = batch_position(path, 5)
    overwrite(path, position + 300, b"\xff\xfe")
    said = verify(broken)
    assert path.name in said
    assert str(position) in said
    with Broker(data_dir=broken, overrides=SETTINGS) as broker:
        found, error = consume(broker)
        assert found == base + 50, "not the records before the damage, or more than them"
        assert error is not None
        found, error = consume(broker, base + 60)
        assert (found, error) == (COUNT - base - 60, None)


def test_a_corrupt_length_in_a_closed_segment(broken: Path) -> None:
    path = segment(broken, 1)
    base = int(path.stem)
    position = batch_position(path, 5)
    overwrite(path, position + 8, b"\x7f\xff\xff\xff")
    said = verify(broken)
    assert path.name in said
    assert str(position) in said
    with Broker(data_dir=broken, overrides=SETTINGS) as broker:
        found, error = consume(broker, base + 50)
        assert found == 0
        assert error is not None
        (line,) = log_lines(broker, path.name)[:1]
        assert str(position) in line
        end = int(segment(broken, 2).stem)
        assert consume(broker, end) == (COUNT - end, None)
        assert "Traceback" not in broker.log_text


def test_a_closed_segment_cut_short(broken: Path) -> None:
    """What was in the last batches is gone; consumers go on with the next segment."""
    path = segment(broken, 1)
    following = int(segment(broken, 2).stem)
    cut = batch_position(path, 7) + 500
    with path.open("r+b") as file:
        file.truncate(cut)
    assert path.name in verify(broken)
    lost = following - int(path.stem) - 70
    with Broker(data_dir=broken, overrides=SETTINGS) as broker:
        assert consume(broker) == (COUNT - lost, None)
        assert consume(broker, int(path.stem) + 75) == (COUNT - following, None)
        (line,) = [line for line in log_lines(broker, path.name) if "ends within a batch" in line]
        assert f"offsets {int(path.stem) + 70} to {following - 1} are lost" in line
        produce(broker, COUNT, 10)
        assert consume(broker) == (COUNT - lost + 10, None)
        assert "Traceback" not in broker.log_text


def test_the_first_segment_deleted_by_hand(broken: Path) -> None:
    path = segment(broken, 0)
    following = int(segment(broken, 1).stem)
    path.unlink()
    with Broker(data_dir=broken, overrides=SETTINGS) as broker:
        assert consume(broker) == (COUNT - following, None)
        (line,) = [line for line in log_lines(broker, TOPIC) if " ERROR" in line]
        assert f"offsets 0 to {following - 1} are lost" in line


@pytest.mark.parametrize("suffix", ["index", "timeindex"])
@pytest.mark.parametrize("garbage", [b"\xff", b"\x00\x01"])
def test_garbage_in_an_index(broken: Path, suffix: str, garbage: bytes) -> None:
    path = segment(broken, 1, suffix)
    size = path.stat().st_size
    assert size > 24
    path.write_bytes((garbage * size)[:size])
    assert path.name in verify(broken)
    with Broker(data_dir=broken, overrides=SETTINGS) as broker:
        assert consume(broker) == (COUNT, None)
        middle = int(segment(broken, 1).stem) + 100
        assert consume(broker, middle) == (COUNT - middle, None)
        consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "t"})
        (found,) = consumer.offsets_for_times([TopicPartition(TOPIC, 0, 1)], timeout=60)
        assert found.offset == 0
        consumer.close()
        assert "Traceback" not in broker.log_text


@pytest.mark.parametrize("left", [0, 5, 40])
def test_a_truncated_snapshot(broken: Path, left: int) -> None:
    path = segment(broken, -1, "snapshot")
    path.write_bytes(path.read_bytes()[:left])
    assert path.name in verify(broken)
    with Broker(data_dir=broken, overrides=SETTINGS) as broker:
        assert log_lines(broker, path.name)
        assert consume(broker) == (COUNT, None)
        produce(broker, COUNT, 10)
        assert consume(broker) == (COUNT + 10, None)
        assert "Traceback" not in broker.log_text


@pytest.mark.parametrize(
    "name",
    [
        "recovery-point-offset-checkpoint",
        "log-start-offset-checkpoint",
        "replication-offset-checkpoint",
        "cleaner-offset-checkpoint",
        f"{TOPIC}-0/leader-epoch-checkpoint",
    ],
)
def test_a_bad_line_in_a_checkpoint(broken: Path, name: str) -> None:
    path = broken / name
    path.write_text("0\n2\nsomething that is no entry\n")
    assert path.name in verify(broken)
    with Broker(data_dir=broken, overrides=SETTINGS | {"log.cleaner.backoff.ms": "50"}) as broker:
        assert consume(broker) == (COUNT, None)
        produce(broker, COUNT, 10)
        assert consume(broker) == (COUNT + 10, None)
        if not name.startswith("cleaner"):  # that one is read when the cleaner first looks
            assert log_lines(broker, path.name)
        assert "Traceback" not in broker.log_text


def test_foreign_files(broken: Path) -> None:
    (broken / "notes.txt").write_text("not ours")
    (broken / "lost+found").mkdir()
    (broken / f"{TOPIC}-0" / "notes.txt").write_text("not ours")
    (broken / f"{TOPIC}-0" / "old.log").write_text("a log without an offset")
    said = verify(broken)
    assert "old.log" in said
    with Broker(data_dir=broken, overrides=SETTINGS) as broker:
        assert consume(broker) == (COUNT, None)
        assert "Traceback" not in broker.log_text
    for name in ("notes.txt", "lost+found", f"{TOPIC}-0/notes.txt", f"{TOPIC}-0/old.log"):
        assert (broken / name).exists(), name


def test_a_topic_id_that_cannot_be_read(broken: Path) -> None:
    path = broken / f"{TOPIC}-0" / "partition.metadata"
    path.write_text("version: 0\ntopic_id: nonsense\n")
    assert path.name in verify(broken)
    with Broker(data_dir=broken, overrides=SETTINGS) as broker:
        assert log_lines(broker, path.name)
        assert "Traceback" not in broker.log_text


@pytest.mark.parametrize(
    ("line", "told"),
    [("node.id=7", "7"), ("cluster.id=AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAA")],
)
def test_a_directory_of_another_node(broken: Path, tmp_path: Path, line: str, told: str) -> None:
    key = line.partition("=")[0]
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(broken / "meta.properties", other)
    meta = other / "meta.properties"
    kept = [old for old in meta.read_text().splitlines() if not old.startswith((key, "directory"))]
    meta.write_text("\n".join([*kept, line, "directory.id=BBBBBBBBBBBBBBBBBBBBBB", ""]))
    before = sorted(path.name for path in other.iterdir())
    directories = {"log.dirs": f"{broken},{other}"}
    broker = Broker(data_dir=broken, overrides=SETTINGS | directories)
    try:
        with pytest.raises(BrokerFailed, match="exit code 1"):
            broker.start()
        (said,) = [text for text in broker.log_text.splitlines() if str(other) in text]
        assert told in said
        assert "Traceback" not in broker.log_text
    finally:
        broker.close()
    assert sorted(path.name for path in other.iterdir()) == before
