"""The job of test_cluster.py, for spark-submit: it uses nothing but what --py-files brings.

cluster_job.py LOG_DIRECTORY OUT
"""

import json
import socket
import sys

from pykbroker.spark import aggregate, register, to_parquet, tuned_builder


def main() -> None:
    path, out = sys.argv[1:]
    spark = register(tuned_builder("cluster test").getOrCreate())
    frame = spark.read.format("pykbroker").option("minPartitions", "4").load(path)
    found = {
        "master": spark.sparkContext.master,
        "rows": frame.count(),
        "partition 1": frame.filter("partition = 1").count(),
        "where": spark.read.format("pykbroker").option("where", "offset < 5").load(path).count(),
        "keys": sorted(
            [row["key"].decode(), row["count"]]
            for row in aggregate(spark, {"path": path}).collect()
        ),
        "exported": to_parquet(spark, {"path": path}, f"{out}/parquet").rows,
        "executors": sorted(
            spark.sparkContext.parallelize(range(8), 8)
            .map(lambda _: (socket.gethostname(), __import__("os").getppid()))
            .map(str)
            .distinct()
            .collect()
        ),
    }
    query = (
        spark.readStream.format("pykbroker")
        .option("startingOffsets", "earliest")
        .load(path)
        .writeStream.format("parquet")
        .option("path", f"{out}/stream")
        .option("checkpointLocation", f"{out}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    found["streamed"] = spark.read.parquet(f"{out}/stream").count()
    with open(f"{out}/result.json", "w") as result:
        json.dump(found, result)
    spark.stop()


if __name__ == "__main__":
    main()
