"""Conversion of curves, moments and checkpoints to the arrays of a run's files and back, with checks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnlab.base.printable import escape
from attnlab.training.messages import Arrays, Checkpoint, Metric
from attnlab.training.recorder import MOST as MOST_MOMENTS
from attnlab.training.recorder import Moment
from attnlab.training.run import Curve, RunState
from attnlab.training.spec_json import MOST
from attnlab.training.tensors import pack, pack_pieces

GRADIENTS, MOST_LAYERS = "gradients/", 64
"""The prefix of the names of the norms of gradients, and the most of them."""


def pack_curve(state: RunState) -> bytearray:
    lengths = [(at, *pair) for at, metric in enumerate(state.metrics) for pair in metric.by_length]
    values = [(metric.step, metric.loss, metric.right, metric.exact) for metric in state.metrics]
    return pack(
        {
            "steps": state.curve.steps,
            "losses": state.curve.losses,
            "rates": state.curve.rates,
            "metrics": np.array(values, np.float64).reshape(-1, 4),
            "by_length": np.array(lengths, np.float64).reshape(-1, 3),
            **_pack_gradients(state.metrics),
        }
    )


def _pack_gradients(metrics: Sequence[Metric]) -> dict[str, NDArray[np.float64]]:
    """Return the norms of each layer's gradient [metrics] by "gradients/LAYER", NaN where a metric has none."""
    found = [dict(metric.gradients) for metric in metrics]
    names = dict.fromkeys(name for norms in found for name in norms)
    return {f"{GRADIENTS}{name}": np.array([norms.get(name, np.nan) for norms in found]) for name in names}


def _read_gradients(arrays: Arrays, n: int) -> list[tuple[tuple[str, float], ...]]:
    """Return the norms of each metric; files of older versions have none."""
    names = [name for name in arrays if name.startswith(GRADIENTS)]
    norms = {escape(name.removeprefix(GRADIENTS)): _take(arrays, name, np.float64, 1) for name in names}
    if len(norms) > MOST_LAYERS or any(len(array) != n for array in norms.values()):
        raise ValueError("the numbers of its gradients disagree")
    if any(not (np.isnan(array) | (np.isfinite(array) & (array >= 0))).all() for array in norms.values()):
        raise ValueError("the norms of its gradients need to be finite numbers of 0 or more")
    return [
        tuple((name, float(array[at])) for name, array in norms.items() if not np.isnan(array[at])) for at in range(n)
    ]


def read_curve(arrays: Arrays) -> tuple[Curve, tuple[Metric, ...]]:
    steps = _take(arrays, "steps", np.int64, 1)
    losses, rates = (_take(arrays, name, np.float64, 1) for name in ("losses", "rates"))
    metrics, lengths = _take(arrays, "metrics", np.float64, 2), _take(arrays, "by_length", np.float64, 2)
    if not len(steps) == len(losses) == len(rates) or metrics.shape[1] != 4 or lengths.shape[1] != 3:
        raise ValueError("the lengths of its arrays disagree")
    _check_steps(steps)
    _check_steps(metrics[:, 0])
    _check_finite("its numbers", losses, rates, metrics[:, 1], lengths)
    _check_whole(metrics[:, 0], lengths[:, 0], lengths[:, 1])
    _check_shares(metrics, lengths)
    by_length: dict[int, list[tuple[int, float]]] = {}
    for at, length, share in lengths.tolist():
        by_length.setdefault(int(at), []).append((int(length), share))
    gradients = _read_gradients(arrays, len(metrics))
    found = (
        Metric(int(step), loss, right, exact, tuple(by_length.get(at, ())), gradients[at])
        for at, (step, loss, right, exact) in enumerate(metrics.tolist())
    )
    return Curve(steps.copy(), losses.copy(), rates.copy()), tuple(found)


