"""README, CONTRIBUTING, CHANGELOG and docs/: their link targets and commands exist.

The examples of docs/analytics.md run in tests/offline, tests/spark and tests/spark_jobs.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import re
import shlex
from itertools import chain
from pathlib import Path

import pytest

from pykbroker.cli.command import CommandParser
from pykbroker.cli.main import COMMANDS
from pykbroker.config.broker_keys import BROKER_KEYS, DYNAMIC_ONLY_KEYS
from pykbroker.config.group_keys import GROUP_KEYS
from pykbroker.config.topic_keys import TOPIC_KEYS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(
    (ROOT / "docs").glob("*.md")
)
TEXTS = {page: page.read_text() for page in PAGES}
PROSE = {page: re.sub(r"```.*?```", "", text, flags=re.DOTALL) for page, text in TEXTS.items()}

# Settings of clients and of Spark's source, features: they look like keys of brokers.
OTHER_KEYS = {
    "bootstrap.servers",
    "client.id",
    "default.api.timeout.ms",
    "eligible.leader.replicas.version",
    "group.protocol",
    "group.version",
    "kafka.bootstrap.servers",
    "kafka.check.crcs",
    "kafka.isolation.level",
    "security.protocol",
    "share.version",
    "streams.version",
    "transactional.id",
}
KEYS = {*BROKER_KEYS, *DYNAMIC_ONLY_KEYS, *TOPIC_KEYS, *GROUP_KEYS}
FIRST_WORDS = {key.partition(".")[0] for key in KEYS} - {"pykbroker"}  # it has modules, too
FILE_ENDINGS = (".py", ".md", ".toml", ".json", ".properties")


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """As GitHub and GitLab make them of headings."""
    headings = re.findall(r"^#+ (.+)$", PROSE[page], re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def spans(page: Path) -> list[str]:
    """Code in the middle of a line."""
    return re.findall(r"`([^`\n]+)`", PROSE[page])


def lines_of_shell(page: Path) -> list[str]:
    """Commands that stand by themselves."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", TEXTS[page], re.MULTILINE | re.DOTALL)
    lines = chain.from_iterable(block.splitlines() for block in blocks)
    indented = re.findall(r"^    (\S.*)$", PROSE[page], re.MULTILINE)
    return [*lines, *indented]


def as_on_path(line: str) -> str:
    """Without variables in front, and where the program lies."""
    return re.sub(r"^(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?", "", line)


def commands(page: Path) -> list[str]:
    """Those, and those that are told of in the middle of a line."""
    return [as_on_path(line) for line in [*lines_of_shell(page), *spans(page)]]


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links(page: Path):
    for target in re.findall(r"\]\(([^)\s]+)\)", PROSE[page]):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_paths(page: Path):
    """From the root, or from the package as docs/architecture.md has them."""
    places = ROOT, ROOT / "pykbroker"
    for span in spans(page):
        if re.fullmatch(r"(?:[\w.*-]+/)+[\w.*-]*", span) and span.split("/")[0] in (
            *("benchmarks", "config", "docs", "pykbroker", "scripts", "spark_jobs", "tests"),
            *(path.name for path in (ROOT / "pykbroker").iterdir()),
        ):
            names = span, f"{span}.py", f"{span.rpartition('.')[0]}.py"  # or what is in it
            assert any(list(folder.glob(name)) for folder in places for name in names), span


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_keys(page: Path):
    """What looks like a key of Kafka's configuration is one."""
    for span in spans(page):
        key = span.partition("=")[0]
        if re.fullmatch(r"[a-z0-9]+(?:\.[a-z0-9]+)+", key) and not key.endswith(FILE_ENDINGS):
            assert key.partition(".")[0] not in FIRST_WORDS or key in KEYS | OTHER_KEYS, span


PYKBROKER = [
    as_on_path(span).removeprefix("pykbroker ")
    for page in PAGES
    for span in spans(page)
    if re.match("pykbroker (?!COMMAND)", as_on_path(span))
]


