"""One decide step under construction, which the functions of the group machine share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.coordinator.decisions import ShardDecision
from pykbroker.coordinator.group.settings import GroupSettings
from pykbroker.environment.slices import Breathe, go_on
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.log.producers.verification import VerificationGuard


class CallerContext(NamedTuple):
    """The context of a request, in addition to its body.

    client_host: as Java prints an address without a host name: "/127.0.0.1", "/0:0:0:0:0:0:0:1".
    fresh_uuid: a random UUID as text, for a new member id (the machine has no random source).
    guard: the verification of the transaction that the request is part of.
    """

    version: int
    client_id: str = ""
    client_host: str = ""
    fresh_uuid: str = ""
    guard: VerificationGuard | None = None


class Step:
    """The decision under construction, the time, the settings, and `breathe` for long steps."""

    __slots__ = ("breathe", "decision", "now_ms", "settings")

    def __init__(self, settings: GroupSettings, now_ms: int, breathe: Breathe = go_on) -> None:
        self.breathe = breathe
        self.settings = settings
        self.now_ms = now_ms
        self.decision = ShardDecision()
