"""Lives of real nodes on simulated machines; a seed and the kind of life decide everything.

one_node, three_voters, several_brokers    the kinds of lives
world, machine, node, shape                a world, its machines and nodes
virtual_time, memory_files, network, ...   what the Environment of a simulated process consists of
faults, cluster_faults, power_losses       what goes wrong, and what it may cost
clients/                                   scripted clients
ledger, catalog, ..._ledger                what clients were promised
invariants, ..._invariants, ..._rules      rules that are checked while a life runs
mutants/                                   broken rules that the world must notice

`python -m pykbroker.testing.world` runs them.
"""
