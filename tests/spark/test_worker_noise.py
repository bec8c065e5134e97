"""Workers whose reader has exited end without a traceback; other errors are printed."""

from __future__ import annotations

import subprocess
import sys

from pykbroker.spark.worker_noise import hush_closed_pipes

#: What `pyspark.daemon` does at the end of a worker, as far as errors go. Arguments: name, fault.
DAEMON = """
import os, sys, traceback
from importlib.machinery import ModuleSpec
from pykbroker.spark.worker_noise import hush_closed_pipes

name, fault = sys.argv[1:]
__spec__ = ModuleSpec(name, None)

def worker(out):
    if fault == "bug":
        raise ZeroDivisionError("a bug")
    if fault == "pipe of a library":
        raise_elsewhere(out)
    out.write(b"rows")
    out.flush()

def raise_elsewhere(out):
    exec("out.write(b'x'); out.flush()", {"out": out})

reading, writing = os.pipe()
os.close(reading)
hush_closed_pipes()
try:
    worker(os.fdopen(writing, "wb", 100))
except BaseException:
    traceback.print_exc()
    os._exit(1)
"""


def printed(name: str, fault: str) -> str:
    command = [sys.executable, "-c", DAEMON, name, fault]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    return done.stderr


def test_a_pipe_that_spark_has_closed_is_not_printed():
    assert printed("pyspark.daemon", "pipe") == ""


def test_another_error_is_printed():
    assert "ZeroDivisionError: a bug" in printed("pyspark.daemon", "bug")


def test_a_pipe_of_other_code_is_printed():
    assert "BrokenPipeError" in printed("pyspark.daemon", "pipe of a library")


def test_another_program_is_left_alone():
    assert "BrokenPipeError" in printed("other.daemon", "pipe")


def test_a_process_that_is_no_worker_keeps_its_traceback():
    before = sys.modules["__main__"].__dict__.get("traceback")
    hush_closed_pipes()
    assert sys.modules["__main__"].__dict__.get("traceback") is before
