"""Machines: what a killed process and a power failure leave."""

from __future__ import annotations

import pytest

from pykbroker.testing.world.machine import Machine
from pykbroker.testing.world.memory_files import SimulatedCrash
from pykbroker.testing.world.network import Network
from pykbroker.testing.world.randomness import Dice
from pykbroker.testing.world.virtual_time import EventQueue


def machine_of(seed: int = 1) -> Machine:
    queue = EventQueue()
    return Machine(seed, queue, Network(queue, Dice(seed, "network")), "m")


def test_a_killed_process_leaves_what_it_wrote_and_writes_no_more() -> None:
    machine = machine_of()
    files = machine.boot().files
    files.mkdir("/d")
    files.write_file("/d/a", b"kept")
    machine.end()
    assert machine.files.read_file("/d/a") == b"kept"
    with pytest.raises(SimulatedCrash):
        files.write_file("/d/a", b"from the dead")
    assert machine.boot().files.read_file("/d/a") == b"kept"


def test_a_power_failure_leaves_what_was_synced() -> None:
    left = set()
    for seed in range(30):
        machine = machine_of(seed)
        files = machine.boot().files
        files.mkdir("/d")
        files.sync_dir("/")
        files.write_file("/d/a", b"synced", sync=True)
        files.sync_dir("/d")
        file = files.open("/d/a")
        file.pwritev([b" more"], 6)
        machine.power_off(reorder=False)
        left.add(machine.files.read_file("/d/a"))
    assert {b"synced", b"synced more"} <= left
    assert all(content.startswith(b"synced") for content in left)


def test_each_boot_draws_other_numbers_and_a_seed_draws_the_same() -> None:
    def drawn() -> list[bytes]:
        machine = machine_of(5)
        ids = []
        for _ in range(3):
            ids.append(machine.boot().random.new_uuid())
            machine.end()
        return ids

    assert drawn() == drawn()
    assert len(set(drawn())) == 3


def test_one_process_at_a_time() -> None:
    machine = machine_of()
    machine.boot()
    with pytest.raises(AssertionError):
        machine.boot()
