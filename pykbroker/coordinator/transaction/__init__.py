"""The transaction coordinator.

states.py, transaction.py      what is known of one transactional id, and its steps
records.py                     the same as records of `__transaction_state`
initialising.py, ending.py     what InitProducerId and EndTxn may do: functions of one transaction
shard.py                       the machine of one partition of `__transaction_state`
marker_driver.py               sends end markers to the partitions of a transaction
transaction_coordinator_driver.py  what handlers ask
"""
