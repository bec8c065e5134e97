"""Where a follower cuts: single answers here, whole exchanges in tests/scenarios/truncation_*."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.partition.leader_epochs import LeaderEpochs
from pykbroker.protocol.record_batch import iter_records
from pykbroker.replication import follower_log
from pykbroker.replication.partition import Partition
from pykbroker.replication.truncation import Truncation, diverging_epoch, truncation_for
from tests.harness.scenarios import replayed, scripts
from tests.replication.node import Node, batch
from tests.replication.test_hosting import changed


class Log:
    def __init__(self, end_offset: int, *epochs: tuple[int, int], start_offset: int = 0) -> None:
        self.log_start_offset = start_offset
        self.log_end_offset = end_offset
        self._epochs = LeaderEpochs(epochs)

    def end_offset_for_epoch(self, leader_epoch: int) -> tuple[int, int]:
        return self._epochs.end_offset_for(leader_epoch, self.log_end_offset)


def test_a_log_that_is_no_prefix_diverges() -> None:
    leader = Log(4, (1, 0), (3, 2))
    assert diverging_epoch(leader, 3, 4) is None
    assert diverging_epoch(leader, 1, 2) is None
    assert diverging_epoch(leader, 1, 3) == (1, 2)  # the leader has no offset 2 of epoch 1
    assert diverging_epoch(leader, 2, 3) == (1, 2)  # an epoch that it never had
    for log, epoch, offset in ((leader, 4, 4), (Log(4, (3, 2), start_offset=3), 3, 2)):
        with pytest.raises(KafkaError) as refused:
            diverging_epoch(log, epoch, offset)
        assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize(
    "answer, log, expected",
    [
        ((2, 8), Log(10, (0, 0), (2, 5)), (8, True)),  # the leader has less of epoch 2
        ((2, 12), Log(10, (0, 0), (2, 5), (3, 7)), (7, True)),  # this log has less of it
        ((2, 8), Log(10, (0, 0), (1, 5), (3, 7)), (7, False)),  # it never had epoch 2
        ((0, 4), Log(10, (3, 2)), (2, True)),  # its oldest epoch is above: cut all of that
        ((0, 4), Log(10), (4, True)),  # it knows no epochs at all
        ((5, 30), Log(10, (5, 0)), (10, True)),
        ((-1, 4), Log(10, (5, 0)), (4, True)),  # a leader that knows no epochs
        ((-1, 14), Log(10, (5, 0)), (10, True)),
        ((3, -1), Log(10, (5, 0)), (6, True)),  # a leader that knows nothing: the fetch offset
    ],
)
def test_one_answer(answer: tuple[int, int], log: Log, expected: tuple[int, bool]) -> None:
    assert truncation_for(*answer, 6, log) == Truncation(*expected)


class World:
    """Two replicas with logs as told; one leads, the other fetches until both agree."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.nodes = {node_id: Node(node_id=node_id) for node_id in (1, 2)}
        self.partitions: dict[int, Partition] = {}
        for node_id, node in self.nodes.items():
            node.register(1)
            node.register(2)
            self.partitions[node_id] = node.create_topic(replicas=(1, 2), leader=-1)

    def run(self, command: str) -> None:
        name, *words = command.split()
        getattr(self, f"_{name}")(*words)

    def _log(self, node_id: str, *epochs: str) -> None:
        """EPOCH:COUNT records, a batch for each; EPOCH:0 a leader that wrote nothing."""
        log = self.partitions[int(node_id)].log
        for each in epochs:
            epoch, count = map(int, each.split(":"))
            log.assign_epoch_start(epoch, log.log_end_offset)
            for _ in range(count):
                value = b"%d@%d" % (epoch, log.log_end_offset)
                log.append_as_leader(batch(value), epoch, self.nodes[1].now_ms)
                log.write_pending()
        self.lines.append(
            f"{node_id}: epochs {log.leader_epochs.epochs.entries}, ends at {log.log_end_offset}"
        )

    def _start(self, node_id: str, offset: str) -> None:
        """The log of a node starts at an offset: older records are deleted."""
        partition = self.partitions[int(node_id)]
        partition.high_watermark = int(offset)
        partition.log.advance_log_start_offset(int(offset))

    def _lead(self, node_id: str, epoch: str) -> None:
        while self.partitions[1].leader_epoch < int(epoch):
            for node in self.nodes.values():
                node.apply(changed(leader=int(node_id)))
        for each, partition in self.partitions.items():
            self.lines.append(f"{each}: {partition}, log ends at {partition.log.log_end_offset}")

    def _follow(self) -> None:
        leader, follower = sorted(self.partitions.values(), key=lambda p: not p.is_leader)
        here = follower._local_id
        offset = follower_log.start_offset(follower)
        for _ in range(20):
            epoch = follower_log.latest_epoch(follower)
            self.lines.append(f"{here}: fetch {offset} after epoch {epoch}")
            node = self.nodes[3 - here]
            entry = node.follower_fetch(leader, offset, here, -1, -1 if epoch is None else epoch)
            if entry.error_code:
                self.lines.append(f"{3 - here}: error {entry.error_code}")
                return
            diverging = entry.diverging_epoch
            if diverging is not None:
                cut = truncation_for(diverging.epoch, diverging.end_offset, offset, follower.log)
                follower_log.truncate(follower, cut.offset, node.now_ms)
                self.lines.append(
                    f"{3 - here}: epoch {diverging.epoch} ends at {diverging.end_offset}"
                )
                self.lines.append(f"{here}: cut to {cut.offset}{'' if cut.is_final else ' ...'}")
                offset = follower.log.log_end_offset
                continue
            size = len(entry.records)  # type: ignore[arg-type]
            entry.records = memoryview(entry.records.read()) if size else b""  # type: ignore[union-attr]
            follower_log.append_fetched(follower, offset, follower.leader_epoch, entry, node.now_ms)
            self.lines.append(
                f"{here}: ends at {follower.log.log_end_offset}, high watermark"
                f" {follower.high_watermark}"
            )
            if not size:
                break
            offset = follower.log.log_end_offset
        self.lines.append("equal" if contents(leader) == contents(follower) else "DIFFERENT")


def contents(partition: Partition) -> list[Any]:
    """(offset, epoch, value) of every record from the log start on."""
    log = partition.log
    found: list[Any] = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        read = log.read(offset, 1 << 20, log.log_end_offset)
        assert read.slice is not None
        view = memoryview(read.slice.read())
        while view:
            size = int.from_bytes(view[8:12], "big") + 12
            epoch = int.from_bytes(view[12:16], "big")
            base = int.from_bytes(view[:8], "big")
            found += [
                (base + n, epoch, bytes(record.value or b""))
                for n, record in enumerate(iter_records(view[:size]))
            ]
            offset = base + 1 if not found else found[-1][0] + 1
            view = view[size:]
    return [record for record in found if record[0] >= log.log_start_offset]


@pytest.mark.parametrize("path", scripts("truncation", 5), ids=lambda path: path.stem)
def test_scenarios(path: Path) -> None:
    now, expected = replayed(path, World())
    assert now == expected
