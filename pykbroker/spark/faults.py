"""The error of an option, and how errors are raised to Spark."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from pykbroker.offline import OfflineError

_Arguments = ParamSpec("_Arguments")
_Returned = TypeVar("_Returned")


class OptionError(OfflineError):
    """An option does not exist, has an invalid value, or cannot be used here."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"option {name}: {message}")
        self.name = name
        self.message = message

    def __reduce__(self) -> tuple[type[OptionError], tuple[str, str]]:
        return OptionError, (self.name, self.message)


def told_briefly(method: Callable[_Arguments, _Returned]) -> Callable[_Arguments, _Returned]:
    """Decorate a method that Spark calls, so that an OfflineError is raised without inner stack
    frames: Spark shows the whole stack before the relevant line.
    """

    @wraps(method)
    def call(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Returned:
        try:
            return method(*arguments, **named)
        except OfflineError as fault:
            raise fault.with_traceback(None) from None

    return call
