"""IPv6 addresses as Java prints them."""

from __future__ import annotations

import pytest

from pykbroker.network.java_address import java_address


@pytest.mark.parametrize(
    "host, text",
    [
        ("::1", "0:0:0:0:0:0:0:1"),
        ("2001:DB8::ff00:42:8329", "2001:db8:0:0:0:ff00:42:8329"),
        ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1%eth0"),
        ("::1.2.3.4", "0:0:0:0:0:0:102:304"),
        ("::ffff:1.2.3.4", "1.2.3.4"),
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
        ("no:address", "no:address"),
    ],
)
def test_an_address_has_all_its_groups(host: str, text: str) -> None:
    assert java_address(host) == text
