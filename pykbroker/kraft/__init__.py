"""The metadata quorum: raft, the controller, and the cluster image that they produce.

raft/             who leads, what is committed (step machine), and its drivers
controller/       decides the changes of a request (decide / replay)   controller_driver.py
image.py delta.py the state of the cluster, immutable, and its changes
publisher.py      informs the rest of the node, in a fixed order
metadata_log.py metadata_snapshot.py                               files of `__cluster_metadata-0`
node_driver.py    assembles them for one node
"""
