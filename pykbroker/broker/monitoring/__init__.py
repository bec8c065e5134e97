"""Metrics of a node for Prometheus, loaded only when `pykbroker.metrics.listen` is set.

    measuring_worker    the worker that also times requests        (instead of the plain one)
    request_times       its counters, for each API
    *_families          readers of the node's state, on the event loop
    collector           runs them, in slices; a thread renders the text
    families            samples as plain values, and their text by prometheus-client
    endpoint            /metrics, /healthz, /readyz over `network/http_server`

Names are those that jmx_exporter's usual rules for Kafka derive from Kafka's MBeans, and
kafka_exporter's for offsets and lag; metrics without a Kafka name begin with `pykbroker_`.
"""
