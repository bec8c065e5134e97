"""The result of comparing two copies: numbers over all partitions, and a sentence."""

from __future__ import annotations

from typing import Any, Final

from spark_jobs.parts.wording import counted

#: What batches or records can be.
KINDS: Final = ("equal", "differing", "only_here", "only_there", "damaged")


def summary_of(rows: list[dict[str, Any]], damaged: dict[str, int]) -> dict[str, Any]:
    """Summarise the rows of the partitions, and the damaged batches of each copy."""
    summary: dict[str, Any] = {kind: sum(row[kind] for row in rows) for kind in KINDS}
    summary |= {f"damaged_batches_{name}": count for name, count in damaged.items()}
    both = [row for row in rows if row["end_here"] is not None and row["end_there"] is not None]
    summary["partitions_in_one_copy_only"] = len(rows) - len(both)
    is_same = not any(summary[name] for name in summary if name != "equal")
    apart = {
        "starting_later_here": [_is_later(row, "here", "there") for row in both],
        "starting_later_there": [_is_later(row, "there", "here") for row in both],
        "shorter_here": [row["end_here"] < row["end_there"] for row in both],
        "shorter_there": [row["end_there"] < row["end_here"] for row in both],
    }
    counts = {f"partitions_{name}": sum(found) for name, found in apart.items()}
    summary |= counts
    later, earlier = list(counts.values())[:2], list(counts.values())[2:]
    summary["is_equal"] = is_same and not any(counts.values())
    summary["is_prefix"] = is_same and any(earlier) and not any(later)
    return summary


def _is_later(row: dict[str, Any], name: str, other: str) -> bool:
    """Whether a copy begins behind the other one's first record; one that has none (of this time)
    does not begin, it only ends earlier."""
    start, end = row[f"start_{other}"], row[f"end_{other}"]
    return bool(start < min(row[f"start_{name}"], end))


def verdict_of(summary: dict[str, Any]) -> str:
    """Return the result in words."""
    is_same = not any(
        summary[name]
        for name in summary
        if name.startswith(("differing", "only_", "damaged", "partitions_in_one"))
    )
    if summary["is_equal"]:
        return "The copies are equal"
    broken = [
        f"{summary[f'damaged_batches_{name}']:,} {name}"
        for name in ("here", "there")
        if summary[f"damaged_batches_{name}"]
    ]
    if broken:
        return f"Batches cannot be read: {', '.join(broken)}"
    if not is_same:
        return "The copies differ"
    here, there = summary["partitions_shorter_here"], summary["partitions_shorter_there"]
    if not summary["is_prefix"] or (here and there):
        words = (
            ("starting_later_here", "begin", "later here"),
            ("starting_later_there", "begin", "later there"),
            ("shorter_here", "end", "earlier here"),
            ("shorter_there", "end", "earlier there"),
        )
        sums = [(summary[f"partitions_{name}"], verb, how) for name, verb, how in words]
        told = (f"{n} {verb if n > 1 else f'{verb}s'} {how}" for n, verb, how in sums if n)
        shown = ", ".join(told)
        return f"Equal where both are; of the partitions {shown}"
    name, other = ("This copy", "the other") if here else ("The other copy", "this one")
    verb = "ends" if (here or there) == 1 else "end"
    return f"{name} is a prefix of {other}: {counted(here or there, 'partition')} {verb} earlier"
