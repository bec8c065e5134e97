"""IP addresses in the text form of Java, which some records and responses contain."""

from __future__ import annotations

from struct import Struct

_groups_of = Struct(">8H").unpack


def java_address(host: str) -> str:
    """Return an IPv6 address as Java prints it, with all of its groups: `0:0:0:0:0:0:0:1`. Other
    hosts are returned unchanged.
    """
    if ":" not in host:
        return host
    import ipaddress

    address, percent, zone = host.partition("%")
    try:
        groups = _groups_of(ipaddress.IPv6Address(address).packed)
    except ValueError:
        return host
    return ":".join(f"{group:x}" for group in groups) + percent + zone
