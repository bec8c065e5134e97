"""This replica's requests to the rest of its quorum: the messenger and the fetcher.

Not created on the only voter of a quorum, which sends no requests.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pykbroker.config import BrokerConfig
from pykbroker.deferred import Deferred
from pykbroker.environment.background import Threads
from pykbroker.environment.scheduler import Scheduler
from pykbroker.kraft.raft.raft_driver import RaftDriver
from pykbroker.kraft.raft.raft_fetcher_driver import RaftFetcher
from pykbroker.kraft.raft.raft_messenger_driver import RaftMessenger
from pykbroker.kraft.raft.raft_peers import RaftPeers


class RaftLinks:
    """The messenger and the fetcher of a replica; call `start` when the log is open. `send` has an
    argument `purpose`, for the connection.
    """

    def __init__(
        self,
        *,
        driver: RaftDriver,
        peers: RaftPeers,
        cluster_id: str,
        config: BrokerConfig,
        send: Callable[..., Deferred],
        scheduler: Scheduler,
        threads: Threads,
        now_ms: Callable[[], int],
        on_fatal: Callable[[BaseException], None],
    ) -> None:
        self._messenger = RaftMessenger(
            raft=driver.raft,
            peers=peers,
            cluster_id=cluster_id,
            send=partial(send, purpose="votes"),
            step=driver.step,
            scheduler=scheduler,
            now_ms=now_ms,
            request_timeout_ms=config.controller_quorum_request_timeout_ms,
            retry_backoff_ms=config.controller_quorum_retry_backoff_ms,
        )
        self._fetcher = RaftFetcher(
            driver=driver,
            peers=peers,
            cluster_id=cluster_id,
            send=partial(send, purpose="metadata"),
            scheduler=scheduler,
            threads=threads,
            now_ms=now_ms,
            request_timeout_ms=config.controller_quorum_request_timeout_ms,
            retry_backoff_ms=config.controller_quorum_retry_backoff_ms,
            max_bytes=config.controller_quorum_fetch_max_bytes,
            max_snapshot_bytes=config.controller_quorum_fetch_snapshot_max_bytes,
            can_become_voter=config.is_controller,
            on_fatal=on_fatal,
        )
        driver.link(self._messenger, self._fetcher.wake)

    @property
    def in_flight(self) -> int:
        """Return how many messages to other voters are unanswered."""
        return self._messenger.in_flight

    def start(self) -> None:
        """Start following the leader."""
        self._fetcher.start()

    def stop(self) -> None:
        """Stop retries and fetches."""
        self._messenger.stop()
        self._fetcher.stop()
