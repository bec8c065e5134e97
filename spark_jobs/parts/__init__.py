"""What the jobs are built from.

job              arguments, the run, exit codes: what every job has
session          the Spark session: started, made quiet, given the code, stopped
reading          from arguments to DataFrames of the data source
results          tables and `summary.json` on disk
console          the same on a terminal
labels           its words for keys and columns
wording          singular and plural
pictures         drawings with matplotlib
progress         what a job is doing, on standard error
interrupts       Ctrl-C
left_out         corrupt batches that were left out
exact_batches    headers, exact at the edges of a range
raw_batches      whole batches by their place in a file
sizes, runs      numpy arrays of sizes; runs of equal rows
latencies        samples to three digits
brokers          topics, by an admin client
clients          stock producers; client_check tries their settings first
consumers        stock consumers
lanes            of replay: partitions in order
phases           of throughput: produce, consume, scan
replica_verdict  of replica_difference: what is equal
codec_picture    of codec_what_if: its picture
"""
