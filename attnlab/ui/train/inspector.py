"""Computes a run's maps and texts at a moment, from its settings and weights: used by the worker, without widgets."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnlab.base.errors import TrainingError
from attnlab.training.marks import Mark
from attnlab.training.messages import Arrays
from attnlab.training.recorder import Moment
from attnlab.training.specs import HeadsBefore, RunSpec, find_spec_at

if TYPE_CHECKING:
    from attnlab.training.head_effects import HeadEffects
    from attnlab.training.look import LayerMaps, Look, Viewer, Written
    from attnlab.training.model_view import Inside
    from attnlab.training.stream_view import Stream
    from attnlab.training.task_patterns import Pattern

MOST_LOOKS = 40
"""The number of moments in which the search for marks looks for patterns."""


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """The check of settings: the problem, "" if none; else the sizes of the model and its data."""

    spec: RunSpec
    problem: str
    parameters: int = 0
    trainable: int = 0
    probe: str = ""
    writes_on: bool = False
    numbers: bool = False
    tokens: int = 0
    """The size of the vocabulary, 0 without tokens."""
    unknown_share: float = 0.0
    """The share of the text's tokens that are read as UNK."""
    baselines: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A moment for a probe: its maps, the measures of each head, see :func:`collect_measures`, the patterns of its task
    and the short names of its heads, and gradients if requested; the ``note`` says why there are none."""

    spec: RunSpec
    probe: str
    look: "Look"
    measures: NDArray[np.float64]
    patterns: "tuple[Pattern, ...]"
    heads: tuple[str, ...]
    gradients: "tuple[LayerMaps, ...]" = ()
    note: str = ""
    inside: "Inside | None" = None
    """What the diagram of the model shows, if it was requested."""
    stream: "Stream | None" = None
    """The residual stream, if it was requested."""


class Inspector:
    """Caches the model and data of the last settings; belongs to one thread."""

    def __init__(self) -> None:
        self._viewer: tuple[RunSpec, Viewer] | None = None
        self._first: tuple[RunSpec, Arrays] | None = None
        self._left = False
        self.off: frozenset[tuple[str, int]] = frozenset()
        """Heads, as (layer, head), without which the views of one moment are computed; set by the window."""

    def leave(self) -> None:
        """Stop a loop over many moments after the current one. May be called by any thread."""
        self._left = True

    @staticmethod
    def prepare() -> None:
        """Set torch to one thread: more would repeatedly wait for the training process."""
        import torch

        torch.set_num_threads(1)

    def check(self, spec: RunSpec) -> Checked:
        """Return the problem of settings, or their sizes."""
        from attnlab.training import models, tasks

        problem = tasks.check(spec)
        if problem:
            return Checked(spec, problem)
        data = tasks.make_data(spec)
        total, trainable = models.count_parameters(spec.model, data)
        writes_on = bool(data.vocabulary) and data.causal and not data.longest_source
        return Checked(
            spec,
            "",
            total,
            trainable,
            data.probe_text,
            writes_on,
            not data.vocabulary,
            len(data.vocabulary),
            data.unknown_share,
            data.baselines,
        )

    def look(
        self,
        spec: RunSpec,
        step: int,
        weights: Arrays | None,
        probe: str,
        gradients: bool = False,
        inside: bool = False,
        stream: bool = False,
    ) -> Seen:
        """Return the maps at a step; without weights at the first ones, which the seed determines.

        With ``inside`` also what the diagram of the model shows, with ``stream`` the residual stream.
        """
        from attnlab.training.task_patterns import list_patterns, name_heads

        viewer, weights = self._find_viewer(spec), weights if weights is not None else self.make_first_weights(spec)
        with self._without_heads(viewer):
            look = viewer.look(step, weights, probe)
            drawn = viewer.look_inside(weights, probe) if inside else None
            flow = viewer.read_stream(weights, probe) if stream else None
            slopes, note = _compute_gradients(viewer, weights, probe) if gradients else ((), "")
        patterns, heads = list_patterns(spec.task, look), name_heads(look.maps)
        return Seen(spec, probe, look, collect_measures(spec.task, look), patterns, heads, slopes, note, drawn, flow)

    def measure_next_head(
        self, spec: RunSpec, step: int, weights: Arrays | None, begun: "HeadEffects | None"
    ) -> "HeadEffects":
        """Return what the heads are worth on held-out examples, with one more than in what is ``begun``."""
        from attnlab.training.head_effects import measure_next_head

        weights = weights if weights is not None else self.make_first_weights(spec)
        return measure_next_head(self._find_viewer(spec), weights, step, begun)

    def predict_examples(self, spec: RunSpec, weights: Arrays | None, n: int) -> "tuple[Written, ...]":
        """Return the model's predictions for some held-out examples."""
        viewer = self._find_viewer(spec)
        with self._without_heads(viewer):
            return viewer.write_examples(weights if weights is not None else self.make_first_weights(spec), n)

    def generate_text(
        self, spec: RunSpec, weights: Arrays | None, prompt: str, n: int, heat: tuple[float, int, int]
    ) -> str:
        """Return the model's continuation of a prompt; ``heat`` is temperature, top-k and seed."""
        viewer = self._find_viewer(spec)
        n = min(n, 2 * viewer.data.longest)
        weights = weights if weights is not None else self.make_first_weights(spec)
        with self._without_heads(viewer):
            return viewer.write_text(weights, prompt, n, *heat)

    def compute_course(
        self, spec: RunSpec, moments: Sequence[Moment], probe: str, before: HeadsBefore = ()
    ) -> dict[int, NDArray[np.float64]]:
        """Return the measures of each head at some moments, by step; see :func:`collect_measures`."""
        return {m.step: collect_measures(spec.task, look) for m, look in self._look_at(spec, moments, probe, before)}

    def _look_at(
        self, spec: RunSpec, moments: Sequence[Moment], probe: str, before: HeadsBefore
    ) -> "Iterator[tuple[Moment, Look]]":
        """Yield the moments with their looks, each with the heads off that were off then, until somebody leaves."""
        for moment in moments:
            if self._left:
                return
            viewer = self._find_viewer(find_spec_at(spec, before, moment.step))
            yield moment, viewer.look(moment.step, moment.weights, probe, write=False)

    def suggest_marks(
        self, spec: RunSpec, moments: Sequence[Moment], probe: str, curve: "Curve", before: HeadsBefore = ()
    ) -> tuple[Mark, ...]:
        """Return the suggested marks."""
        from attnlab.training.marks import find_loss_drops, find_pattern_rises
        from attnlab.training.task_patterns import list_patterns, measure_patterns, name_heads

        looks = [look for _, look in self._look_at(spec, choose_evenly(moments, MOST_LOOKS), probe, before)]
        drops = find_loss_drops(*curve)
        if not looks:
            return drops
        scores = np.array([measure_patterns(spec.task, look) for look in looks])
        patterns, heads = [pattern.name for pattern in list_patterns(spec.task, looks[-1])], name_heads(looks[-1].maps)
        return (*drops, *find_pattern_rises([look.step for look in looks], scores, patterns, heads))

    def make_first_weights(self, spec: RunSpec) -> Arrays:
        """Return the initial weights of a run."""
        from attnlab.training.first_weights import draw_first_weights

        if self._first is None or self._first[0] != spec:
            self._first = spec, draw_first_weights(spec)
        return self._first[1]

    def _without_heads(self, viewer: "Viewer") -> AbstractContextManager[None]:
        from attnlab.training.head_effects import switch_off

        return switch_off(viewer, self.off)

    def _find_viewer(self, spec: RunSpec) -> "Viewer":
        from attnlab.training.look import Viewer

        if self._viewer is None or self._viewer[0] != spec:
            data = None
            if self._viewer is not None and _is_same_run(self._viewer[0], spec):
                data = self._viewer[1].data
            self._viewer = spec, Viewer(spec, data)
        return self._viewer[1]


