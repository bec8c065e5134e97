from __future__ import annotations

import json

from pykbroker.testing import Broker
from tests.cli.conftest import Run


def test_directories_of_all_brokers(ask: Run, broker: Broker, filled: str) -> None:
    outcome = ask("log-dirs", "--describe", "--topic-list", filled)
    assert outcome.code == 0
    assert outcome.lines[:2] == [
        "Querying brokers for log directories information",
        "Received log directory information from brokers 1",
    ]
    described = json.loads(outcome.lines[2])
    (directory,) = described["brokers"][0]["logDirs"]
    assert directory["logDir"] == str(broker.data_dir)
    assert directory["error"] is None
    sizes = {each["partition"]: each["size"] for each in directory["partitions"]}
    assert set(sizes) == {f"{filled}-0", f"{filled}-1"}
    assert min(sizes.values()) > 0


def test_json_alone(ask: Run) -> None:
    outcome = ask("log-dirs", "--describe", "--broker-list", "1", "--json")
    assert json.loads(outcome.out)["version"] == 1


def test_refusals(ask: Run) -> None:
    unknown = ask("log-dirs", "--describe", "--broker-list", "5,1")
    assert (unknown.code, unknown.err) == (
        1,
        (
            "ERROR: The given brokers do not exist from --broker-list: 5. "
            "Current existent brokers: 1\n"
        ),
    )
    assert ask("log-dirs", "--describe", "--broker-list", "x").err == 'For input string: "x"\n'
    assert ask("log-dirs").code == 1
