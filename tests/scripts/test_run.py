"""scripts/run.sh, and the first step of scripts/test.sh, with stand-ins for pip and pykbroker."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PIP = """#!/bin/sh
checkout="$(dirname "$0")/../.."
if [ "$1" = config ]; then cat "$checkout/${3#global.}"; exit; fi
echo "pip $*" >>"$checkout/calls"
if [ "$1" = index ]; then cat "$checkout/index-failure" >&2; fi
exit "$(cat "$checkout/pip-exit-code")"
"""
PYKBROKER = """#!/bin/sh
echo "pykbroker $*" >>"$(dirname "$0")/../../calls"
"""


class Checkout:
    """A copy of the scripts and of pyproject.toml, beside a `.venv` that notes its calls."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "scripts").mkdir()
        for name in ("run.sh", "test.sh", "tools.sh"):
            shutil.copy(ROOT / "scripts" / name, root / "scripts")
        shutil.copy(ROOT / "pyproject.toml", root)
        (root / ".venv" / "bin").mkdir(parents=True)
        self.add_command("pip", PIP)
        self.add_command("pykbroker", PYKBROKER)
        self.set_pip_exit_code(0)
        self.set_index_failure("")

    def add_command(self, name: str, text: str) -> None:
        file = self.root / ".venv" / "bin" / name
        file.write_text(text)
        file.chmod(0o755)

    def set_pip_exit_code(self, code: int) -> None:
        (self.root / "pip-exit-code").write_text(f"{code}\n")

    def set_index_failure(self, text: str) -> None:
        """What pip prints when it has asked its index."""
        (self.root / "index-failure").write_text(text)

    def run(
        self,
        *arguments: str,
        script: str = "run.sh",
        path: str | None = None,
        index: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a script, with other commands than ours if `path` is given, and with this
        PIP_INDEX_URL or none.
        """
        ours = ("PIP_INDEX_URL", "PIP_NO_INDEX")
        environment = {name: value for name, value in os.environ.items() if name not in ours}
        environment |= {} if path is None else {"PATH": path}
        environment |= {} if index is None else {"PIP_INDEX_URL": index}
        return subprocess.run(
            [str(shutil.which("sh")), str(self.root / "scripts" / script), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def calls(self) -> list[str]:
        """What was called since the last look, by name."""
        file = self.root / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def names(calls: list[str]) -> list[str]:
    return [call.split()[0] for call in calls]


def test_installs_once_for_each_pyproject(checkout: Checkout) -> None:
    done = checkout.run("--listen", "127.0.0.1:0")
    assert done.returncode == 0, done.stderr
    installing, starting = done.stderr.splitlines()
    assert installing.startswith("run.sh: installing pykbroker and its dependencies into .venv (")
    assert starting == "run.sh: .venv/bin/pykbroker start --listen 127.0.0.1:0"
    asked, first, second = checkout.calls()
    assert asked.startswith("pip index versions ")
    assert first.startswith("pip install ")
    assert first.endswith(" -e .")
    assert second == "pykbroker start --listen 127.0.0.1:0"
    assert checkout.run().returncode == 0
    assert checkout.calls() == ["pykbroker start"]
    with open(checkout.root / "pyproject.toml", "a") as stream:
        stream.write("# changed\n")
    assert checkout.run().returncode == 0
    assert names(checkout.calls()) == ["pip", "pip", "pykbroker"]


def test_a_failed_installation_is_reported_and_tried_again(checkout: Checkout) -> None:
    checkout.set_pip_exit_code(1)
    done = checkout.run()
    assert done.returncode != 0
    assert "run.sh: pip could not install; can it reach its package index" in done.stderr
    assert names(checkout.calls()) == ["pip", "pip"]
    checkout.set_pip_exit_code(0)
    assert checkout.run().returncode == 0
    assert names(checkout.calls()) == ["pip", "pip", "pykbroker"]


@pytest.mark.parametrize(
    ("configured", "given", "named"),
    [
        (None, None, "(the default of pip)"),
        ("http://mirror.test/simple", None, "http://mirror.test/simple"),
        (
            "http://mirror.test/simple",
            "https://me:secret@other.test:8443/simple/",
            "https://other.test:8443/simple/",
        ),
    ],
)
def test_a_package_index_that_is_not_reached_is_named_before_pip_tries_for_long(
    checkout: Checkout, configured: str | None, given: str | None, named: str
) -> None:
    checkout.set_pip_exit_code(1)
    if configured is not None:
        (checkout.root / "index-url").write_text(configured + "\n")
    done = checkout.run(index=given)
    lines = done.stderr.splitlines()
    assert lines[1] == (
        f"run.sh: pip has not reached its package index {named} at the first attempt; "
        "it now tries for longer"
    )
    assert "secret" not in done.stderr
    assert [call.split()[1] for call in checkout.calls()] == ["index", "install"]


NO_PAGE = "Could not fetch URL https://me:****@mirror.test/simple/setuptools/: "
NO_CONNECTION = (
    "HTTPSConnectionPool(host='mirror.test', port=443): Max retries exceeded with url: "
    "/simple/setuptools/ (Caused by "
)


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        (
            "There was a problem confirming the ssl certificate: "
            + NO_CONNECTION
            + "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] "
            "certificate verify failed: self-signed certificate (_ssl.c:1006)')))",
            "certificate verify failed: self-signed certificate",
        ),
        (
            "There was a problem confirming the ssl certificate: "
            + NO_CONNECTION
            + "SSLError(CertificateError(\"hostname 'mirror.test' doesn't match 'a.test'\")))",
            "hostname 'mirror.test' doesn't match 'a.test'",
        ),
        (
            "connection error: "
            + NO_CONNECTION
            + "NewConnectionError('<HTTPSConnection object at 0x7f>: Failed to establish a new "
            "connection: [Errno 113] No route to host'))",
            "No route to host",
        ),
        (
            "connection error: "
            + NO_CONNECTION
            + 'NameResolutionError("<HTTPSConnection object at 0x7f>: Failed to resolve '
            "'mirror.test' ([Errno -2] Name or service not known)\"))",
            "Name or service not known",
        ),
        (
            "connection error: "
            + NO_CONNECTION
            + "ConnectTimeoutError(<HTTPSConnection object at 0x7f>, 'Connection to "
            "mirror.test timed out. (connect timeout=5.0)'))",
            "Connection to mirror.test timed out. (connect timeout=5.0)",
        ),
        (
            "404 Client Error: Not Found for url: https://mirror.test/simple/setuptools/",
            "404 Client Error: Not Found for url: https://mirror.test/simple/setuptools/",
        ),
    ],
)
def test_the_reason_why_a_package_index_is_not_reached_is_shown(
    checkout: Checkout, printed: str, reason: str
) -> None:
    checkout.set_pip_exit_code(1)
    checkout.set_index_failure(
        "1 location(s) to search for versions of setuptools:\n"
        f"{NO_PAGE}{printed} - skipping\n"
        "ERROR: No matching distribution found for setuptools\n"
    )
    done = checkout.run(index="https://me:secret@mirror.test/simple")
    assert done.stderr.splitlines()[1] == (
        "run.sh: pip has not reached its package index https://mirror.test/simple at the "
        f"first attempt: {reason}; it now tries for longer"
    )


def test_the_reason_is_found_in_what_pip_itself_prints(checkout: Checkout) -> None:
    pip = shlex.join([sys.executable, "-m", "pip"])
    checkout.add_command(
        "pip",
        "#!/bin/sh\nexport NO_PROXY=127.0.0.1 no_proxy=127.0.0.1\n"
        f'if [ "$1" = index ]; then exec {pip} "$@"; fi\nexit 1\n',
    )
    with socket.socket() as never_listening:
        never_listening.bind(("127.0.0.1", 0))
        index = f"http://127.0.0.1:{never_listening.getsockname()[1]}/simple"
        done = checkout.run(index=index)
    assert done.stderr.splitlines()[1] == (
        f"run.sh: pip has not reached its package index {index} at the first attempt: "
        "Connection refused; it now tries for longer"
    )


def test_no_index_is_asked_for_when_pip_is_not_to_use_one(checkout: Checkout) -> None:
    (checkout.root / "no-index").write_text("true\n")
    assert checkout.run().returncode == 0
    assert [call.split()[1] for call in checkout.calls()] == ["install", "start"]


def test_without_installing(checkout: Checkout) -> None:
    done = checkout.run("--no-install", "--node-id", "3")
    assert done.returncode == 0, done.stderr
    assert checkout.calls() == ["pykbroker start --node-id 3"]
    (checkout.root / ".venv" / "bin" / "pykbroker").unlink()
    done = checkout.run("--no-install")
    assert done.returncode == 1
    assert done.stderr == (
        "run.sh: pykbroker is not installed in .venv: leave out --no-install once\n"
    )


def commands_in(factory: pytest.TempPathFactory, *names: str) -> Path:
    """Return a new directory with links to these commands of the system."""
    commands = factory.mktemp("commands")
    for name in names:
        (commands / name).symlink_to(str(shutil.which(name)))
    return commands


def test_a_python_without_venv_where_nothing_can_be_installed(
    checkout: Checkout, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Neither apt-get nor sudo: what to install is said in one line, and nothing is tried."""
    (checkout.root / ".venv" / "bin" / "pip").unlink()
    commands = commands_in(tmp_path_factory, "sh", "basename", "dirname", "cksum", "cat", "id")
    (commands / "python3").write_text("#!/bin/sh\nexit 1\n")
    (commands / "python3").chmod(0o755)
    done = checkout.run(path=str(commands))
    assert done.returncode == 1
    assert done.stderr == (
        "run.sh: missing: python3-venv; install this, on Debian as root by "
        "'apt-get install python3-venv', and start again\n"
    )
    assert checkout.calls() == []


def test_all_tools_that_the_tests_lack_are_named_at_once(
    checkout: Checkout, tmp_path_factory: pytest.TempPathFactory
) -> None:
    commands = commands_in(tmp_path_factory, "sh", "basename", "dirname", "grep", "id")
    done = checkout.run(script="test.sh", path=str(commands))
    assert done.returncode == 1
    packages = "openjdk-17-jdk-headless maven nodejs npm kcat"
    assert done.stderr == (
        f"test.sh: missing: {packages}; install this, on Debian as root by "
        f"'apt-get install {packages}', and start again\n"
    )
    assert checkout.calls() == []


def test_a_python_that_is_too_old(
    checkout: Checkout, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (checkout.root / ".venv" / "bin" / "pip").unlink()
    commands = tmp_path_factory.mktemp("commands")
    python = commands / "python3"
    python.write_text(
        '#!/bin/sh\ncase "$*" in *version_info*) exit 1;; -V) echo Python 3.9.2;; esac\n'
    )
    python.chmod(0o755)
    done = checkout.run(path=f"{commands}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode == 1
    assert done.stderr == (
        f"run.sh: pykbroker needs Python 3.11 or newer; {python} is Python 3.9.2\n"
    )