def _is_same_run(one: RunSpec, other: RunSpec) -> bool:
    """Return whether settings differ at most in the heads that are off."""
    return replace(one, train=replace(one.train, heads_off=other.train.heads_off)) == other


def _compute_gradients(viewer: "Viewer", weights: Arrays, probe: str) -> "tuple[tuple[LayerMaps, ...], str]":
    """Return the gradients, or none and the reason: the maps can be shown without them."""
    try:
        return viewer.compute_gradients(weights, probe), ""
    except TrainingError as error:
        return (), str(error)


Curve = tuple[NDArray[np.int64], NDArray[np.float64]]


def compute_entropies(maps: "Sequence[LayerMaps]") -> NDArray[np.float64]:
    """Return the mean entropy of each head's rows, in nats, layer by layer."""
    from attnlab.attention.measures.statistics import weights_statistics

    return np.concatenate(
        [
            weights_statistics(each.weights, None if each.hidden is None else ~each.hidden).mean("entropy")
            for each in maps
        ]
        or [np.zeros(0)]
    )


def collect_measures(task: str, look: "Look") -> NDArray[np.float64]:
    """Return the measures of each head of all layers [1 + patterns, heads]: its entropy, see
    :func:`compute_entropies`, and its score for each pattern of the task, NaN where it has none.
    """
    from attnlab.training.task_patterns import measure_patterns

    return np.vstack([compute_entropies(look.maps), measure_patterns(task, look)])


def choose_evenly(moments: Sequence[Moment], most: int) -> list[Moment]:
    """Return at most this many moments, evenly spaced, with the first and the last."""
    if len(moments) <= most:
        return list(moments)
    return [moments[i] for i in np.linspace(0, len(moments) - 1, most).round().astype(int).tolist()]
