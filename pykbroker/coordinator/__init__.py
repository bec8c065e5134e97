"""Coordinators: consumer groups now; transactions and share groups take the same shape later.

A coordinator is a decide/replay machine over one partition of an internal topic. The one runtime
(`runtime_driver.py`) appends, replays, parks replies, loads and unloads for all of them.
"""
