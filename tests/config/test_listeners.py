from __future__ import annotations

import pytest

from pykbroker.config import BrokerConfig, ConfigError
from pykbroker.config.listeners import Endpoint, parse_endpoints, protocol_map
from pykbroker.config.load import standalone_properties

BASE = standalone_properties("/data")
PLAIN = {"PLAINTEXT": "PLAINTEXT", "A": "PLAINTEXT", "B": "PLAINTEXT"}


def message(**changes: str) -> str:
    texts = {name.replace("__", "."): text for name, text in changes.items()}
    with pytest.raises(ConfigError) as caught:
        BrokerConfig.from_properties({**BASE, **texts})
    return caught.value.message


def test_parsing() -> None:
    parsed = parse_endpoints(
        ["plaintext://:9092", "A://[::1]:1"], PLAIN, "listeners", distinct_ports=True
    )
    assert parsed == (
        Endpoint("PLAINTEXT", "", 9092, "PLAINTEXT"),
        Endpoint("A", "::1", 1, "PLAINTEXT"),
    )
    assert str(parsed[1]) == "A://[::1]:1"


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        (["nonsense"], "Unable to parse nonsense to a broker endpoint"),
        (["C://:1"], "No security protocol defined for listener C"),
        (["A://:1", "a://:2"], "Each listener must have a different name, listeners: "),
        (["A://:1", "B://h:1"], "Each listener must have a different port, listeners: "),
        (["A://:70000"], "port 70000 of A://:70000 is out of range"),
    ],
)
def test_refusals(entries: list[str], why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_endpoints(entries, PLAIN, "listeners", distinct_ports=True)
    shown = f"[{', '.join(entries)}]"
    assert caught.value.message.startswith(f"Error creating broker listeners from '{shown}': {why}")


def test_one_port_on_both_kinds_of_address() -> None:
    both = parse_endpoints(["A://127.0.0.1:1", "B://[::1]:1"], PLAIN, "x", distinct_ports=True)
    assert len(both) == 2
    assert len(parse_endpoints(["A://:0", "B://:0"], PLAIN, "x", distinct_ports=True)) == 2


def test_protocol_map() -> None:
    assert protocol_map("a:SSL, B:PLAINTEXT") == {"A": "SSL", "B": "PLAINTEXT"}
    with pytest.raises(ConfigError, match="Invalid security protocol `NONE`"):
        protocol_map("A:NONE")
    with pytest.raises(ConfigError, match="Error parsing configuration property"):
        protocol_map("A")


def test_secure_listeners_wait_for_their_issue() -> None:
    text = message(
        listeners="SSL://:9092,CONTROLLER://:0",
        listener__security__protocol__map="SSL:SSL,CONTROLLER:PLAINTEXT",
    )
    assert text == "listeners: listener SSL uses SSL, but only PLAINTEXT is built yet"


def test_a_secure_listener_is_refused_by_its_name_without_a_map_of_protocols() -> None:
    text = message(listeners="PLAINTEXT://:9092,SASL_SSL://:9093,CONTROLLER://:0")
    assert text == "listeners: listener SASL_SSL uses SASL_SSL, but only PLAINTEXT is built yet"


def test_advertised_names_must_be_listened_on() -> None:
    text = message(
        advertised__listeners="PLAINTEXT://a:1,OTHER://a:2",
        listener__security__protocol__map="PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT,CONTROLLER:PLAINTEXT",
    )
    assert text == (
        "advertised.listeners listener names must be equal to or a subset of the ones defined in "
        "listeners. Found PLAINTEXT,OTHER. The valid options based on the current configuration "
        "are PLAINTEXT,CONTROLLER"
    )


def test_addresses_that_nobody_can_reach() -> None:
    wanted = "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. "
    assert message(listeners="PLAINTEXT://0.0.0.0:1,CONTROLLER://127.0.0.1:0").startswith(wanted)
    config = BrokerConfig.from_properties(
        {**BASE, "listeners": "PLAINTEXT://127.0.0.1:1,CONTROLLER://0.0.0.0:0"}
    )
    assert config.advertised_controller_endpoints[0].host == ""


def test_names_of_controller_and_inter_broker_listeners() -> None:
    assert message(controller__listener__names="PLAINTEXT,CONTROLLER").startswith(
        "There must be at least one broker advertised listener. Perhaps all listeners appear in"
    )
    alone = message(controller__listener__names="OTHER", listeners="PLAINTEXT://:9092")
    assert alone.startswith(
        "controller.listener.names must contain at least one value appearing in the 'listeners'"
    )
    assert message(controller__listener__names="CONTROLLER,OTHER").startswith(
        "controller.listener.names must only contain values appearing in the 'listeners'"
    )
    assert message(inter__broker__listener__name="OTHER") == (
        "Listener with name OTHER defined in inter.broker.listener.name not found in "
        "listener.security.protocol.map."
    )
    assert message(inter__broker__listener__name="CONTROLLER").startswith(
        "inter.broker.listener.name must be a listener name defined in advertised.listeners."
    )
    both = message(inter__broker__listener__name="A", security__inter__broker__protocol="PLAINTEXT")
    assert both.startswith("Only one of inter.broker.listener.name and")
