"""Show what consumer groups committed and how far behind they were, from __consumer_offsets.

`lag` has one row for each group and partition as it is now: committed offset, end of the log, lag.
`history` has every commit that compaction has left, with the end of the log at that time. That end
is derived from the timestamps of the batches; it is null where they do not allow it, because
producers may set timestamps as they like. A partition whose commit was deleted (by a tombstone) is
not in `lag`. Commits of a transaction count once the transaction is committed. Records that may be
commits and cannot be decoded (for example of an unknown version) are skipped, and counted as
`undecodable_records` whatever their group and topic. --topics and --topic-pattern select the topics
that were consumed; --since and --until select commits by the time at which they were written.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as f

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pykbroker.offline import OfflineError, UnknownTopic, log_ends, records_of
from pykbroker.offline.layout import find_partitions
from pykbroker.offline.split import topic_pattern
from pykbroker.spark import map_batches
from pykbroker.spark.options import parse_options
from pykbroker.spark.tasks import base_selection
from spark_jobs.parts import pictures
from spark_jobs.parts.job import Job
from spark_jobs.parts.progress import step
from spark_jobs.parts.reading import source_options
from spark_jobs.parts.results import Outcome, rows_table
from spark_jobs.parts.sizes import Integers, integers
from spark_jobs.parts.wording import counted

CONSUMER_OFFSETS: Final = "__consumer_offsets"
#: Types of records: now, before Kafka 0.9, and none: it cannot be told whether that is a commit.
_COMMIT_TYPES: Final = pa.array(["OffsetCommit", "LegacyOffsetCommit", None])
#: How options begin that choose records: of the commits, not of what was consumed.
_OF_COMMITS: Final = ("starting", "ending", "where")
#: Lines of no more commits have a dot on each of them.
_MARKED: Final = 40
_COMMIT: Final = pa.schema(
    [
        ("group", pa.string()),
        ("topic", pa.string()),
        ("topic_partition", pa.int32()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("commit_timestamp_ms", pa.int64()),
        ("committed_offset", pa.int64()),
    ]
)
_DDL: Final = (
    "`group` string, topic string, topic_partition int, partition int, offset bigint, "
    "commit_timestamp_ms bigint, committed_offset bigint"
)
_GROWTH: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("number", pa.int64()),
        ("end", pa.int64()),
    ]
)
_GROWTH_DDL: Final = "topic string, partition int, number bigint, end bigint"
_PLACE: Final = [("group", pa.string()), ("topic", pa.string()), ("partition", pa.int32())]
_HISTORY: Final = pa.schema(
    [
        *_PLACE,
        ("committed_at_ms", pa.int64()),
        ("committed_offset", pa.int64()),
        ("log_end_offset", pa.int64()),
        ("lag", pa.int64()),
    ]
)
_LAG: Final = pa.schema(
    [
        *_PLACE,
        ("committed_offset", pa.int64()),
        ("log_end_offset", pa.int64()),
        ("lag", pa.int64()),
        ("committed_at_ms", pa.int64()),
        ("commits", pa.int64()),
    ]
)
Place = tuple[str, int]
#: By partition: times, ascending, and what belongs to each of them.
Growth = dict[Place, tuple[Integers, Integers]]


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--group", help="show only this group (default: all)")


def run(spark: Any, arguments: Namespace) -> Outcome:
    step("decoding commits")
    text = arguments.topic_pattern
    pattern = None if text is None else topic_pattern(text)
    is_chosen = f.lit(True)
    if arguments.group is not None:
        is_chosen &= f.col("group") == arguments.group
    named = parse_options(source_options(arguments)).topics or ()
    if named:
        is_chosen &= f.col("topic").isin(*named)
    commits = _all_commits(spark, arguments, pattern).where(f.col("topic").isNull() | is_chosen)
    rows = commits.orderBy("group", "topic", "topic_partition", "offset").toArrow().to_pylist()
    found = [row for row in rows if row["topic"] is not None]
    if pattern is not None and not found:
        _check_pattern(spark, arguments, pattern)
    _check_names(spark, arguments, named, found)
    step("finding the ends of the logs")
    committed = [row for row in found if row["committed_offset"] is not None]
    ends = _ends(arguments, {row["topic"] for row in found})
    growth = _growth(spark, arguments, _moments(committed, ends))
    history = [_history_row(row, growth) for row in committed]
    lag = _lag(found, ends)
    known = [row["lag"] for row in lag if row["lag"] is not None]
    summary = {
        "groups": len({row["group"] for row in lag}),
        "commits": len(history),
        "total_lag_records": sum(known),
        "largest_lag_records": max(known, default=0),
        "undecodable_records": len(rows) - len(found),
    }
    return Outcome(
        {"lag": rows_table(lag, _LAG), "history": rows_table(history, _HISTORY)}, summary
    )


def _all_commits(spark: Any, arguments: Namespace, pattern: re.Pattern[str] | None = None) -> Any:
    """Commits that cannot be decoded have no topic."""
    options = commit_options(arguments)
    return map_batches(spark, options, lambda batches: _commits(batches, pattern), _DDL)


def _check_names(
    spark: Any, arguments: Namespace, named: Sequence[str], found: list[dict[str, Any]]
) -> None:
    """Raise OfflineError for a group that never committed, or a topic that neither exists nor has
    commits.
    """
    paths = parse_options(commit_options(arguments)).paths
    unknown = set(named) - {row["topic"] for row in found}
    if unknown:
        unknown -= {each.topic for each in find_partitions(paths)}
    if not unknown and (arguments.group is None or found):
        return
    groups, topics = _every_name(spark, arguments)
    where = ", ".join(paths)
    if arguments.group is not None and arguments.group not in groups:
        raise OfflineError(f"no commits of group {arguments.group!r} in {where}; {_some(groups)}")
    for topic in sorted(unknown - topics):
        raise UnknownTopic(f"no topic {topic!r} and no commits to it in {where}; {_some(topics)}")


def _check_pattern(spark: Any, arguments: Namespace, pattern: re.Pattern[str]) -> None:
    """Raise UnknownTopic for a pattern that matches no topic of the logs or of the commits."""
    paths = parse_options(commit_options(arguments)).paths
    _, topics = _every_name(spark, arguments)
    topics |= {each.topic for each in find_partitions(paths)}
    if not any(map(pattern.fullmatch, topics)):
        told = f"no topic and no commits match the pattern {arguments.topic_pattern!r}"
        raise UnknownTopic(f"{told} in {', '.join(paths)}; {_some(topics)}")


def _every_name(spark: Any, arguments: Namespace) -> tuple[set[str], set[str]]:
    """Return the groups and topics in commits, at any time: rarely needed."""
    every = _all_commits(spark, Namespace(**vars(arguments) | {"since": None, "until": None}))
    pairs = every.where("topic is not null").select("group", "topic").distinct().collect()
    return {row["group"] for row in pairs}, {row["topic"] for row in pairs}


def _some(names: set[str]) -> str:
    return f"there are {', '.join(sorted(names)[:10]) or 'none'}"


def commit_options(arguments: Namespace) -> dict[str, str]:
    """Return the options for reading commits, without those of aborted transactions."""
    options = source_options(arguments, ("partition", "offset", "timestamp", "key", "value"))
    options.pop("subscribePattern", None)
    return options | {"subscribe": CONSUMER_OFFSETS, "isolation": "read_committed"}


def _commits(batches: Iterator[Any], pattern: re.Pattern[str] | None) -> Iterator[Any]:
    """In the workers: the commits (and their deletions) of record batches, to topics that fit; and
    what cannot be decoded."""
    for batch in batches:
        rows = records_of(CONSUMER_OFFSETS, batch)
        rows = rows.filter(pc.is_in(rows.column("record_type"), _COMMIT_TYPES))
        if pattern is not None:
            topics = rows["topic"].to_pylist()
            fits = [each is None or pattern.fullmatch(each) is not None for each in topics]
            rows = rows.filter(pa.array(fits, pa.bool_()))
        yield rows.select(_COMMIT.names).cast(_COMMIT)


def consumed_options(arguments: Namespace) -> dict[str, str]:
    """Return the options for reading the consumed logs: whole, whatever selects the commits."""
    nothing = dict.fromkeys(("topics", "topic_pattern", "since", "until"))
    given = source_options(Namespace(**vars(arguments) | nothing))
    return {name: given[name] for name in given if not name.lower().startswith(_OF_COMMITS)}


def _ends(arguments: Namespace, topics: Set[str]) -> dict[Place, int]:
    """Return the end of each existing log; a group may have committed to deleted topics."""
    every = base_selection(parse_options(consumed_options(arguments)))
    names = "|".join(map(re.escape, sorted(topics)))
    chosen = replace(every, topic_pattern=names or "(?!)")
    return {(each.topic, each.partition): end for each, (_, end) in log_ends(chosen).items()}


def _moments(committed: list[dict[str, Any]], there: Mapping[Place, int]) -> dict[Place, Integers]:
    """Return when offsets were committed, by partition."""
    found: dict[Place, set[int]] = {}
    for row in committed:
        place = (row["topic"], row["topic_partition"])
        if place in there:
            found.setdefault(place, set()).add(row["commit_timestamp_ms"])
    return {place: np.array(sorted(times), np.int64) for place, times in found.items()}


def _growth(spark: Any, arguments: Namespace, moments: dict[Place, Integers]) -> Growth:
    """Return the end of the log that batches of that time had reached, at each moment; 0 if none
    had.
    """
    if not moments:
        return {}
    topics = ",".join(sorted({topic for topic, _ in moments}))
    options = consumed_options(arguments) | {"subscribe": topics, "view": "batches"}
    found = map_batches(spark, options, lambda batches: _reached(batches, moments), _GROWTH_DDL)
    ends = {place: np.zeros(len(times), np.int64) for place, times in moments.items()}
    largest = found.groupBy("topic", "partition", "number").agg(f.max("end").alias("end"))
    for batch in largest.toArrow().to_batches():
        for row in batch.to_pylist():
            ends[row["topic"], row["partition"]][row["number"]] = row["end"]
    return {place: (times, np.maximum.accumulate(ends[place])) for place, times in moments.items()}


def _reached(batches: Iterator[Any], moments: Mapping[Place, Integers]) -> Iterator[Any]:
    """In the workers: which moment was the first to see a batch, and how far such batches reach."""
    for batch in batches:
        topic, partition = batch["topic"][0], batch["partition"][0]  # of all its rows
        place = (topic.as_py(), partition.as_py())
        if place not in moments:
            continue
        timed = batch.filter(pc.field("max_timestamp_ms") >= 0)
        own = timed.filter(pc.invert(timed["is_control"]))
        numbers = np.searchsorted(moments[place], integers(own, "max_timestamp_ms"))
        ends = np.zeros(len(moments[place]) + 1, np.int64)
        np.maximum.at(ends, numbers, integers(own, "last_offset") + 1)
        seen = np.flatnonzero(ends[:-1])
        columns = [pa.repeat(topic, len(seen)), pa.repeat(partition, len(seen)), seen, ends[seen]]
        yield pa.RecordBatch.from_arrays([*map(pa.array, columns)], schema=_GROWTH)


def _history_row(row: dict[str, Any], growth: Growth) -> dict[str, Any]:
    made = {
        "group": row["group"],
        "topic": row["topic"],
        "partition": row["topic_partition"],
        "committed_at_ms": row["commit_timestamp_ms"],
        "committed_offset": row["committed_offset"],
    }
    known = growth.get((row["topic"], row["topic_partition"]))
    if known is not None:
        times, ends = known
        end = int(ends[np.searchsorted(times, row["commit_timestamp_ms"])])
        if end and end >= row["committed_offset"]:
            made |= {"log_end_offset": end, "lag": end - row["committed_offset"]}
    return made


def _lag(found: list[dict[str, Any]], ends: dict[Place, int]) -> list[dict[str, Any]]:
    """Return the last commit of each group and partition, unless it was deleted; rows come in order
    of their offsets.
    """
    last: dict[tuple[str, str, int], dict[str, Any]] = {}
    commits: dict[tuple[str, str, int], int] = {}
    for row in found:
        place = (row["group"], row["topic"], row["topic_partition"])
        last[place] = row
        commits[place] = commits.get(place, 0) + (row["committed_offset"] is not None)
    rows = []
    for place, row in last.items():
        committed = row["committed_offset"]
        if committed is None:
            continue  # deleted
        end = ends.get(place[1:])
        made = dict(zip(("group", "topic", "partition"), place, strict=True))
        made |= {"committed_offset": committed, "log_end_offset": end, "commits": commits[place]}
        made |= {"lag": None if end is None else max(0, end - committed)}
        made["committed_at_ms"] = row["commit_timestamp_ms"]
        rows.append(made)
    return rows


def draw(outcome: Outcome) -> Any:
    """Draw which groups lag, or the partitions of the only one, and how that developed."""
    lag = outcome.tables["lag"].to_pylist()
    history = outcome.tables["history"].to_pylist()
    if not lag and not history:
        return None
    groups = sorted({row["group"] for row in [*lag, *history]})
    behind: dict[str, int] = {}
    known = set()
    for row in lag:
        name = row["group"] if len(groups) > 1 else f"{row['topic']}-{row['partition']}"
        behind[name] = behind.get(name, 0) + (row["lag"] or 0)
        if row["lag"] is not None:
            known.add(name)
    made, (left, right) = pictures.figure(_title(groups, lag, history), panels=2)
    names = pictures.with_others(behind)
    values = [sum(behind[each] for each in mine) for mine in names.values()]
    notes = [
        pictures.short(value) if known.intersection(mine) else "not known: no such log"
        for mine, value in zip(names.values(), values, strict=True)
    ]
    pictures.stacked(left, list(names), {"": (values, pictures.COLOURS[0])}, notes)
    of = "group" if len(groups) > 1 else "partition"
    pictures.label(left, "records that are not consumed yet", "", f"now, by {of}")
    _draw_history(right, history, len(groups) > 1)
    return made


def _title(groups: list[str], lag: list[dict[str, Any]], history: list[dict[str, Any]]) -> str:
    by_group = dict.fromkeys(groups, 0)
    for row in lag:
        by_group[row["group"]] += row["lag"] or 0
    behind = sum(by_group.values())
    total = f"{pictures.short(behind)} {'record' if behind == 1 else 'records'}"
    if all(row["lag"] is None for row in lag):
        title = f"{counted(len(groups), 'consumer group')}: no lag is known"
    elif len(groups) == 1:
        title = f"Group {pictures.cut(groups[0], 40)} is {total} behind"
    else:
        late = sum(each > 0 for each in by_group.values())
        verb = "is" if late == 1 else "are"
        title = f"{late} of {len(groups)} consumer groups {verb} behind, by {total}"
    times = [row["committed_at_ms"] for row in history if pictures.has_date(row["committed_at_ms"])]
    if times:
        (last,) = pictures.times([max(times)])
        title += f" (last commit: {last:%Y-%m-%d %H:%M} UTC)"
    return title


def _draw_history(axes: Any, history: list[dict[str, Any]], has_groups: bool) -> None:
    """Draw a line for each partition, those with most commits; without any lag the commits."""
    shown = "lag" if any(row["lag"] is not None for row in history) else "committed_offset"
    lines: dict[str, list[tuple[int, int]]] = {}
    for row in history:
        name = f"{row['topic']}-{row['partition']}"
        if has_groups:
            name = f"{row['group']}: {name}"
        if row[shown] is not None and pictures.has_date(row["committed_at_ms"]):
            lines.setdefault(name, []).append((row["committed_at_ms"], row[shown]))
    longest = sorted(lines, key=lambda name: -len(lines[name]))[: pictures.MAX_SERIES]
    for at, name in enumerate(longest):
        moments, values = zip(*lines[name], strict=True)
        dot = "o" if len(moments) <= _MARKED else ""  # a single commit is no line
        style = {"color": pictures.COLOURS[at], "marker": dot, "markersize": 4}
        axes.step(pictures.times(moments), values, where="post", label=name, **style)
    times = [time_ms for name in longest for time_ms, _ in lines[name]]
    pictures.time_axis(axes, times, 3000, name="time of the commit")
    if not times:
        axes.set_xticks([])
    pictures.scale(axes.yaxis, pictures.short)
    told = {"lag": "records behind", "committed_offset": "committed offset"}
    few = f"; {len(longest)} of {len(lines)} partitions"
    title = f"at each commit{few if len(longest) < len(lines) else ''}"
    pictures.label(axes, "", told[shown], title)
    pictures.legend(axes)


JOB: Final = Job(
    __file__,
    __doc__,
    run,
    arguments=arguments,
    draw=draw,
    without=("isolation", "subscribe", "subscribePattern", "assign"),
    pattern_is_of_logs=False,  # but of those that were consumed
)

if __name__ == "__main__":
    JOB.main()
