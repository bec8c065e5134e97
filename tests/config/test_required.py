from __future__ import annotations

import pytest

from pykbroker.config.definition import ConfigError, Value
from pykbroker.config.required import check_required

WHOLE: dict[str, Value] = {
    "node.id": 1,
    "process.roles": ("broker", "controller"),
    "listeners": ("PLAINTEXT://:1", "CONTROLLER://:2"),
    "controller.listener.names": ("CONTROLLER",),
    "controller.quorum.voters": ("1@localhost:2",),
}


def refusal(*left_out: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        check_required({key: value for key, value in WHOLE.items() if key not in left_out})
    return caught.value


def test_nothing_is_missing() -> None:
    check_required(WHOLE)
    check_required(
        {**WHOLE, "controller.quorum.voters": (), "controller.quorum.bootstrap.servers": ("a:1",)}
    )


def test_a_single_key_in_the_words_of_kafka() -> None:
    error = refusal("node.id")
    assert error.message == ('Missing required configuration "node.id" which has no default value.')
    assert error.key == "node.id"


def test_all_that_is_missing_at_once() -> None:
    error = refusal("process.roles", "node.id")
    assert error.message == "Missing required configurations: node.id, process.roles."
    error = refusal("node.id", "listeners", "controller.quorum.voters")
    assert error.message == (
        "Missing required configurations: node.id, "
        "listeners (the default has no controller listener), "
        "controller.quorum.bootstrap.servers (or controller.quorum.voters)."
    )


@pytest.mark.parametrize("key", ["listeners", "controller.quorum.voters"])
def test_what_kafka_has_other_words_for_is_left_to_its_check(key: str) -> None:
    check_required({name: value for name, value in WHOLE.items() if name != key})


def test_a_broker_alone_needs_no_listeners() -> None:
    """The default of `listeners` is one for clients."""
    given = {**WHOLE, "process.roles": ("broker",)}
    del given["listeners"], given["node.id"], given["controller.listener.names"]
    with pytest.raises(ConfigError) as caught:
        check_required(given)
    assert caught.value.message == (
        "Missing required configurations: controller.listener.names, node.id."
    )
