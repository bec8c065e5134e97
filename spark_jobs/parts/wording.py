"""Numbers with their nouns, in the singular and in the plural."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """`1 record`, `2,000 records`, `1 batch`, `0 batches`."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """The plural of a regular noun."""
    return f"{noun}es" if noun.endswith(("ch", "s", "x")) else f"{noun}s"
