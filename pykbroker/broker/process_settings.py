"""Settings that a node applies to its whole process, once.

* Logs and connections are open files: the soft limit is raised to the hard one (at most to
  MOST_DESCRIPTORS), as a Java process does by itself.
* The garbage collector skips the objects created at startup (`gc.freeze`) and runs less often:
  requests create hardly any cycles, so their objects are freed with the last reference.
  Nor may it look at everything at once: no other thread runs meanwhile, and with a million objects
  (a long request, the metadata of very many partitions) that takes 50 ms and more. So passes over
  the young objects are small, and those over all of them very rare.
* Buffers of large frames are allocated and freed all the time. The C library would return each to
  the system immediately, and the next one would be faulted in page by page. So it keeps up to
  KEPT_BYTES, of buffers of less than FROM_HEAP_BYTES, and threads share what it keeps: they
  allocate nearly always while they hold the interpreter.
* A thread that runs Python code releases the interpreter to a waiting thread after the switch
  interval. While another thread runs Python code, the event loop must not wait 5 ms (the default)
  after each of its system calls.
"""

from __future__ import annotations

import gc
import resource
import sys

# gc.set_threshold: a pass looks at the newest YOUNG objects, every second at the last 20,000. What
# has survived both is looked at again once in a thousand million objects.
YOUNG = 10_000
PASSES = 1
FULL_PASSES = 50_000

KEPT_BYTES = 32 * 1024 * 1024
FROM_HEAP_BYTES = 8 * 1024 * 1024
MOST_DESCRIPTORS = 1_000_000
SWITCH_INTERVAL_S = 0.0005

# mallopt(3)
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8


def raise_descriptor_limit() -> int:
    """Raise the limit of open files as far as the system allows, at most to MOST_DESCRIPTORS;
    return it (-1: none).
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return soft


def settle_collector() -> None:
    """Exclude existing objects from collection, collect less often, and enable the collector."""
    gc.freeze()
    gc.set_threshold(YOUNG, PASSES, FULL_PASSES)
    gc.enable()


def switch_threads_soon() -> None:
    """Give the interpreter back to the event loop quickly."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)


def keep_freed_memory() -> bool:
    """Make the C library keep freed buffers; return False if it has no `mallopt`, or refuses."""
    import ctypes

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(
        mallopt(_M_MMAP_THRESHOLD, FROM_HEAP_BYTES)
        and mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES)
        and mallopt(_M_ARENA_MAX, 1)
    )
