"""Scripted clients: they speak Kafka's protocol over the simulated network, and remember what
they were promised. Each draws what it does from a seed of its own.
"""
