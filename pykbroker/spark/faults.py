"""What can be wrong with an option: always one line that names it."""

from __future__ import annotations

from pykbroker.offline import OfflineError


class OptionError(OfflineError):
    """An option that does not exist, or has a value that it cannot have."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"option {name}: {message}")
        self.name = name
        self.message = message

    def __reduce__(self) -> tuple[type[OptionError], tuple[str, str]]:
        return OptionError, (self.name, self.message)
