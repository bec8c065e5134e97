"""The transaction coordinator.

states.py, transaction.py      the state of one transactional id, and its steps
records.py                     its form as records of `__transaction_state`
initialising.py, ending.py     the rules of InitProducerId and EndTxn: functions of one transaction
shard.py                       the machine of one partition of `__transaction_state`
partition_requests.py          AddPartitionsToTxn: requests and responses of all versions
settings.py                    its configuration
marker_driver.py               sends end markers to the partitions of a transaction
transaction_coordinator_driver.py  the interface for handlers
"""
