"""The smallest change of a layer's numbers that gives some weights wanted values, found by repeated linear steps."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attnlab.attention.edits.layer_tables import table, with_table
from attnlab.attention.experiment import Experiment
from attnlab.attention.measures.sensitivity import Floats, LeafTrace, list_tables, part_tables
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.base.errors import ExperimentError

MOST_STEPS = 80
CLOSE = 1e-6
"""A goal is reached within this distance."""
_SETTLED = 1e-2
"""The search ends when a step is this small a part of the whole change."""
_SHARES = ("softmax", "softmax-unshifted")
"""Normalisers whose weights lie strictly between 0 and 1: their goals are sought in log odds."""
_BESIDE = 0.1
"""How far beside a saddle the search begins again, as a part of the size of the numbers that may change."""
_HELD_WEIGHT = 500.0
"""The factor of the squared movement of other rows where these are held, against the squared change of the numbers."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A weight and the value that it should have."""

    head: int
    query: int
    key: int
    wanted: float


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """The layer that was found. ``changes`` are the differences of its tables, ``weights`` [h, T_q, T_k] its weights.

    ``length`` is the Euclidean length of all changes together, ``missed`` the largest distance from a goal, and
    ``others_moved`` the largest movement of a weight in a row without a goal, in any head.
    """

    experiment: Experiment
    before: Floats
    weights: Floats
    changes: Mapping[str, Floats]
    length: float
    missed: float
    others_moved: float

    @property
    def is_reached(self) -> bool:
        """Whether each goal is reached to four decimals."""
        return self.missed < 5e-5


def find_reason_against_goals(e: Experiment, goals: Sequence[Goal]) -> str:
    """Return one sentence on why goals cannot be reached, whatever changes; "" if nothing forbids them."""
    hidden, shares = _find_fixed(e), e.config.normalizer
    for goal in goals:
        name = f"“{e.tokens[goal.query] or '∅'}” → “{e.key_tokens[goal.key] or '∅'}”"
        if not math.isfinite(goal.wanted):
            return f"{goal.wanted} cannot be the goal for {name}; type a number such as 0.8."
        if hidden is not None and bool(hidden[goal.query, goal.key]):
            return f"{name} is masked, so it cannot have a goal; unmask the pair first."
        if NORMALIZERS[shares].kind == "signed":
            continue
        if not 0 <= goal.wanted <= 1:
            return f"The goal {goal.wanted:g} for {name} is not between 0 and 1, as weights of a row are."
        visible = e.T_k if hidden is None else int((~hidden[goal.query]).sum())
        if shares != "sigmoid" and visible == 1 and not e.config.option("sink"):
            return f"{name} is the only visible key of its row, so its weight is always 1."
        if shares in (*_SHARES, "sigmoid") and goal.wanted in (0, 1):
            near = 0.001 if goal.wanted == 0 else 0.999
            return f"No finite score gives {name} a weight of exactly {goal.wanted:g}; {near} can be reached."
    return _check_rows(e, goals)


def _find_fixed(e: Experiment) -> Tensor | None:
    """Return which weights the mask fixes, [T_q, T_k]; None if none.

    A mask that fills with 0, or that is applied after the weights, leaves them ordinary numbers.
    """
    return None if e.config.option("fill") in ("0", "after") else e.hidden()


def _check_rows(e: Experiment, goals: Sequence[Goal]) -> str:
    if e.config.normalizer == "sigmoid" or NORMALIZERS[e.config.normalizer].kind == "signed":
        return ""
    hidden = _find_fixed(e)
    for head, query in dict.fromkeys((goal.head, goal.query) for goal in goals):
        row = {goal.key: goal.wanted for goal in goals if (goal.head, goal.query) == (head, query)}
        name, total = e.tokens[query] or "∅", sum(row.values())
        visible = e.T_k if hidden is None else int((~hidden[query]).sum())
        if total > 1 + 1e-9:
            return f"The goals in the row of “{name}” sum to {total:g}, and a row sums to 1: lower one of them."
        if total < 1 - 1e-4 and len(row) == visible and not e.config.option("sink"):
            return f"The goals of all keys of “{name}” sum to {total:g}, and a row sums to 1: raise or drop one."
    return ""


def seek_goals(
    e: Experiment,
    goals: Sequence[Goal],
    may_change: Mapping[str, NDArray[np.bool_]],
    *,
    hold_others: bool = False,
    progress: Callable[[float], bool] = lambda missed: True,
) -> Reached:
    """Return the layer with the smallest change of the numbers that may change and weights as wanted, or near it.

    ``may_change`` has for each table which of its numbers may change, boolean of its shape. With ``hold_others`` the
    movement of all other rows counts as well, so the change is small but not the smallest. It is a local search in
    float64: a sequence of linear problems, each solved exactly, with steps halved until they help (Nocedal & Wright
    2006, section 18.1). If it ends without reaching them, it begins once more beside that place, which may be a
    saddle. ``progress`` is called with the distance; the search ends when it returns False.

    Raises:
        ExperimentError: a goal that cannot be reached whatever changes, nothing that may change, no derivative.
    """
    reason = find_reason_against_goals(e, goals)
    if reason:
        raise ExperimentError(reason)
    search = _Search(e, goals, may_change, hold_others)
    if not len(search.start):
        raise ExperimentError("Nothing may change; choose W_q, W_k, X or a token.")
    search.run(progress)
    return search.finish()


