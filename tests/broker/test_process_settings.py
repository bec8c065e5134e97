"""What the start sets for the life of the process."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from pykbroker.broker.process_settings import (
    SWITCH_INTERVAL_S,
    YOUNG,
    settle_collector,
    switch_threads_soon,
)


@pytest.fixture
def collector() -> Iterator[None]:
    threshold = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*threshold)
    gc.enable()


@pytest.mark.usefixtures("collector")
def test_the_collector_comes_seldom_and_leaves_alone_what_is_there() -> None:
    gc.disable()
    settle_collector()
    assert gc.isenabled()
    assert gc.get_threshold()[0] > 700
    assert gc.get_freeze_count() > 0


@pytest.mark.usefixtures("collector")
def test_the_collector_never_looks_at_very_many_objects_at_once() -> None:
    settle_collector()
    passes: list[tuple[int, int]] = []

    def note(phase: str, about: dict[str, int]) -> None:
        if phase == "start":
            generation = about["generation"]
            seen = sum(len(gc.get_objects(each)) for each in range(generation + 1))
            passes.append((generation, seen))

    gc.callbacks.append(note)
    try:
        kept = [[number] for number in range(40 * YOUNG)]
    finally:
        gc.callbacks.remove(note)
    assert len(kept) == 40 * YOUNG
    assert {generation for generation, _ in passes} == {0, 1}
    assert max(seen for _, seen in passes) < 10 * YOUNG


def test_freed_buffers_stay_in_the_process() -> None:
    program = """
import platform, sys
from pykbroker.broker.process_settings import keep_freed_memory
kept = keep_freed_memory()
assert kept == (platform.libc_ver()[0] == "glibc"), kept
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
buffer = bytearray(b"x") * (1 << 20)
full = resident()
del buffer
sys.exit(0 if not kept or full - resident() < 1 << 19 else 1)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_threads_share_the_memory_that_is_kept() -> None:
    # For each arena of its own, glibc reserves 64 MiB of addresses.
    program = """
import sys, threading
from pykbroker.broker.process_settings import keep_freed_memory
kept = keep_freed_memory()
def reserved():
    return int(open("/proc/self/statm").read().split()[0]) * 4096
threading.stack_size(1 << 20)
before = reserved()
buffers = []
for _ in range(4):
    thread = threading.Thread(target=lambda: buffers.append(bytearray(1 << 16)))
    thread.start()
    thread.join()
sys.exit(0 if not kept or reserved() - before < 1 << 26 else 1)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_limit_of_open_files_is_raised_to_the_hard_one() -> None:
    program = """
import resource
from pykbroker.broker.process_settings import MOST_DESCRIPTORS, raise_descriptor_limit
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
expected = MOST_DESCRIPTORS if hard < 0 else min(hard, MOST_DESCRIPTORS)
assert raise_descriptor_limit() == expected
assert resource.getrlimit(resource.RLIMIT_NOFILE) == (expected, hard)
assert raise_descriptor_limit() == expected
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_thread_of_python_code_does_not_hold_the_loop_up() -> None:
    before = sys.getswitchinterval()
    try:
        switch_threads_soon()
        assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL_S)
    finally:
        sys.setswitchinterval(before)
