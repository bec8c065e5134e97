"""Scripted clients, which speak Kafka's protocol over the simulated network. Each draws what it
does from a stream of random numbers of its own.
"""