class _Search:
    """One search: numbers ``x`` [n] in the order of the tables, from ``start``."""

    def __init__(
        self, e: Experiment, goals: Sequence[Goal], may_change: Mapping[str, NDArray[np.bool_]], hold_others: bool
    ) -> None:
        self.given, self.e, self.goals = e, part_tables(e), goals
        self.places = {name: torch.from_numpy(may.copy()) for name, may in may_change.items() if may.any()}
        unknown = [name for name in self.places if name not in list_tables(e)]
        if unknown:
            raise ExperimentError(f"This layer has no table {unknown[0]}; there are {', '.join(list_tables(e))}.")
        parts = [table(self.e, name)[may].double() for name, may in self.places.items()]
        self.start = torch.cat(parts) if parts else torch.zeros(0, dtype=torch.float64)
        self.x = self.start.clone()
        self.steps = 0
        rows = {(goal.head, goal.query) for goal in goals}
        self.others = torch.tensor([[(h, q) not in rows for q in range(e.T_q)] for h in range(e.n_heads)])
        hidden, size = _find_fixed(e), (e.n_heads, e.T_q, e.T_k)
        self.held = self.others[:, :, None].expand(size) & (torch.ones(size[1:]).bool() if hidden is None else ~hidden)
        self.hold = hold_others and bool(self.held.any())
        self.odds = e.config.normalizer in _SHARES
        wanted = torch.tensor([goal.wanted for goal in goals], dtype=torch.float64)
        self.wanted = torch.logit(wanted) if self.odds else wanted
        with torch.inference_mode(False), torch.no_grad():
            self.before = self._weigh(self.x)

    def run(self, progress: Callable[[float], bool]) -> None:
        """Move ``x`` until the goals are reached by the smallest change, or nothing helps."""
        with torch.inference_mode(False), torch.enable_grad():
            if self._descend(progress):
                self._leave_saddle(progress)

    def _descend(self, progress: Callable[[float], bool]) -> bool:
        """Move ``x`` as :meth:`run` does; return False if ``progress`` did."""
        goes_on = True
        for _ in range(MOST_STEPS):
            self.steps += 1
            missed, shortest, nearest = self._find_steps()
            moved = self._try(shortest, missed)
            if moved is None:
                moved = self._try(nearest, missed)
            if moved is None or not (goes_on := progress(self._measure_missed())):
                break
            small = float((moved - self.x).norm()) <= _SETTLED * float((moved - self.start).norm())
            self.x = moved
            if small and self._measure_missed() < CLOSE:
                return True
        self._come_near()
        return goes_on

    def _leave_saddle(self, progress: Callable[[float], bool]) -> None:
        """Search once more from beside a place where the goals are missed, and keep what comes nearer.

        No slope leads away from a query and a key that are both 0, though larger changes of both may reach the goals.
        """
        nearest, missed = self.x, self._measure_missed()
        if missed <= CLOSE:
            return
        beside = torch.randn(len(nearest), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        size = float(self.start.square().mean().sqrt()) or 1.0
        self.x = nearest + _BESIDE * size * beside
        with suppress(ExperimentError):  # there is no slope beside it either
            self._descend(progress)
        if not self._measure_missed() < missed:
            self.x = nearest

    def _come_near(self) -> None:
        """Take the steps that lead to the goals, whatever their length, until these are reached or none helps."""
        for _ in range(MOST_STEPS):
            missed, _, nearest = self._find_steps()
            moved = self._try(nearest, missed) if self._measure_missed() > CLOSE else None
            if moved is None:
                return
            self.x = moved

    def _find_steps(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return how far the goals are missed [m], and two steps [n] that reach them if the problem is linear.

        The first leads to the smallest change from the start, the second is the smallest from ``x``.
        """
        x = self.x.clone().requires_grad_()
        weights = self._weigh(x)
        missed = self._choose(weights) - self.wanted
        jacobian = torch.stack([torch.autograd.grad(each, x, retain_graph=True)[0] for each in missed])
        if not bool(torch.isfinite(jacobian).all()):
            raise ExperimentError(
                "The weight has no slope here: its row is saturated, or a length is 0; begin with smaller scores."
            )
        self._check_slopes(jacobian, missed.detach())
        pull = self.x - self.start
        solve: Callable[[Tensor], Tensor] = _keep
        if self.hold:
            moved = (weights - self.before)[self.held]
            slopes = _find_jacobian(moved, x)
            pull = pull + _HELD_WEIGHT * slopes.mT @ moved.detach()
            solve = _invert(slopes)
        across = solve(jacobian.mT)
        missed = missed.detach()
        square = jacobian @ across
        square = square + 1e-12 * square.diagonal().mean().clamp_min(1e-300) * torch.eye(len(square)).double()
        back = solve(pull[:, None])
        ends = torch.stack([missed - (jacobian @ back)[:, 0], missed], 1)
        factors = torch.linalg.lstsq(square, ends).solution
        return missed, -back[:, 0] - across @ factors[:, 0], -across @ factors[:, 1]

    def _check_slopes(self, jacobian: Tensor, missed: Tensor) -> None:
        """Refuse to begin at a weight that a normaliser with zeros sets to exactly 0 or 1."""
        if self.steps > 1 or self.e.config.normalizer in (*_SHARES, "sigmoid"):
            return
        for goal, slopes, far in zip(self.goals, jacobian, missed, strict=True):
            now = float(self.before[goal.head, goal.query, goal.key])
            if now in (0, 1) and not bool(slopes.any()) and abs(float(far)) > CLOSE:
                raise ExperimentError(
                    f"“{self.e.tokens[goal.query] or '∅'}” → “{self.e.key_tokens[goal.key] or '∅'}” has a weight of "
                    f"exactly {now:g}, and no small change moves it; bring the scores of its row closer together first."
                )

    def _try(self, step: Tensor, missed: Tensor) -> Tensor | None:
        """Return the numbers after the longest half, quarter, … of a step that helps; None if none does."""
        if not bool(torch.isfinite(step).all()):
            return None
        far, share = float(missed.norm()), 1.0
        while share > 1e-4:
            moved = self.x + share * step
            with torch.no_grad():
                now = float((self._choose(self._weigh(moved)) - self.wanted).norm())
            if now <= max((1 - 0.1 * share) * far, CLOSE):
                return moved
            share /= 2
        return None

    def _weigh(self, x: Tensor) -> Tensor:
        """Return the weights [h, T_q, T_k] for numbers [n]."""
        leaves, first = [], 0
        for name, may in self.places.items():
            count, own = int(may.sum()), table(self.e, name)
            leaves.append((own, own.double().masked_scatter(may, x[first : first + count])))
            first += count
        return LeafTrace(self.e, leaves)["weights"]

    def _choose(self, weights: Tensor) -> Tensor:
        """Return what is sought for each goal [m]: the weight, or its log odds against the rest of its row."""
        found = [weights[goal.head, goal.query, goal.key] for goal in self.goals]
        if self.odds:
            found = [
                each.log() - self._sum_rest(weights, goal).log() for each, goal in zip(found, self.goals, strict=True)
            ]
        return torch.stack(found)

    def _sum_rest(self, weights: Tensor, goal: Goal) -> Tensor:
        """Return 1 minus a weight as the sum of the others, which keeps its digits where the weight is nearly 1."""
        row = weights[goal.head, goal.query]
        others = torch.cat([row[: goal.key], row[goal.key + 1 :]]).sum()
        return others + (1 - row.sum()).clamp_min(0) if self.e.config.option("sink") else others

    def _measure_missed(self) -> float:
        with torch.no_grad():
            wanted = torch.tensor([goal.wanted for goal in self.goals], dtype=torch.float64)
            weights = self._weigh(self.x)
            found = torch.stack([weights[goal.head, goal.query, goal.key] for goal in self.goals])
            return float((found - wanted).abs().max())

    def finish(self) -> Reached:
        """Return the layer with the numbers found, rounded to its own dtype, and what it does."""
        found, changes, first = self.given, {}, 0
        for name, may in self.places.items():
            own, count = table(self.given, name), int(may.sum())
            numbers = own.double().masked_scatter(may, self.x[first : first + count]).to(own.dtype)
            changes[name] = (numbers.double() - own.double()).numpy()
            found = with_table(found, name, numbers)
            first += count
        weights = LeafTrace(found, []).array("weights").astype(np.float64)
        before = self.before.numpy()
        wanted = [weights[goal.head, goal.query, goal.key] - goal.wanted for goal in self.goals]
        length = math.sqrt(sum(float(np.square(change).sum()) for change in changes.values()))
        moved = np.abs(weights - before)[self.others.numpy()]
        return Reached(
            found, before, weights, changes, length, float(np.abs(wanted).max()), float(moved.max(initial=0.0))
        )


def _keep(columns: Tensor) -> Tensor:
    return columns


def _find_jacobian(of: Tensor, x: Tensor) -> Tensor:
    """Return the derivatives [m, n] of numbers [m] with respect to x [n], as [m, n]."""
    units = torch.eye(len(of), dtype=of.dtype)
    return torch.autograd.grad(of, x, units, retain_graph=True, is_grads_batched=True)[0]


def _invert(slopes: Tensor) -> Callable[[Tensor], Tensor]:
    """Return the function that solves (1 + w AᵀA) y = columns for the slopes A [m, n], by the matrix [m, m]."""
    small = torch.eye(len(slopes), dtype=slopes.dtype) / _HELD_WEIGHT + slopes @ slopes.mT
    factor = torch.linalg.cholesky(small)
    return lambda columns: columns - slopes.mT @ torch.cholesky_solve(slopes @ columns, factor)
