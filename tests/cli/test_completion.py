"""The scripts, run by the shells that are on this machine: bash is, everywhere."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pykbroker.cli.main import COMMANDS
from tests.cli.conftest import Run


@pytest.fixture
def bash(run: Run, tmp_path: Path):
    """Completes a line in bash: the words that it offers."""
    script = tmp_path / "completion.bash"
    script.write_text(run("completion", "bash").out)

    def complete(*words: str) -> list[str]:
        array = " ".join(f"'{word}'" for word in ("pykbroker", *words))
        program = f"source {script}; COMP_WORDS=({array}); COMP_CWORD={len(words)}; "
        program += '_pykbroker; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(
            ["bash", "--norc", "-c", program],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout.split()

    return complete


def test_commands(bash) -> None:
    assert set(bash("")) == {*COMMANDS, "--help", "--version"}
    assert bash("cons") == ["consume", "console-producer", "console-consumer"]
    assert bash("xyzzy") == []


def test_flags(bash) -> None:
    assert bash("consume", "orders", "--fo") == ["--follow"]
    assert "--describe" in bash("topics", "--bootstrap-server", "127.0.0.1:9092", "--")
    assert bash("topics", "--topic", "consume", "--fol") == [], "a value is no command"


def test_subcommands(bash) -> None:
    assert bash("perf", "")[:3] == ["produce", "consume", "end-to-end"]
    assert bash("perf", "consume", "--num") == ["--num-records"]
    assert bash("transactions", "de")[:2] == ["describe", "describe-producers"]
    assert bash("completion", "f") == ["fish"]


def test_values(bash, tmp_path: Path) -> None:
    assert bash("produce", "t", "--acks", "") == ["0", "1", "all"]
    assert bash("perf", "produce", "--key-distribution", "ra") == ["range", "random"]
    (tmp_path / "client.properties").touch()
    assert bash("produce", "t", "--command-config", "cli") == ["client.properties"]
    assert bash("produce", "t", "--key", "") == [], "any text"


def test_zsh_takes_the_script_of_bash(run: Run) -> None:
    zsh, bash = run("completion", "zsh").out, run("completion", "bash").out
    assert zsh == "autoload -U +X bashcompinit && bashcompinit\n" + bash


def test_fish(run: Run) -> None:
    lines = run("completion", "fish").lines
    command = "complete -c pykbroker -n"
    assert lines[0] == "complete -c pykbroker -f"
    assert f"{command} __fish_use_subcommand -a config -d '{COMMANDS['config']}'" in lines
    inner = "'__fish_seen_subcommand_from perf; and __fish_seen_subcommand_from produce'"
    assert any(line.startswith(f"{command} {inner} -l record-size -x -d ") for line in lines)
    seen = "'__fish_seen_subcommand_from produce'"
    assert any(
        line.startswith(f"{command} {seen} -l acks -x -a '0 1 all' -d 'wait ") for line in lines
    )
    assert f"{command} {seen} -l command-config -r -F -d 'properties of the producer'" in lines


@pytest.mark.parametrize("shell", [each for each in ("bash", "zsh", "fish") if shutil.which(each)])
def test_the_shell_reads_its_script(run: Run, tmp_path: Path, shell: str) -> None:
    script = tmp_path / "script"
    script.write_text(run("completion", shell).out)
    subprocess.run([shell, "-n", str(script)], timeout=120, check=True)


def test_wrong_usage(run: Run) -> None:
    assert run("completion").code == 1
    assert "invalid choice: 'csh'" in run("completion", "csh").err
