"""Show how many keys there are, which are hot, and how unevenly records are spread over them.

The workers group records by key and Spark merges the groups; only the hottest keys of a topic are
returned (--top). `share` is the share of the topic's records. Records without a key rank as one key
(null) in `hot_keys` and are counted as `without_key`; `keys`, `hottest` and `records_per_key`
exclude them.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pyspark.sql import Window
from pyspark.sql import functions as f

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pykbroker.spark import aggregate
from spark_jobs.parts import pictures
from spark_jobs.parts.job import Job
from spark_jobs.parts.progress import step
from spark_jobs.parts.reading import positive, source_options
from spark_jobs.parts.results import Outcome, text_of
from spark_jobs.parts.wording import counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--top", type=positive, default=100, help="number of hot keys to return for each topic"
    )


def run(spark: Any, arguments: Namespace) -> Outcome:
    step("grouping by key")
    options = source_options(arguments)
    by_key = aggregate(spark, options, by=("topic", "partition", "key")).persist()
    try:
        hot = _hot(by_key, arguments.top).toArrow()
        step("counting keys")
        partitions = _partitions(by_key).toArrow()
        topics = _topics(by_key).toArrow()
    finally:
        by_key.unpersist()
    rows = topics.to_pylist()
    summary: dict[str, Any] = {"topics": len(rows)}
    summary |= {name: sum(row[name] for row in rows) for name in ("records", "keys")}
    summary["records_without_key"] = sum(row["without_key"] for row in rows)
    tables = {"hot_keys": hot, "topics": topics, "partitions": partitions}
    return Outcome(tables, summary, notes=list(map(_in_words, rows)))


def _in_words(topic: Mapping[str, Any]) -> str:
    parts = [counted(topic["keys"], "key")]
    if topic["hottest_share"] is not None:
        parts.append(f"the hottest has {topic['hottest_share']:.2%} of the records")
    if topic["without_key"]:
        parts.append(f"{counted(topic['without_key'], 'record')} without a key")
    return f"{topic['topic']}: {', '.join(parts)}"


def _by_topic(by_key: Any) -> Any:
    """A key may stand in several partitions of a topic."""
    return by_key.groupBy("topic", "key").agg(
        f.sum("count").alias("records"), f.sum("bytes").alias("bytes")
    )


def _hot(by_key: Any, top: int) -> Any:
    topic = Window.partitionBy("topic")
    ranked = topic.orderBy(f.desc("records"), f.asc("key"))
    return (
        _by_topic(by_key)
        .withColumn("rank", f.row_number().over(ranked))
        .withColumn("share", f.col("records") / f.sum("records").over(topic))
        .where(f.col("rank") <= top)
        .orderBy("topic", "rank")
        .select("topic", "rank", "key", "records", "bytes", "share")
    )


def _topics(by_key: Any) -> Any:
    return (
        _by_topic(by_key)
        .groupBy("topic")
        .agg(
            f.sum("records").alias("records"),
            f.count("key").alias("keys"),
            f.sum(f.when(f.col("key").isNull(), f.col("records")).otherwise(0)).alias(
                "without_key"
            ),
            f.max(f.when(f.col("key").isNotNull(), f.col("records"))).alias("hottest"),
        )
        .withColumn("hottest_share", f.col("hottest") / f.col("records"))
        # Null where no record has a key; Spark's ANSI mode refuses to divide by zero.
        .withColumn("records_per_key", f.try_divide(f.expr("records - without_key"), "keys"))
        .orderBy("topic")
    )


def _partitions(by_key: Any) -> Any:
    return (
        by_key.groupBy("topic", "partition")
        .agg(
            f.sum("count").alias("records"),
            f.sum("bytes").alias("bytes"),
            f.count("key").alias("keys"),
        )
        .orderBy("topic", "partition")
    )


def draw(outcome: Outcome) -> Any:
    """Draw the hottest keys of the largest topic, and how its partitions share the records."""
    hot = outcome.tables["hot_keys"].to_pylist()
    largest = max(outcome.tables["topics"].to_pylist(), key=lambda r: r["records"], default=None)
    if largest is None:
        return None
    topic = largest["topic"]
    keys = "key" if largest["keys"] == 1 else "keys"
    title = f"{pictures.short(largest['keys'])} {keys} of {pictures.cut(topic, 40)}"
    topics = outcome.tables["topics"].num_rows
    if topics > 1:
        title += f" (the largest of {topics} topics)"
    if largest["hottest_share"] is not None:
        share = pictures.percent(100 * largest["hottest_share"])
        title += f": the hottest has {share} of {pictures.short(largest['records'])} records"
    made, (left, right) = pictures.figure(title, panels=2)
    shown = [row for row in hot if row["topic"] == topic][:20]
    names = [text_of(row["key"]) for row in shown]
    pictures.bars(left, names, [row["records"] for row in shown])
    pictures.label(left, "records", "", "the hottest keys")
    partitions = [r for r in outcome.tables["partitions"].to_pylist() if r["topic"] == topic]
    places = [row["partition"] for row in partitions]
    right.bar(places, [row["records"] for row in partitions], color=pictures.COLOURS[0])
    right.grid(False, axis="x")
    right.set_xlim(min(places) - 0.6, max(places) + 0.6)
    right.xaxis.get_major_locator().set_params(integer=True)
    pictures.scale(right.yaxis, pictures.short)
    pictures.label(right, "partition", "records", "how partitions share them")
    return made


JOB: Final = Job(__file__, __doc__, run, arguments=arguments, draw=draw)

if __name__ == "__main__":
    JOB.main()
