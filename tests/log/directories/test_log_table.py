"""How many logs each log directory has."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from pykbroker.config import TopicConfig
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.directories.test_log_manager import ORDERS, TOPIC_ID, loaded


def test_counts_follow_the_logs() -> None:
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    print("seed", seed)
    manager = loaded(MemoryFiles(), "/a", "/b", "/c")
    for _ in range(300):
        tp = dice.choice(ORDERS)
        log = manager.get(tp)
        if log is None:
            manager.create(tp, TOPIC_ID, TopicConfig.default())
        elif dice.random() < 0.4:
            manager.delete(tp)
        elif dice.random() < 0.2:
            manager.make_stray(log)
        else:
            target = dice.choice([p for p in ("/a", "/b", "/c") if p != log.log_directory])
            manager.moves.create_copy(tp, target)
            manager.moves.promote(tp)
        expected = Counter(log.log_directory for log in manager.logs())
        assert +manager._current.counts == expected
    manager.on_dir_failure("/b")
    assert not manager._current.counts["/b"]
    manager._current.clear()
    assert not +manager._current.counts
    with pytest.raises(KeyError):
        del manager._current[ORDERS[0]]
