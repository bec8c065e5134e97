"""The metadata quorum: raft, the controller, and the image of the cluster that comes out of them.

raft/             who leads, what is committed (step machine), and its drivers
controller/       what a request changes (decide / replay)         controller_driver.py
image.py delta.py the state of the cluster, immutable, and its changes
publisher.py      tells the rest of the node, in a fixed order
metadata_snapshot.py storage_format.py                             files of `__cluster_metadata-0`
node_driver.py    puts them together for one node
"""
