"""Turns wrong calls of public functions into one sentence for the user, instead of Python's TypeError."""

import inspect
import os
import reprlib
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from attnlab.base.counted import format_count
from attnlab.base.errors import ArgumentError, FileError
from attnlab.base.near_names import find_near

F = TypeVar("F", bound=Callable[..., Any])


def explain_calls(function: F) -> F:
    """Decorate a function, or the ``__init__`` of a class, to raise ArgumentError if its arguments do not fit.

    A correct call costs nothing extra: the arguments are checked only after Python has refused them.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError:
            problem = _find_problem(function, args, kwargs)
            if not problem:  # the TypeError comes from inside the function
                raise
        raise ArgumentError(problem)

    return cast(F, call)


def check_path(path: object, name: str = "path") -> None:
    """Refuse anything but a file name; ``open`` would take a number for a file that is already open.

    Raises:
        FileError: it is neither a string nor a path.
    """
    if not isinstance(path, str | os.PathLike):
        raise FileError(f"{name} is {reprlib.repr(path)}; it needs the name of a file.")


def _find_problem(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return a sentence that says why a call does not fit the signature, or ""."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        reason = str(error)
    else:
        return ""
    name = function.__qualname__.removesuffix(".__init__")
    taken = [each for each in signature.parameters.values() if each.name != "self"]
    names = [each.name for each in taken if each.kind is not each.VAR_KEYWORD]
    listed = ", ".join(names) or "nothing"
    unknown = [key for key in kwargs if key not in names]
    if unknown and "unexpected keyword" in reason:
        near = find_near(unknown[0], names) or find_near(unknown[0].lower(), names)
        hint = f"did you mean {near}? " if near else ""
        return f"{name} has no argument {unknown[0]!r}; {hint}It takes {listed}."
    if "missing" in reason:
        missing = reason.split("argument: ")[-1].strip("'")
        return f"{name} needs {missing}, which is missing; it takes {listed}."
    if "multiple values" in reason:
        return f"{name} was given an argument twice; it takes {listed}."
    given = len(args) - ("self" in signature.parameters)
    return f"{name} was given {format_count(given, 'argument')}; it takes {listed}."
