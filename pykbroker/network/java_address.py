"""IP addresses in the text form of Java, which some records and responses contain."""

from __future__ import annotations

from struct import Struct

_groups_of = Struct(">8H").unpack


def java_address(host: str) -> str:
    """Return an IPv6 address as Java prints it, with all of its groups: `0:0:0:0:0:0:0:1`; an IPv4
    address in IPv6 form as IPv4. Other hosts are returned unchanged.
    """
    if ":" not in host:
        return host
    import ipaddress

    address, percent, zone = host.partition("%")
    try:
        parsed = ipaddress.IPv6Address(address)
    except ValueError:
        return host
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    groups = _groups_of(parsed.packed)
    return ":".join(f"{group:x}" for group in groups) + percent + zone
