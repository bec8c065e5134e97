"""The links between the hosts of a simulated network: delay, jitter, cuts.

State: one Link for each direction between two hosts, with the packets that a cut holds back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from pykbroker.testing.world.randomness import Dice
from pykbroker.testing.world.virtual_time import EventQueue


class Link:
    """One direction between two hosts."""

    __slots__ = ("base_us", "held", "is_cut", "jitter_us")

    def __init__(self, base_us: int, jitter_us: int) -> None:
        self.base_us = base_us
        self.jitter_us = jitter_us
        self.is_cut = False
        self.held: deque[tuple[Callable[..., None], tuple[object, ...]]] = deque()


class Links:
    """The links between the hosts of a simulated network."""

    def __init__(self, queue: EventQueue, dice: Dice) -> None:
        self.queue = queue
        self.dice = dice
        self._links: dict[tuple[str, str], Link] = {}
        self.on_segment: Callable[[str, str, bytes], None] | None = None
        """Called with sender, receiver and bytes when bytes of a stream arrive."""

    def link(self, sender: str, receiver: str) -> Link:
        """Return the direction from one host to another; its usual delay is fixed at first use."""
        found = self._links.get((sender, receiver))
        if found is None:
            base_us = 10 if sender == receiver else self.dice.choice((40, 150, 400, 2_000))
            found = self._links[sender, receiver] = Link(base_us, base_us)
        return found

    def carry(
        self, sender: str, receiver: str, arrive: Callable[..., None], *arguments: object
    ) -> None:
        """Deliver a packet after the link's delay; if the link is cut then, after it is healed."""
        link = self.link(sender, receiver)
        delay_us = link.base_us + self.dice.randrange(link.jitter_us + 1)
        self.queue.after(delay_us, None, self._arrive, link, arrive, arguments)

    def _arrive(
        self, link: Link, arrive: Callable[..., None], arguments: tuple[object, ...]
    ) -> None:
        if link.is_cut:
            link.held.append((arrive, arguments))
        else:
            arrive(*arguments)
