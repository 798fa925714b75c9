"""A read-only mapping that can be copied and pickled."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


class Frozen(Mapping[str, T]):
    """A read-only mapping from names to values; two are equal when their items are."""

    __slots__ = ("_given",)

    def __init__(self, given: Mapping[str, T] | None = None) -> None:
        self._given = dict(given or {})

    def __getitem__(self, name: str) -> T:
        return self._given[name]

    def __contains__(self, name: object) -> bool:
        return name in self._given

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def __repr__(self) -> str:
        return repr(self._given)

    def __reduce__(self) -> tuple[Any, ...]:
        return Frozen, (self._given,)


NOTHING: Frozen[Any] = Frozen()
