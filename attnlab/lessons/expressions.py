"""What an expression of a lesson means: the few kinds of nodes that there are, walked by hand over what is computed."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attnlab.attention import edits, registry
from attnlab.attention.axes import TOKENS, labels
from attnlab.attention.stages import BY_NAME
from attnlab.errors import AttnlabError
from attnlab.lessons.cells import place

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.trace import Trace

MOST = 10**15
"""Whole numbers beyond are not kept exact: an expression cannot be made to fill the memory."""
ALIASES = {"X": "embeddings", "M": "memory_embeddings"}


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression is about: what is computed, what was before it, and the head that is shown."""

    trace: "Trace"
    before: "Trace"
    head: int | str


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Several numbers, and what they are called where they run along tokens."""

    values: NDArray[np.floating]
    names: tuple[str, ...] | None = None


Value: TypeAlias = int | float | str | Numbers

SIZES: Mapping[str, Callable[["Experiment"], int]] = {
    "T": lambda e: e.T_q,
    "T_q": lambda e: e.T_q,
    "T_k": lambda e: e.T_k,
    "d_model": lambda e: e.d_model,
    "d_memory": lambda e: int(e.memory.shape[1]),
    "d_k": lambda e: e.d_k,
    "d_v": lambda e: e.d_v,
    "d_out": lambda e: e.d_out,
    "n_heads": lambda e: e.n_heads,
    "n_kv_heads": lambda e: e.n_kv_heads,
}
_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: lambda a, b: float(a) ** float(b),
}
_FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "abs": abs,
}
_OVER: Mapping[str, Callable[[NDArray[np.floating]], float]] = {
    "sum": lambda v: float(v.sum(dtype=np.float64)),
    "max": lambda v: float(v.max()),
    "min": lambda v: float(v.min()),
    "mean": lambda v: float(v.mean(dtype=np.float64)),
}
FUNCTIONS = (*_OVER, "argmax", "entropy", *_FUNCTIONS, "round")


def value_of(node: ast.expr, scope: Scope) -> Value:
    """Return what an expression comes to.

    Raises:
        AttnlabError: it means nothing here; the sentence says what would.
    """
    match node:
        case ast.Constant(value=bool() | None) | ast.Constant(value=complex()):
            pass
        case ast.Constant(value=int() | float() as constant):
            return _kept(constant)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _combined(node, scope)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign):
            value = _number(node.operand, scope)
            return -value if isinstance(sign, ast.USub) else value
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return _called(name, args, scope)
        case ast.Subscript():
            return _indexed(node, scope)
        case ast.Name(id=name):
            return _named(name, scope.trace)
        case ast.Attribute(value=ast.Name(id="before"), attr=name):
            return _named(name, scope.before)
    raise AttnlabError("it may hold stages, tables, sizes and tokens, + − * / **, and " + ", ".join(FUNCTIONS) + ".")


def _kept(value: float) -> int | float:
    """Return a result: whole while it is small enough, a float else."""
    return float(value) if isinstance(value, int) and abs(value) > MOST else value


def _number(node: ast.expr, scope: Scope) -> int | float:
    value = value_of(node, scope)
    if not isinstance(value, int | float):
        raise AttnlabError("arithmetic needs single numbers; sum, max, mean or an index makes one.")
    return value


def _whole(value: float, *of: float) -> int | float:
    """Return the result of arithmetic: of whole numbers a whole one where it is one."""
    if abs(value) < MOST and float(value).is_integer() and all(isinstance(x, int) for x in of):
        return int(value)
    return _kept(value)


def _combined(node: ast.BinOp, scope: Scope) -> int | float:
    left, right = _number(node.left, scope), _number(node.right, scope)
    return _computed(lambda: _OPERATORS[type(node.op)](left, right), left, right)


def _computed(make: Callable[[], float], *of: float) -> int | float:
    try:
        value = make()
    except ZeroDivisionError:
        raise AttnlabError("it divides by 0.") from None
    except (ValueError, OverflowError):
        raise AttnlabError("the number it comes to does not exist or is too large.") from None
    if isinstance(value, complex):
        raise AttnlabError("the number it comes to does not exist: a root of a negative number.")
    return _whole(value, *of)


def _called(name: str, args: list[ast.expr], scope: Scope) -> Value:
    if name in _FUNCTIONS and len(args) == 1:
        of = _number(args[0], scope)
        return _computed(lambda: _FUNCTIONS[name](of), of)
    if name == "round" and len(args) in (1, 2):
        of, digits = _number(args[0], scope), _index(args[1], scope) if len(args) == 2 else None
        return _computed(lambda: round(of) if digits is None else round(of, int(digits)), of)
    if (name in _OVER or name in ("argmax", "entropy")) and len(args) == 1:
        value = value_of(args[0], scope)
        if not isinstance(value, Numbers):
            raise AttnlabError(f"{name} needs a row or a column, such as {name}(weights[2, :]).")
        return _over(name, value)
    raise AttnlabError(f"there is no {name} of {len(args)}; there are {', '.join(FUNCTIONS)}, each of one value.")


def _over(name: str, numbers: Numbers) -> int | float | str:
    if name in _OVER:
        return _OVER[name](numbers.values)
    if name == "entropy":
        return _entropy(numbers.values)
    if numbers.values.ndim != 1 or not np.isfinite(numbers.values.max()):
        raise AttnlabError("argmax needs one row or one column whose largest number is finite.")
    at = int(numbers.values.argmax())
    return at if numbers.names is None else numbers.names[at]


def _entropy(values: NDArray[np.floating]) -> float:
    """Return −Σ w·ln w in nats, 0·ln 0 being 0."""
    w = values.astype(np.float64)
    if not np.all((w >= 0) & np.isfinite(w)):
        raise AttnlabError("entropy needs weights, none of them negative.")
    positive = w[w > 0]
    return float(-(positive * np.log(positive)).sum()) + 0.0


def _named(name: str, trace: "Trace") -> int | float:
    """Return a size, or a number of the configuration such as temperature or window."""
    e = trace.experiment
    if name in SIZES:
        return SIZES[name](e)
    if name in e.config.masks:
        return e.config.masks[name]
    if name in registry.all_options() and isinstance(e.config.option(name), int | float):
        return e.config.option(name)  # type: ignore[no-any-return]
    if name in BY_NAME or ALIASES.get(name, name) in edits.tables(e):
        raise AttnlabError(f"{name} is many numbers; {name}[0, 1] is one of them.")
    raise AttnlabError(_no(name, trace))


def _no(name: str, trace: "Trace") -> str:
    known = (*trace.all_stages, *edits.tables(trace.experiment), "X", "tokens", "key_tokens", "before", *SIZES)
    near = get_close_matches(name, known, n=1)
    return f"there is no {name!r} here; " + (f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}.")


def _indexed(node: ast.Subscript, scope: Scope) -> Value:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    match node.value:
        case ast.Name(id=name):
            trace = scope.trace
        case ast.Attribute(value=ast.Name(id="before"), attr=name):
            trace = scope.before
        case _:
            raise AttnlabError("brackets follow the name of a stage, a table or tokens.")
    indices = [_index(part, scope) for part in parts]
    e = trace.experiment
    if name in ("tokens", "key_tokens"):
        names = e.tokens if name == "tokens" else e.key_tokens
        if len(indices) != 1 or indices[0] is None:
            raise AttnlabError(f"{name} needs one number, such as {name}[0].")
        return names[place(e, "query" if name == "tokens" else "key", indices[0], "the token")]
    if name in BY_NAME:
        return _of_stage(name, indices, trace, scope.head)
    table = ALIASES.get(name, name)
    if table in edits.tables(e):
        return _of_table(table, indices, e)
    raise AttnlabError(_no(name, trace))


def _index(node: ast.expr, scope: Scope) -> int | str | None:
    """Return an index: a number, a token, or None for all."""
    match node:
        case ast.Slice(lower=None, upper=None, step=None):
            return None
        case ast.Constant(value=str() as token):
            return token
        case ast.Slice():
            raise AttnlabError("of a range only : alone is read, which is all.")
    value = value_of(node, scope)
    if isinstance(value, str) or (isinstance(value, int) and value >= 0):
        return value
    raise AttnlabError("an index needs a whole number from 0, a token in quotes, or : for all.")


def _of_stage(name: str, indices: list[int | str | None], trace: "Trace", head: int | str) -> Value:
    e = trace.experiment
    if name not in trace:
        raise AttnlabError(f"this state has no {name}; there are {', '.join(trace.all_stages)}.")
    stage = trace.stage(name)
    if len(indices) == 3 and stage.has_heads:
        first = indices.pop(0)
        if not isinstance(first, int) and first != "mean":
            raise AttnlabError(f"the head of {name} needs a number from 0.")
        head = first
    if len(indices) != 2:
        more = f", or {name}[0, 2, 1] with a head" if stage.has_heads else ""
        raise AttnlabError(f"{name} needs a row and a column, {name}[2, 1]{more}.")
    if isinstance(head, int) and head >= e.n_heads:
        raise AttnlabError(f"there is no head {head}; heads are 0 to {e.n_heads - 1}.")
    if head == "mean" and stage.has_heads:
        array = trace.mean(name)
    else:
        array = trace.array(name)[head if isinstance(head, int) else 0] if stage.has_heads else trace.array(name)
    return _picked(array, indices, stage.axes[-2:], e, name)


def _of_table(name: str, indices: list[int | str | None], e: "Experiment") -> Value:
    array = edits.array(e, name)
    if len(indices) == 1 and len(array) == 1:
        indices = [0, *indices]
    if len(indices) != 2:
        raise AttnlabError(f"{name} needs a row and a column, {name}[0, 1].")
    axes = {"embeddings": ("token", ""), "memory_embeddings": ("key", "")}.get(name, ("", ""))
    return _picked(array, indices, axes, e, name)


def _picked(
    array: NDArray[np.floating], indices: list[int | str | None], axes: tuple[str, ...], e: "Experiment", name: str
) -> int | float | Numbers:
    """Return a cell, a row, a column or all of a table [rows, columns]."""
    at = [
        None if index is None else _place(e, axis, index, count, f"the {what} of {name}")
        for index, axis, count, what in zip(indices, axes, array.shape, ("row", "column"), strict=True)
    ]
    row, column = at
    if row is not None and column is not None:
        return float(array[row, column])
    picked = array[slice(None) if row is None else row, slice(None) if column is None else column]
    along = axes[0] if row is None else axes[1]
    return Numbers(picked, labels(e, along, len(picked)) if along in TOKENS and picked.ndim == 1 else None)


def _place(e: "Experiment", axis: str, index: int | str, count: int, what: str) -> int:
    if axis in TOKENS:
        return place(e, axis, index, what)
    if not isinstance(index, int) or index >= count:
        raise AttnlabError(f"{what} is {index}; it needs a number from 0 to {count - 1}.")
    return index