def pack_moments(moments: tuple[Moment, ...]) -> bytearray:
    """Return moments as a file, without a second copy of them; all have weights of the same names and shapes."""
    steps, losses = np.array([m.step for m in moments], np.int64), np.array([m.loss for m in moments], np.float64)
    pieces: dict[str, Any] = {
        "steps": (steps.shape, steps.dtype, (steps,)),
        "losses": (losses.shape, losses.dtype, (losses,)),
    }
    for name, array in moments[0].weights.items():
        parts = [moment.weights[name] for moment in moments]
        pieces[f"weights/{name}"] = ((len(moments), *array.shape), np.dtype(np.float32), parts)
    return pack_pieces(pieces)


def read_moments(arrays: Arrays, metrics: dict[int, Metric]) -> tuple[Moment, ...]:
    if not arrays:
        return ()
    steps, losses = _take(arrays, "steps", np.int64, 1), _take(arrays, "losses", np.float64, 1)
    weights = {name.removeprefix("weights/"): array for name, array in arrays.items() if name.startswith("weights/")}
    if len(losses) != len(steps) or any(array.shape[:1] != steps.shape for array in weights.values()):
        raise ValueError("the numbers of its moments disagree")
    if any(array.dtype != np.float32 for array in weights.values()):
        raise ValueError("its weights need to be float32")
    if len(steps) > MOST_MOMENTS:
        raise ValueError(f"it has {len(steps):,} moments, of at most {MOST_MOMENTS:,}")
    _check_steps(steps)
    _check_finite("its weights", *weights.values())
    return tuple(
        Moment(step, {name: array[at].copy() for name, array in weights.items()}, losses[at].item(), metrics.get(step))
        for at, step in enumerate(steps.tolist())
    )


def pack_checkpoint(checkpoint: Checkpoint) -> bytearray:
    own = {"step": np.array(checkpoint.step, np.int64), "seconds": np.array(checkpoint.seconds, np.float64)}
    return pack({**own, **{f"state/{name}": array for name, array in checkpoint.state.items()}})


def read_checkpoint(arrays: Arrays) -> Checkpoint:
    step, seconds = _take(arrays, "step", np.int64, 0), _take(arrays, "seconds", np.float64, 0)
    state = {name.removeprefix("state/"): array.copy() for name, array in arrays.items() if name.startswith("state/")}
    _check_steps(step.reshape(1))
    if seconds < 0:
        raise ValueError("its seconds need to be 0 or more")
    _check_finite("its numbers", seconds, *(array for array in state.values() if array.dtype.kind == "f"))
    return Checkpoint(step.item(), seconds.item(), state)


def _take(arrays: Arrays, name: str, dtype: type[np.generic], axes: int) -> NDArray[Any]:
    array = arrays.get(name)
    if array is None or array.dtype != dtype or array.ndim != axes:
        raise ValueError(f"its {name} are missing or of the wrong kind")
    return array


def _check_steps(steps: NDArray[Any]) -> None:
    if len(steps) and not (steps.min() >= 0 and steps.max() <= MOST and (np.diff(steps) > 0).all()):
        raise ValueError("its steps need to grow from 0")


def _check_whole(*numbers: NDArray[Any]) -> None:
    """Check counts that are stored as floats; fractions would make two steps equal when the run is saved again."""
    if not all((np.trunc(array) == array).all() for array in numbers):
        raise ValueError("its steps and lengths need to be whole numbers")


def _check_finite(what: str, *arrays: NDArray[Any]) -> None:
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError(f"{what} need to be finite")


def _check_shares(metrics: NDArray[Any], lengths: NDArray[Any]) -> None:
    shares = np.concatenate([metrics[:, 2:].ravel(), lengths[:, 2]])
    if not (((shares >= 0) & (shares <= 1)) | np.isnan(shares)).all():
        raise ValueError("its shares of what is right need to be from 0 to 1")
    if len(lengths) and not (lengths.min() >= 0 and lengths[:, 0].max() < len(metrics) and lengths[:, 1].max() <= MOST):
        raise ValueError("its shares by length need to be those of its metrics")
