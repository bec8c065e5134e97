"""Every kind of request to the coordinator, every size of group, and loading."""

from __future__ import annotations

from tests.benchmarks.running import check_rows, run

REQUESTS = ("heartbeat", "commit", "commit 10 partitions", "fetch", "fetch 10 partitions")


def test_every_kind_of_request_has_its_row() -> None:
    lines = run("micro.bench_groups", "--rounds", "1", "--scale", "0.01")
    small, groups, loading = lines[:-5], lines[-5:-1], lines[-1:]
    names = [f"{name}, {how} " for name in REQUESTS for how in ("alone", "gathered")]
    check_rows(small, names, 2)  # median, best
    check_rows(groups, [f"a new group of {size} members" for size in (1, 10, 100, 1000)], 1)
    check_rows(loading, ["loading a log"], 4)  # a record; records, turns, the longest
