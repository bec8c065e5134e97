"""The states of a node during startup and shutdown.

    state         waits for                                       fails for example with
    BINDING       -                                               a port in use
    LOCKING       -                                               a directory of another node
    OPENING       the disk: it reads the metadata log             a damaged metadata log
    CATCHING_UP   a leader of the quorum, and what it committed   -
    REGISTERING   the controller, and its record of this broker   a refusal; no answer in
                                                    initial.broker.registration.timeout.ms
    LOADING       worker processes that recover logs              a partition in two directories; no
                                                    usable log directory, or none for the metadata
                                                    log (both also before REGISTERING waits)
    FENCED        the controller, until this broker has read its metadata
    SERVING       -
    STOPPING      the controller, until other brokers lead the partitions
    STOPPED       -

A node without the broker's role serves once it has caught up. A node that is alone in its cluster
waits for no other node.
"""

from __future__ import annotations

import logging
from enum import Enum

from pykbroker.environment.scheduler import Scheduler, Timer

REMIND_MS = 10_000

_log = logging.getLogger("pykbroker.server")


class LogDirLost(Exception):
    """A log directory failed that the node cannot be without."""


class NodeState(Enum):
    """The states of a node. The value completes the sentence `node 1 is ...`."""

    BINDING = "binding its listeners"
    LOCKING = "locking its log directories"
    OPENING = "reading its metadata log"
    CATCHING_UP = "waiting for the metadata quorum"
    REGISTERING = "waiting to be registered by the controller"
    LOADING = "loading its logs"
    FENCED = "waiting to be unfenced by the controller"
    SERVING = "serving"
    STOPPING = "stopping"
    STOPPED = "stopped"


RESTING = (NodeState.SERVING, NodeState.STOPPED)


class StateKeeper:
    """The state of a node; logs every REMIND_MS that it is still in a transient state."""

    def __init__(self, node_id: int, scheduler: Scheduler) -> None:
        self._node_id = node_id
        self._scheduler = scheduler
        self._timer: Timer | None = None
        self._waited_ms = 0
        self.state = NodeState.STOPPED

    def enter(self, state: NodeState) -> None:
        """Change to `state`."""
        self.state = state
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._waited_ms = 0
        if state not in RESTING:
            self._timer = self._scheduler.call_later(REMIND_MS, self._remind)

    def _remind(self) -> None:
        self._waited_ms += REMIND_MS
        _log.info(
            "node %d is still %s after %d s",
            self._node_id,
            self.state.value,
            self._waited_ms // 1000,
        )
        self._timer = self._scheduler.call_later(REMIND_MS, self._remind)
