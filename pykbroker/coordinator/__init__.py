"""Coordinators of consumer groups and of transactions, in one common shape.

A coordinator is a decide/replay machine over one partition of an internal topic. A runtime
(`runtime_driver.py`) appends, replays, parks replies, loads and unloads for all those of a topic.
"""
