"""What can be wrong with an option: always one line that names it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from pykbroker.offline import OfflineError

_Arguments = ParamSpec("_Arguments")
_Returned = TypeVar("_Returned")


class OptionError(OfflineError):
    """An option that does not exist, or has a value that it cannot have."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"option {name}: {message}")
        self.name = name
        self.message = message

    def __reduce__(self) -> tuple[type[OptionError], tuple[str, str]]:
        return OptionError, (self.name, self.message)


def told_briefly(method: Callable[_Arguments, _Returned]) -> Callable[_Arguments, _Returned]:
    """A method that Spark calls: refusals leave it without the frames in which they were found.

    Spark shows the whole stack before the one line that counts.
    """

    @wraps(method)
    def call(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Returned:
        try:
            return method(*arguments, **named)
        except OfflineError as fault:
            raise fault.with_traceback(None) from None

    return call
