"""Immutable tables of which a changed copy costs little, however large they are.

    up to MOST_COPIED entries    a dict, which is copied
    and changes
    more                         a SharedTable, even if it shrinks: entries in shards by their hash;
                                 a changed table copies the shards that change, and shares the
                                 others, unless it has outgrown them

Both are read only.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from itertools import chain
from typing import Any, Final, TypeVar, overload

from pykbroker.environment.slices import Breathe, go_on, paced

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")
OtherT = TypeVar("OtherT")

MOST_COPIED: Final = 2048
SHARD_ENTRIES: Final = 64
"""The greatest average number of entries in a shard of a table when it is built; a table that has
grown to more than twice as many is built again."""


def merged(
    before: Mapping[KeyT, ValueT],
    changes: Mapping[KeyT, ValueT | None],
    breathe: Breathe = go_on,
) -> Mapping[KeyT, ValueT]:
    """Return `before` with `changes` applied, None removing; `before` itself without changes.

    `breathe` is called between the changes to a large table (`environment/slices.py`).
    """
    if not changes:
        return before
    if isinstance(before, SharedTable):
        return before.changed(changes, breathe)
    if len(before) + len(changes) > MOST_COPIED:
        return SharedTable(before).changed(changes, breathe)
    copy = dict(before)
    _change(copy, changes)
    return copy


class SharedTable(Mapping[KeyT, ValueT]):
    """A table of very many entries."""

    __slots__ = ("_mask", "_shards", "_size")

    def __init__(self, entries: Mapping[KeyT, ValueT]) -> None:
        count = 1
        while count * SHARD_ENTRIES < len(entries):
            count *= 2
        self._mask = mask = count - 1
        self._size = len(entries)
        self._shards: list[dict[KeyT, ValueT]] = [{} for _ in range(count)]
        for key, value in entries.items():
            self._shards[hash(key) & mask][key] = value

    def changed(
        self, changes: Mapping[KeyT, ValueT | None], breathe: Breathe = go_on
    ) -> SharedTable[KeyT, ValueT]:
        """Return a table with `changes` applied, None removing. See `merged`."""
        by_shard: dict[int, dict[KeyT, ValueT | None]] = {}
        for key, value in paced(changes.items(), breathe):
            by_shard.setdefault(hash(key) & self._mask, {})[key] = value
        shards = self._shards.copy()
        size = self._size
        for number, in_shard in paced(by_shard.items(), breathe):
            shard = shards[number] = shards[number].copy()
            size -= len(shard)
            _change(shard, in_shard)
            size += len(shard)
        table: SharedTable[KeyT, ValueT] = SharedTable.__new__(SharedTable)
        table._mask, table._shards, table._size = self._mask, shards, size
        return SharedTable(table) if size > 2 * SHARD_ENTRIES * len(shards) else table

    def __getitem__(self, key: KeyT) -> ValueT:
        return self._shards[hash(key) & self._mask][key]

    @overload
    def get(self, key: KeyT, default: None = None, /) -> ValueT | None: ...
    @overload
    def get(self, key: KeyT, default: ValueT | OtherT, /) -> ValueT | OtherT: ...
    def get(self, key: KeyT, default: Any = None, /) -> Any:
        """Return the value, `default` if there is none."""
        return self._shards[hash(key) & self._mask].get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self._shards[hash(key) & self._mask]

    def __iter__(self) -> Iterator[KeyT]:
        return chain.from_iterable(self._shards)

    def __len__(self) -> int:
        return self._size

    def values(self) -> ValuesView[ValueT]:
        """Return a view of the values."""
        return _Values(self)

    def items(self) -> ItemsView[KeyT, ValueT]:
        """Return a view of the entries."""
        return _Items(self)

    @property
    def shards(self) -> list[dict[KeyT, ValueT]]:
        """The entries, by the hashes of their keys."""
        return self._shards


class _Values(ValuesView[ValueT]):
    _mapping: SharedTable[Any, ValueT]

    def __iter__(self) -> Iterator[ValueT]:
        return chain.from_iterable(shard.values() for shard in self._mapping.shards)


class _Items(ItemsView[KeyT, ValueT]):
    _mapping: SharedTable[KeyT, ValueT]

    def __iter__(self) -> Iterator[tuple[KeyT, ValueT]]:
        return chain.from_iterable(shard.items() for shard in self._mapping.shards)


def _change(table: dict[KeyT, ValueT], changes: Mapping[KeyT, ValueT | None]) -> None:
    for key, value in changes.items():
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value
