"""What a node sets for its whole process, once.

* Every log and every connection is an open file: the soft limit is raised to the hard one, as a
  Java process does by itself.
* The garbage collector need not look again and again at what the start made (`gc.freeze`), nor come
  every 700 allocations: requests make no cycles, what they allocate dies with its last reference.
  Nor may it look at everything at once: no other thread runs meanwhile, and with a million objects
  (a long request, the metadata of very many partitions) that takes 50 ms and more. So passes over
  the young objects are small, and those over all of them very rare.
* Buffers of large frames are allocated and freed all the time. The C library would give each back
  to the system at once, and the next one would be faulted in page by page: half of the time that a
  request of 1 MB costs. So it keeps up to KEPT_BYTES.
* A thread that runs Python code gives the interpreter away when another asks for it, after the
  switch interval. Nearly all that the threads do is done without the interpreter; for the rest the
  event loop shall not wait 5 ms, after every system call anew.
"""

from __future__ import annotations

import gc
import resource
import sys

# gc.set_threshold: a pass looks at the newest YOUNG objects, every fifth at the last 50,000. What
# has survived both is looked at again once in a thousand million objects.
YOUNG = 10_000
PASSES = 4
FULL_PASSES = 20_000

KEPT_BYTES = 32 * 1024 * 1024
FROM_HEAP_BYTES = 8 * 1024 * 1024
MOST_DESCRIPTORS = 1_000_000
SWITCH_INTERVAL_S = 0.0005

# mallopt(3)
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3


def raise_descriptor_limit() -> int:
    """Allow as many open files as the system lets us; answers how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return soft


def settle_collector() -> None:
    """Leave alone what is there now; collect what comes less often."""
    gc.freeze()
    gc.set_threshold(YOUNG, PASSES, FULL_PASSES)
    gc.enable()


def switch_threads_soon() -> None:
    """Let the event loop have the interpreter back quickly."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)


def keep_freed_memory() -> bool:
    """Have the C library keep freed buffers; False where it is not glibc."""
    import ctypes

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(
        mallopt(_M_MMAP_THRESHOLD, FROM_HEAP_BYTES) and mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES)
    )
