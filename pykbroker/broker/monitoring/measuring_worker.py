"""A worker that also measures requests: time, size, errors (of a long response only its own).

State: `times`, by API key, and how long its turns held the event loop. The node uses this worker
instead of the plain one if metrics are enabled, and its subclass `TracingWorker` if requests are
traced; otherwise measuring costs nothing. It serves every request on the general path, where it
measures, and prepares nothing (`broker/prepared/`). `benchmarks.micro.bench_metrics` shows its
cost.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from pykbroker.broker.handlers import InSlices, Route
from pykbroker.broker.monitoring.request_times import BOUNDS_NS, RequestTimes
from pykbroker.broker.monitoring.response_errors import (
    ONE_CODE,
    ErrorPlan,
    count_errors,
    error_plan,
)
from pykbroker.broker.requests.worker import Worker
from pykbroker.broker.services import NodeServices
from pykbroker.errors import KafkaError
from pykbroker.network.request import Request
from pykbroker.network.request_channel import RequestChannel
from pykbroker.protocol.primitives import Message

_KEYS = 128


class MeasuringWorker(Worker):
    """A worker that also measures requests."""

    __slots__ = ("_is_error_counted", "_plans", "_waited", "busy_ns", "times")

    def __init__(
        self,
        services: NodeServices,
        channel: RequestChannel,
        *,
        turn_ended: Callable[[], None],
        halt: Callable[[BaseException], None],
    ) -> None:
        self.times = [RequestTimes() for _ in range(_KEYS)]
        self.busy_ns = 0
        self._plans: dict[type[Any], ErrorPlan] = {}
        self._is_error_counted = False
        self._waited: dict[Request, int] = {}  # for the code of their APIs; since when
        super().__init__(services, channel, turn_ended=turn_ended, halt=halt)

    def run_turn(self) -> None:
        """See `Worker`."""
        started_ns = self._monotonic_ns()
        super().run_turn()
        self.busy_ns += self._monotonic_ns() - started_ns

    def _serve(self, request: Request) -> None:
        taken_ns = self._monotonic_ns()
        request.taken_ns = self._waited.pop(request, taken_ns) if self._waited else taken_ns
        Worker._serve(self, request)  # super() would cost more than the rest

    def _serve_later(self, request: Request, failure: BaseException | None) -> None:
        if failure is None:
            self._waited[request] = request.taken_ns
        super()._serve_later(request, failure)

    def _remember(self, request: Request, route: Route) -> None:
        """Prepare nothing, so that every request passes through here."""

    def _reply(self, request: Request, route: Route, outcome: Any) -> int:
        size = Worker._reply(self, request, route, outcome)
        plan = self._plans.get(type(outcome))
        if plan is None and isinstance(outcome, Message):
            plan = self._plan_of(outcome)
        if plan is not None:
            self._measure(request, size)
            if not self._is_error_counted:
                if plan is not ONE_CODE:
                    count_errors(outcome, plan, self.times[request.api_key].count_error)
                elif outcome.error_code:
                    self.times[request.api_key].count_error(outcome.error_code)
        elif not isinstance(outcome, (KafkaError, InSlices)):
            # An error has come by as the message that tells of it; slices will, with their end.
            self._measure(request, size)
        return size

    def _plan_of(self, outcome: Message) -> ErrorPlan:
        plan = self._plans[type(outcome)] = error_plan(type(outcome))
        return plan

    def _reply_error(self, request: Request, route: Route, error: KafkaError) -> int:
        self.times[request.api_key].count_error(int(error.code))
        self._is_error_counted = True
        try:
            return super()._reply_error(request, route, error)
        finally:
            self._is_error_counted = False

    def _long_handled(self, request: Request, route: Route, outcome: Any) -> None:
        super()._long_handled(request, route, outcome)
        # What a long response names is not looked through: that would hold the loop.
        code = int(outcome.code) if isinstance(outcome, KafkaError) else 0
        if isinstance(outcome, Message):
            code = getattr(outcome, "error_code", 0)
        if code:
            self.times[request.api_key].count_error(code)

    def _long_encoded(self, request: Request, route: Route, encoded: Any) -> None:
        super()._long_encoded(request, route, encoded)
        if isinstance(encoded, tuple):
            self._measure(request, encoded[1])

    def _measure(self, request: Request, size: int) -> None:
        spent_ns = self._monotonic_ns() - request.taken_ns
        times = self.times[request.api_key]
        times.by_version[request.api_version] += 1
        times.counts[bisect_left(BOUNDS_NS, spent_ns)] += 1
        times.total_ns += spent_ns
        times.request_bytes += len(request.frame)
        times.response_bytes += size
