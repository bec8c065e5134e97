"""Metrics of a node for Prometheus, loaded if `pykbroker.metrics.listen` is set.

    measuring_worker    the worker that also times requests (also loaded to trace requests)
    request_times       its counters, by API
    response_errors     the error codes in a response, which it counts
    *_families          readers of the node's state, on the event loop
    collector           runs them, in slices; a thread renders the text
    families            samples as plain values, and their text by prometheus-client
    endpoint            /metrics, /healthz, /readyz over `network/http_server`

Names are those that jmx_exporter's usual rules for Kafka derive from Kafka's MBeans, and those of
kafka_exporter (offsets and lag, for example); this node's own metrics begin with `pykbroker_`, and
prometheus-client adds those of the process and of the garbage collector.
"""
