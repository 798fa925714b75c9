"""Finds what the modules of a package declare, so that a new module needs no entry anywhere else."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, TypeVar


class Ordered(Protocol):
    """A declared value with a place among its kind."""

    @property
    def order(self) -> int:
        """The place: smaller numbers come first."""


D = TypeVar("D", bound=Ordered)


def find_declared(package: str, kind: type[D]) -> tuple[D, ...]:
    """Import every module of a package, and return their global values of one type by ``order``.

    Packages of this kind import neither torch nor, outside ``ui``, Qt when they are loaded: lists are needed early.
    """
    paths = import_module(package).__path__
    modules = [import_module(f"{package}.{module.name}") for module in iter_modules(paths)]
    found = {id(value): value for module in modules for value in vars(module).values() if isinstance(value, kind)}
    return tuple(sorted(found.values(), key=lambda each: each.order))
