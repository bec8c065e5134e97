from __future__ import annotations

import pytest

from pykbroker.config import validators as v
from pykbroker.config.definition import ConfigError


def test_list_that_must_not_be_empty() -> None:
    with pytest.raises(ConfigError) as caught:
        v.list_of(empty=False).check("log.dirs", ())
    assert caught.value.message == (
        "Configuration 'log.dirs' must not be empty. Valid values include: any non-empty value"
    )
    with pytest.raises(ConfigError) as named:
        v.list_of("a", "b", empty=False).check("x", ())
    assert named.value.message.endswith("Valid values include: [a, b]")


def test_case_is_ignored_where_kafka_ignores_it() -> None:
    check = v.one_of_any_case("UPGRADE", "DOWNGRADE").check
    check("x", "upgrade")
    with pytest.raises(ConfigError) as caught:
        check("x", "sideways")
    assert caught.value.message == (
        "Invalid value sideways for configuration x: "
        "String must be one of (case insensitive): UPGRADE, DOWNGRADE"
    )


def test_quorum_addresses() -> None:
    assert v.parse_voter("x", "1@host:9093") == (1, "host", 9093)
    assert v.parse_voter("x", "1@[::1]:9093") == (1, "[::1]", 9093)
    assert v.parse_host_port("x", "[::1]:9093") == ("::1", 9093)
    for bad in ("1", "1@host", "x@host:1", "host:1"):
        with pytest.raises(ConfigError, match=r"\{id\}@\{host\}:\{port\}"):
            v.quorum_voters().check("controller.quorum.voters", (bad,))
    for bad in ("host", "host:x", "host:70000"):
        with pytest.raises(ConfigError, match=r"\{host\}:\{port\}"):
            v.quorum_bootstrap_servers().check("controller.quorum.bootstrap.servers", (bad,))


def test_non_empty_and_between() -> None:
    with pytest.raises(ConfigError, match="String must be non-empty"):
        v.non_empty().check("x", "")
    v.non_empty().check("x", None)
    v.between(0, 1).check("x", 0.5)
    v.between(0, 1).check("x", None)


@pytest.mark.parametrize("text", ["latest", "EARLIEST", "by_duration:PT1H", "by_duration:P2DT3S"])
def test_share_offset_reset(text: str) -> None:
    v.share_offset_reset().check("x", text)


@pytest.mark.parametrize("text", ["newest", "by_duration:P", "by_duration:PT", "by_duration:1h"])
def test_share_offset_reset_refuses(text: str) -> None:
    with pytest.raises(ConfigError, match="by_duration:<PnDTnHnMn"):
        v.share_offset_reset().check("x", text)
