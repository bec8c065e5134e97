from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from pykbroker.cli import features
from pykbroker.protocol.messages.api_versions_response import (
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from pykbroker.testing import Cluster
from tests.cli.conftest import Run

METADATA = (
    "Feature: metadata.version                          SupportedMinVersion: 3.3-IV3          "
    "SupportedMaxVersion: 4.4-IV2          FinalizedVersionLevel: 4.4-IV2          Epoch: "
)


def test_describe(ask: Run) -> None:
    outcome = ask("features", "describe")
    assert outcome.code == 0
    names = [line.split()[1] for line in outcome.lines]
    assert names == sorted(names)
    assert {"kraft.version", "metadata.version"} <= set(names)
    (metadata,) = (line for line in outcome.lines if "metadata.version" in line)
    assert metadata.startswith(METADATA)
    assert metadata.removeprefix(METADATA).isdigit()
    (described,) = (
        each
        for each in json.loads(ask("features", "describe", "--json").out)
        if each["feature"] == "metadata.version"
    )
    assert described["finalizedVersionLevel"] == 33


def test_describe_a_node(run: Run, cluster: Cluster) -> None:
    for through in (
        ("--bootstrap-server", cluster.bootstrap_servers),
        ("--bootstrap-controller", cluster.bootstrap_controllers),
    ):
        assert run("features", "describe", *through, "--node-id", "3").code == 0
        absent = run("features", *through, "describe", "--node-id", "9")
        assert (absent.code, absent.err[-18:]) == (1, " 9 does not exist\n")
    negative = run("features", "describe", "--node-id", "-1")
    assert negative.err == "Invalid node id -1: must be non-negative.\n"


def test_what_a_node_may_tell() -> None:
    """A node that knows of no finalised features, and levels without a name."""
    response = ApiVersionsResponse(
        supported_features=[
            SupportedFeatureKey(name="metadata.version", min_version=7, max_version=99),
            SupportedFeatureKey(name="a.version", min_version=0, max_version=2),
        ],
        finalized_features=[
            FinalizedFeatureKey(name="a.version", max_version_level=2, min_version_level=1)
        ],
        finalized_features_epoch=-1,
    )
    first, second = features.describe(response)
    assert " ".join(first.split()) == (
        "Feature: a.version SupportedMinVersion: 0 SupportedMaxVersion: 2 "
        "FinalizedVersionLevel: 2 Epoch: -"
    )
    assert "SupportedMaxVersion: UNKNOWN 99       FinalizedVersionLevel: UNKNOWN 0" in second


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (("upgrade", "--feature", "metadata.version=33"), ["metadata.version was upgraded to 33."]),
        (
            ("upgrade", "--metadata", "4.4", "--dry-run"),
            [
                " `metadata` flag is deprecated and may be removed in a future release.",
                "metadata.version can be upgraded to 33.",
            ],
        ),
        (
            ("downgrade", "--feature", "share.version=0", "--feature", "group.version=0"),
            ["group.version was downgraded to 0.", "share.version was downgraded to 0."],
        ),
        (
            ("disable", "--feature", "share.version", "--unsafe"),
            ["share.version was disabled."],
        ),
    ],
)
def test_updates(ask: Run, arguments: Sequence[str], lines: list[str]) -> None:
    outcome = ask("features", *arguments)
    assert (outcome.code, outcome.lines, outcome.err) == (0, lines, "")


def test_updates_that_are_refused(ask: Run, run: Run, cluster: Cluster) -> None:
    outcome = ask("features", "upgrade", "--feature", "no.version=1", "--feature", "x.version=0")
    reason = (
        "The update failed for all features since the following feature had an error: Invalid "
        "update version 1 for feature no.version. Local controller 1 does not support this feature."
    )
    assert outcome.lines == [
        f"Could not upgrade no.version to 1. {reason}",
        f"Could not upgrade x.version to 0. {reason}",
    ]
    assert (outcome.code, outcome.err) == (1, "2 out of 2 operation(s) failed.\n")
    through = ("--bootstrap-controller", cluster.bootstrap_controllers)
    lower = run("features", *through, "downgrade", "--release-version", "3.8", "--dry-run")
    assert (lower.code, lower.err) == (1, "7 out of 7 operation(s) failed.\n")
    assert "Can not downgrade metadata.version to 20. The update failed for all" in lower.out


def test_an_upgrade_to_a_release_asks_for_no_level_0(run: Run, cluster: Cluster) -> None:
    through = ("--bootstrap-server", cluster.bootstrap_servers)
    outcome = run("features", *through, "upgrade", "--release-version", "3.9", "--dry-run")
    assert outcome.err == "2 out of 2 operation(s) failed.\n"
    assert [line.split()[3] for line in outcome.lines] == ["kraft.version", "metadata.version"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "pykbroker features: the following arguments are required: {describe,upgrade,"),
        (("upgrade",), "You must specify at least one feature to upgrade"),
        (("disable",), "You must specify at least one feature to disable"),
        (("upgrade", "--feature", "x"), "Can't parse feature=level string x: equals sign not"),
        (("upgrade", "--feature", "x=y"), "Can't parse feature=level string x=y: unable to parse"),
        (("upgrade", "--feature", "x=32768"), "Can't parse feature=level string x=32768: unable"),
        (("upgrade", "--feature", "x=-1"), "Cannot specify a negative version level."),
        (("upgrade", "--feature", "=1"), "Provided feature can not be empty."),
        (("upgrade", "--feature", "x=1", "--feature", "x=2"), "Feature x was specified more than"),
        (("disable", "--feature", "x", "--feature", "x"), "Feature x was specified more than once"),
        (
            ("upgrade", "--release-version", "4.4", "--feature", "x=1"),
            "Can not specify `release-version` with other feature flags.",
        ),
        (("upgrade", "--release-version", "4.9"), "Unknown metadata.version '4.9'. Supported meta"),
        (("downgrade", "--metadata", "2.8"), "Unknown metadata.version '2.8'."),
        (("feature-dependencies", "--feature", "x.version=1"), "Unknown feature: x.version"),
        (
            ("feature-dependencies", "--feature", "share.version=7"),
            "No feature:share.version with feature level 7",
        ),
        (
            ("feature-dependencies", "--feature", "metadata.version=3"),
            "Unknown metadata.version 3",
        ),
        (("describe", "--bootstrap-server", "127.0.0.1:1"), "Cannot connect to 127.0.0.1:1: Con"),
    ],
)
def test_refusals(run: Run, arguments: Sequence[str], message: str) -> None:
    outcome = run("features", *arguments)
    assert outcome.code == 1
    assert outcome.err.startswith(message)
    assert "Traceback" not in outcome.err


def test_tables(run: Run) -> None:
    latest = run("features", "version-mapping").lines
    assert latest[:2] == ["metadata.version=33 (4.4-IV2)", "kraft.version=1"]
    assert run("features", "version-mapping", "--release-version", "3.8").lines[1:3] == [
        "kraft.version=0",
        "transaction.version=0",
    ]
    asked = ("eligible.leader.replicas.version=1", "metadata.version=33", "kraft.version=1")
    flags = [part for each in asked for part in ("--feature", each)]
    assert run("features", "feature-dependencies", *flags).lines == [
        "eligible.leader.replicas.version=1 requires:",
        "    metadata.version=23 (4.0-IV1)",
        "metadata.version=33 (4.4-IV2) has no dependencies.",
        "kraft.version=1 has no dependencies.",
    ]
