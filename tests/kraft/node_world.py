"""One node's metadata on a disk in memory; time and threads move when the test says so."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.deferred import Deferred
from pykbroker.environment import Environment
from pykbroker.environment.slices import InOneGo
from pykbroker.kraft.controller_driver import ControllerDriver
from pykbroker.kraft.node_driver import KraftNodeDriver
from pykbroker.kraft.registration import Listener
from pykbroker.kraft.storage_format import ensure_storage
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from pykbroker.purgatory import Purgatory
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.types import Peer

NOW_MS = 1_700_000_000_000


class ManualTimer:
    def __init__(self, deadline_ms: int, callback: Callable[[], object]) -> None:
        self.deadline_ms = deadline_ms
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self.callback = None


class ManualScheduler:
    """Timers fire in `advance`; blocking jobs wait for `run_jobs`, unless `inline`."""

    def __init__(self, now_ms: int, files: MemoryFiles, *, inline: bool = False) -> None:
        self.now_ms = now_ms
        self.files = files
        self.inline = inline
        self.timers: list[ManualTimer] = []
        self.jobs: list[tuple[Callable[[], object], Deferred]] = []

    def call_soon(self, callback: Callable[..., object], *arguments: object) -> ManualTimer:
        return self.call_later(0, callback, *arguments)

    def sleep(self, delay_ms: float) -> Deferred:
        deferred = Deferred()
        self.call_later(delay_ms, deferred.resolve, None)
        return deferred

    def call_later(
        self, delay_ms: float, callback: Callable[..., object], *arguments: object
    ) -> ManualTimer:
        due_ms = self.now_ms + max(int(delay_ms), 0)
        timer = ManualTimer(due_ms, partial(callback, *arguments))
        self.timers.append(timer)
        return timer

    def threads(self, name: str, count: int = 1) -> ManualScheduler:
        """It is the threads, too."""
        return self

    def run(self, job: Callable[[], object]) -> Deferred:
        outcome = Deferred()
        self.jobs.append((job, outcome))
        if self.inline:
            self.run_jobs()
        return outcome

    def run_jobs(self) -> int:
        """Run what waits for the disk, and what that starts."""
        count = 0
        while self.jobs:
            job, outcome = self.jobs.pop(0)
            result: object
            try:
                result = job()
            except OSError as failure:
                result = failure
            outcome.resolve(result)
            count += 1
        return count

    def advance(self, duration_ms: int) -> None:
        """Let time pass: timers fire in their order, jobs run between."""
        end = self.now_ms + duration_ms
        while True:
            due = [timer for timer in self.timers if timer.callback and timer.deadline_ms <= end]
            if not due:
                break
            timer = min(due, key=lambda timer: timer.deadline_ms)
            self.timers.remove(timer)
            self.now_ms = max(self.now_ms, timer.deadline_ms)
            self.files.now_ms = self.now_ms
            callback = timer.callback
            if callback is not None:
                callback()
            self.run_jobs()
        self.now_ms = end

    def close(self) -> None:
        self.run_jobs()


class Watcher:
    """A publisher that remembers what it was told."""

    def __init__(self) -> None:
        self.seen: list[tuple[list[str], list[str]]] = []
        self.image: Any = None

    def apply(self, delta: Any, image: Any) -> None:
        self.image = image
        changed = sorted(topic.name for topic in delta.changed_topics.values())
        deleted = sorted(topic.name for topic in delta.deleted_topics.values())
        self.seen.append((changed, deleted))


class NodeWorld:
    def __init__(self, *, inline: bool = True, **overrides: Any) -> None:
        self.files = MemoryFiles()
        self.files.now_ms = NOW_MS
        properties = standalone_properties("/disk", port=9092)
        properties |= {key.replace("_", "."): value for key, value in overrides.items()}
        self.config = BrokerConfig.from_properties(properties)
        self.scheduler = ManualScheduler(NOW_MS, self.files, inline=inline)
        self.slices = InOneGo()
        self.uuids = 0
        self.fatal: list[BaseException] = []
        self.node: KraftNodeDriver
        self.watcher: Watcher

    def new_uuid(self) -> bytes:
        self.uuids += 1
        return b"\x01" + self.uuids.to_bytes(15, "big")

    def open(self, *, serve: bool = True, is_clean: bool = False) -> NodeWorld:
        """Start on what the disk holds; with `serve` until the broker is unfenced."""
        self.scheduler = ManualScheduler(
            self.scheduler.now_ms, self.files, inline=self.scheduler.inline
        )
        storage = ensure_storage(
            self.files, self.config, now_ms=self.scheduler.now_ms, new_uuid=self.new_uuid
        )
        self.node = KraftNodeDriver(
            config=self.config,
            storage=storage,
            environment=self.environment(),
            on_fatal=self.fatal.append,
            send=self.send,
            purgatory=Purgatory(self.scheduler.now_ms),
            is_clean=is_clean,
        )
        self.node.open()
        self.watcher = Watcher()
        self.node.publish_to([self.watcher])
        if serve:
            self.settle(self.node.register_broker([Listener("PLAINTEXT", "127.0.0.1", 9092)]))
            self.settle(self.node.unfence())
        return self

    def environment(self) -> Environment:
        """What the node gets of this world: nothing listens and nothing connects."""
        scheduler: Any = self.scheduler
        draw: Any = random.Random(1)
        draw.new_uuid = self.new_uuid
        clock: Any = SimpleNamespace(now_ms=lambda: self.scheduler.now_ms)
        nowhere: Any = None
        return Environment(
            files=self.files,
            clock=clock,
            random=draw,
            scheduler=scheduler,
            background=scheduler,
            transport=nowhere,
            slices=self.slices,
        )

    def settle(self, deferred: Deferred, patience_ms: int = 5_000) -> Any:
        for _ in range(patience_ms // 50):
            if deferred.done:
                return deferred.value
            if not self.scheduler.run_jobs():
                self.scheduler.advance(50)
        raise AssertionError("it never settled")

    @property
    def controller(self) -> ControllerDriver:
        assert self.node.controller is not None
        return self.node.controller

    def create(self, name: str, partitions: int = 1) -> Deferred:
        request = CreateTopicsRequest(
            topics=[CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)]
        )
        return self.controller.submit(request, 7)

    def send(self, peer: Peer, message: object, deadline_ms: int, purpose: str) -> Deferred:
        raise AssertionError(f"a quorum of one asks {peer} for {message}")

    def stop(self) -> None:
        self.settle(self.node.controlled_shutdown())
        self.node.close()

    def metadata_files(self) -> list[str]:
        return sorted(self.files.listdir("/disk/__cluster_metadata-0"))