@pytest.mark.parametrize("words", PYKBROKER)
def test_commands_of_pykbroker(words: str):
    """The command is there, with every option that is named."""
    name, *arguments = shlex.split(words)
    assert name in COMMANDS
    told = all_help(parser_of(name))
    for option in arguments:
        assert not option.startswith("--") or re.search(rf"{option}\b", told), option


def all_help(parser: argparse.ArgumentParser) -> str:
    """Of the command and its subcommands."""
    inner = [
        each
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for each in action.choices.values()
    ]
    return parser.format_help() + "".join(map(all_help, inner))


EXAMPLES = [
    as_on_path(line).removeprefix("pykbroker ")
    for page in PAGES
    for line in lines_of_shell(page)
    if as_on_path(line).startswith("pykbroker ")
]


@pytest.mark.parametrize("words", EXAMPLES)
def test_examples_of_pykbroker(words: str):
    """Nothing that has to be said is missing."""
    name, *arguments = shlex.split(words)
    assert vars(parser_of(name).parse_args(arguments))


def test_there_is_a_row_for_every_command():
    rows = re.findall(r"^\| `([\w-]+)", TEXTS[ROOT / "docs" / "commands.md"], re.MULTILINE)
    assert set(rows) == set(COMMANDS)


def parser_of(name: str) -> CommandParser:
    command = importlib.import_module("pykbroker.cli." + name.replace("-", "_"))
    parser = CommandParser(prog=name)
    command.add_arguments(parser)
    return parser


MODULES = sorted(
    {
        (match[1].rstrip("."), command[match.end() :])
        for page in PAGES
        for command in commands(page)
        if (match := re.match(r"python -m ([\w.]+)", command)) and "NAME" not in match[1]
    }
)


@pytest.mark.parametrize("module, words", MODULES)
def test_modules(module: str, words: str, capsys: pytest.CaptureFixture[str]):
    """Each is there; of benchmarks, every option that is named, too."""
    assert importlib.util.find_spec(module) is not None
    if not module.startswith("benchmarks."):
        return
    is_package = importlib.util.find_spec(f"{module}.__main__") if _is_package(module) else None
    program = importlib.import_module(f"{module}.__main__" if is_package else module)
    with pytest.raises(SystemExit):
        program.main(["--help"])
    told = capsys.readouterr().out
    (row,) = re.findall(
        rf"^\| `python -m {re.escape(module)}` \|.*$", TEXTS[ROOT / "docs" / "benchmarks.md"], re.M
    )
    for option in re.findall(r"--[a-z-]+", words + row):
        assert f"{option} " in told or f"{option}]" in told, option


def _is_package(module: str) -> bool:
    spec = importlib.util.find_spec(module)
    return spec is not None and spec.submodule_search_locations is not None


def test_there_is_a_row_for_every_benchmark():
    files = (ROOT / "benchmarks").rglob("*.py")
    programs = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__")
        for path in files
        if '\nif __name__ == "__main__":\n' in path.read_text()
    }
    named = {module for module, _ in MODULES if module.startswith("benchmarks.")}
    assert programs - named == {"benchmarks.compare.librdkafka", "benchmarks.transactions.client"}
    assert "benchmarks.compare.librdkafka" in TEXTS[ROOT / "docs" / "benchmarks.md"]


def test_make_has_what_is_told():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    told = {span.split()[1] for page in PAGES for span in spans(page) if span.startswith("make ")}
    assert told
    assert told <= targets


def test_as_many_jobs_as_the_readme_says():
    jobs = {path.stem for path in (ROOT / "spark_jobs").glob("*.py")} - {"__init__"}
    assert len(jobs) == 15
    assert "`spark_jobs/` has fifteen jobs ready" in TEXTS[ROOT / "README.md"]


def test_something_was_looked_at():
    assert len(PYKBROKER) > 5
    assert len(EXAMPLES) > 5
    assert len(MODULES) > 10
