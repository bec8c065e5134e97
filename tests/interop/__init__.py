"""Stock clients and Apache Kafka's own tools against a running broker.

`PYKBROKER_TEST_BROKER=apache` points the whole suite at Apache Kafka 4.4 instead of pykbroker: a
test that fails there is wrong.
"""
