"""Small operations that take long: a query for one offset, a micro-batch of a stream."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from typing import Any

from confluent_kafka import Producer

from benchmarks.spark.jobs import Place
from benchmarks.spark.topics import PARTITIONS, Topic

BATCHES = 25


def point_query_ms(place: Place, topic: Topic, source: str, _batches: int) -> float:
    """Return the median time to find one record by partition and offset, including planning; of the
    connector, which reads the whole topic, one time.
    """
    times = []
    for turn in range(7):
        offset = topic.records // PARTITIONS // 2 + turn * 101
        start = time.perf_counter()
        if source == "pykbroker":
            reader = place.spark.read.format("pykbroker").option("subscribe", topic.name)
            found = reader.option("where", f"partition = 1 and offset = {offset}")
            rows = found.load(place.path).collect()
        else:
            frame = place.connector(topic, tuned=False)
            rows = frame.filter(f"partition = 1 and offset = {offset}").collect()
        times.append((time.perf_counter() - start) * 1000)
        assert [row["offset"] for row in rows] == [offset]
        if source != "pykbroker":
            break  # it reads the whole topic
    return statistics.median(times)


def micro_batch_ms(place: Place, topic: Topic, source: str, batches: int) -> float:
    """Return the median triggerExecution of micro-batches with rows, while a producer writes."""
    done = threading.Event()

    def write() -> None:
        producer = Producer({"bootstrap.servers": place.servers, "linger.ms": 5})
        number = 0
        while not done.wait(0.01):
            for _ in range(50):
                producer.produce(topic.name, b"x" * 100, b"k", number % PARTITIONS)
                number += 1
            producer.poll(0)
        producer.flush(30)

    reader = place.spark.readStream.format(source).option("subscribe", topic.name)
    reader = reader.option("kafka.bootstrap.servers", place.servers)
    if source == "pykbroker":
        reader = reader.option("path", place.path)
    writer = threading.Thread(target=write)
    with tempfile.TemporaryDirectory(prefix="pykbroker-bench-") as checkpoint:
        query = (
            reader.load()
            .writeStream.format("noop")
            .option("checkpointLocation", checkpoint)
            .start()
        )
        writer.start()
        try:
            times = _trigger_times(query, batches)
        finally:
            done.set()
            writer.join()
            query.processAllAvailable()
            query.stop()
    return statistics.median(times)


def _trigger_times(query: Any, batches: int) -> list[float]:
    """Return milliseconds of batches with rows, without the first five, which warm up."""
    seen: dict[int, float] = {}
    deadline = time.monotonic() + 60
    while len(seen) < batches + 5 and time.monotonic() < deadline:
        time.sleep(0.1)
        for progress in query.recentProgress:
            if progress["numInputRows"]:
                seen[progress["batchId"]] = float(progress["durationMs"]["triggerExecution"])
    return [seen[batch] for batch in sorted(seen)][5:]
