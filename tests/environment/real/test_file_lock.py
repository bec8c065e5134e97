"""One process, and in it one node, owns a directory."""

from __future__ import annotations

import os
from pathlib import Path

from pykbroker.environment.real.files import RealFiles


def test_lock_of_another_process_is_refused(tmp_path: Path) -> None:
    path = f"{tmp_path}/.lock"
    child_holds, holds = os.pipe()
    finish, child_may_finish = os.pipe()
    child = os.fork()
    if child == 0:
        held = RealFiles().lock(path)
        os.write(holds, b"1" if held else b"0")
        os.read(finish, 1)
        os._exit(0)
    assert os.read(child_holds, 1) == b"1"
    assert RealFiles().lock(path) is None
    os.write(child_may_finish, b"x")
    os.waitpid(child, 0)
    lock = RealFiles().lock(path)
    assert lock is not None
    lock.release()
    for fd in (child_holds, holds, finish, child_may_finish):
        os.close(fd)


def test_another_name_of_the_same_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    lock = RealFiles().lock(f"{tmp_path}/real/.lock")
    assert lock is not None
    assert RealFiles().lock(f"{tmp_path}/link/.lock") is None
    lock.release()
    lock.release()
