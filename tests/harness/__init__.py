"""What the tests need from outside: Apache Kafka's jars, Node packages, free ports, processes."""
