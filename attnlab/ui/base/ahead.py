"""Imports ahead of need, in steps short enough not to be noticed."""

import importlib
from collections.abc import Iterator
from contextlib import suppress


def import_each(*modules: str) -> Iterator[None]:
    """Import one module with each step. A module comes after those that it imports and that take long themselves."""
    for module in modules:
        with suppress(ImportError):  # the first visit then says what is missing
            importlib.import_module(module)
        yield
