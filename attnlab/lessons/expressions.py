"""The evaluation of a lesson's expressions: a small interpreter of syntax trees over the stages of a trace."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnlab.base.errors import AttnlabError
from attnlab.lessons.lookup import Numbers, Value, look_up, look_up_number

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.lessons.recordings import Recorded

MOST = 10**15
"""Larger whole numbers become floats, so that no expression can fill the memory."""
_TOO_LARGE = "its result does not exist or is too large."


@dataclass(frozen=True, slots=True)
class Scope:
    """The context of an expression: the trace, the trace of the step before, and the shown head; and the moments of
    recorded runs that the two steps show."""

    trace: "Trace"
    before: "Trace"
    head: int | str
    run: "Recorded | None" = None
    run_before: "Recorded | None" = None


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


def evaluate(node: ast.expr, scope: Scope) -> Value:
    """Return the value of an expression.

    Raises:
        AttnlabError: it cannot be evaluated; the sentence says what is allowed.
    """
    match node:
        case ast.Constant(value=bool() | None) | ast.Constant(value=complex()):
            pass
        case ast.Constant(value=int() | float() as constant) if constant != math.inf:
            return _keep_exact(constant)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _evaluate_operation(node, scope)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign):
            value = _evaluate_number(node.operand, scope)
            return -value if isinstance(sign, ast.USub) else value
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return _call(name, args, scope)
        case ast.Subscript():
            return _evaluate_index(node, scope)
        case ast.Name(id=name):
            return look_up_number(name, scope.trace)
        case ast.Attribute(value=owner, attr=name) if _is_run(owner):
            return _find_run(owner, scope).read_number(name)
        case ast.Attribute(value=ast.Name(id="before"), attr=name):
            return look_up_number(name, scope.before)
    raise AttnlabError("it may hold stages, tables, sizes and tokens, + − * / **, and " + ", ".join(FUNCTIONS) + ".")


def _keep_exact(value: float) -> int | float:
    """Return a result: a whole number if it is exact, else a float."""
    return float(value) if isinstance(value, int) and abs(value) > MOST else value


def _evaluate_number(node: ast.expr, scope: Scope) -> int | float:
    value = evaluate(node, scope)
    if not isinstance(value, int | float):
        raise AttnlabError("arithmetic needs single numbers; use sum, max, mean or an index.")
    return value


def _keep_whole(value: float, *of: float) -> int | float:
    """Return the result of arithmetic, as a whole number if its operands and the result are whole."""
    if abs(value) < MOST and float(value).is_integer() and all(isinstance(x, int) for x in of):
        return int(value)
    return _keep_exact(value)


def _evaluate_operation(node: ast.BinOp, scope: Scope) -> int | float:
    left, right = _evaluate_number(node.left, scope), _evaluate_number(node.right, scope)
    return _compute(lambda: _OPERATORS[type(node.op)](left, right), left, right)


def _compute(make: Callable[[], float], *of: float) -> int | float:
    try:
        value = make()
    except ZeroDivisionError:
        raise AttnlabError("it divides by 0.") from None
    except (ValueError, OverflowError):
        raise AttnlabError(_TOO_LARGE) from None
    if isinstance(value, complex):
        raise AttnlabError("its result does not exist: a root of a negative number.")
    if math.isinf(value) and not any(map(math.isinf, of)):
        raise AttnlabError(_TOO_LARGE)
    return _keep_whole(value, *of)


def _call(name: str, args: list[ast.expr], scope: Scope) -> Value:
    if name in _FUNCTIONS and len(args) == 1:
        of = _evaluate_number(args[0], scope)
        return _compute(lambda: _FUNCTIONS[name](of), of)
    if name == "round" and len(args) in (1, 2):
        of, digits = _evaluate_number(args[0], scope), _read_index(args[1], scope) if len(args) == 2 else None
        return _compute(lambda: round(of) if digits is None else round(of, int(digits)), of)
    if (name in _OVER or name in ("argmax", "entropy")) and len(args) == 1:
        value = evaluate(args[0], scope)
        if not isinstance(value, Numbers):
            raise AttnlabError(f"{name} needs a row or a column, such as {name}(weights[2, :]).")
        return _reduce(name, value)
    raise AttnlabError(f"there is no {name} of {len(args)}; there are {', '.join(FUNCTIONS)}, each of one value.")


def _reduce(name: str, numbers: Numbers) -> int | float | str:
    if name in _OVER:
        with np.errstate(invalid="ignore", over="ignore"):  # ∞ − ∞ is NaN and is shown as NaN
            return _OVER[name](numbers.values)
    if name == "entropy":
        return _compute_entropy(numbers.values)
    if numbers.values.ndim != 1 or not np.isfinite(numbers.values.max()):
        raise AttnlabError("argmax needs one row or one column whose largest number is finite.")
    largest = np.flatnonzero(numbers.values == numbers.values.max()).tolist()
    found = {at if numbers.names is None else numbers.names[at] for at in largest}
    if len(found) > 1:
        raise AttnlabError(f"argmax needs a single maximum; here {len(largest)} numbers are equally large.")
    return found.pop()


def _compute_entropy(values: NDArray[np.floating]) -> float:
    """Return −Σ w·ln w in nats, 0·ln 0 being 0."""
    w = values.astype(np.float64)
    if not np.all((w >= 0) & np.isfinite(w)):
        raise AttnlabError("entropy needs weights, none of them negative.")
    positive = w[w > 0]
    return float(-(positive * np.log(positive)).sum()) + 0.0


def _evaluate_index(node: ast.Subscript, scope: Scope) -> Value:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    match node.value:
        case ast.Attribute(value=owner, attr=name) if _is_run(owner):
            index = _read_index(parts[0], scope) if len(parts) == 1 else None
            return _find_run(owner, scope).read_number(name, str(index))
        case ast.Name(id=name):
            trace = scope.trace
        case ast.Attribute(value=ast.Name(id="before"), attr=name):
            trace = scope.before
        case _:
            raise AttnlabError("brackets follow the name of a stage, a table or tokens.")
    return look_up(name, [_read_index(part, scope) for part in parts], trace, scope.head)


def _is_run(node: ast.expr) -> bool:
    """Return whether a node is ``run`` or ``before.run``."""
    match node:
        case ast.Name(id="run") | ast.Attribute(value=ast.Name(id="before"), attr="run"):
            return True
    return False


def _find_run(node: ast.expr, scope: Scope) -> "Recorded":
    found = scope.run if isinstance(node, ast.Name) else scope.run_before
    if found is None:
        raise AttnlabError("this step shows no recorded run.")
    return found


def _read_index(node: ast.expr, scope: Scope) -> int | str | None:
    """Return an index: a number, a token, or None for all."""
    match node:
        case ast.Slice(lower=None, upper=None, step=None):
            return None
        case ast.Constant(value=str() as token):
            return token
        case ast.Slice():
            raise AttnlabError("the only range is : for all.")
    value = evaluate(node, scope)
    if isinstance(value, str) or (isinstance(value, int) and value >= 0):
        return value
    raise AttnlabError("an index needs a whole number from 0, a token in quotes, or : for all.")
