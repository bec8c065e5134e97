"""What PySpark's worker prints when its reader has gone.

Spark closes the pipe of a task whose remaining rows it does not need (`limit`, `show`), and of a
worker that has planned a read, sometimes before the worker has written its last bytes. The worker
then fails to flush, and `pyspark.daemon` prints a traceback before the worker exits. Nothing is
wrong in that case, so it is not printed. Every other error still is.
"""

from __future__ import annotations

import sys
import traceback
from types import ModuleType, SimpleNamespace
from typing import Final

_DAEMON: Final = "pyspark.daemon"


def hush_closed_pipes() -> None:
    """Let this worker exit without a traceback when Spark has closed its pipe.

    Nothing happens in a process that `pyspark.daemon` did not start.
    """
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if main is not None and spec is not None and spec.name == _DAEMON:
        _hush(main)


def _hush(daemon: ModuleType) -> None:
    def print_exc() -> None:
        if not _is_closed_pipe(sys.exception(), daemon):
            traceback.print_exc()

    # The daemon uses these two functions of `traceback`, by its own name of the module.
    stand_in = SimpleNamespace(print_exc=print_exc, format_exc=traceback.format_exc)
    daemon.__dict__["traceback"] = stand_in


def _is_closed_pipe(error: BaseException | None, daemon: ModuleType) -> bool:
    """Return whether the daemon itself, and nothing that it called, wrote to a closed pipe."""
    if not isinstance(error, BrokenPipeError | ConnectionResetError):
        return False
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return all(frame.f_globals is daemon.__dict__ for frame in frames)
