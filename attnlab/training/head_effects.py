"""Which head matters: the loss and the share of right tokens on held-out examples, with each head off in turn."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING

from attnlab.base.counted import format_percent
from attnlab.training.batch import Batch
from attnlab.training.heads_off import Place
from attnlab.training.messages import Arrays, Metric
from attnlab.training.metrics import compute_metric

if TYPE_CHECKING:
    from attnlab.training.look import Viewer

MOST_EXAMPLES = 128
"""How many held-out examples are read with each head off."""


@dataclass(frozen=True, slots=True)
class HeadEffects:
    """The metric of ``n`` held-out examples after ``step`` steps, and that without each head, by (layer, head).

    The heads that are ``missing`` are still to be measured.
    """

    step: int
    n: int
    whole: Metric
    without: dict[Place, Metric]
    missing: tuple[Place, ...] = ()

    def describe(self, layer: str, head: int, step: int) -> str:
        """Return what a head is worth, in words, for somebody who looks at ``step``; "" for an unknown head."""
        found = self.without.get((layer, head))
        if found is None:
            return ""
        at = "" if step == self.step else f"At step {self.step:,}: "
        if isnan(found.right):  # the task asks for numbers
            return f"{at}held-out loss {self.whole.loss:.3g}, without this head {found.loss:.3g}"
        right, without = (format_percent(each.right) for each in (self.whole, found))
        return f"{at}{right} right, without this head {without}"


@contextmanager
def switch_off(viewer: "Viewer", off: Iterable[Place]) -> Iterator[None]:
    """Set the context of heads, as (layer, head), to 0 while the ``with`` block runs; unknown ones are ignored."""
    heads: dict[str, tuple[int, ...]] = {}
    for layer, head in sorted(off):
        if layer in viewer.model.layers and head < viewer.model.layers[layer].config.n_heads:
            heads[layer] = (*heads.get(layer, ()), head)
    with ExitStack() as stack:
        for layer, places in heads.items():
            stack.enter_context(viewer.model.layers[layer].heads_off(places))
        yield


def measure_heads(viewer: "Viewer", weights: Arrays, step: int) -> HeadEffects:
    """Return what each head is worth to a model: its context is set to 0, and nothing learns to do without it.

    Raises:
        TrainingError: the weights do not fit.
    """
    found = measure_next_head(viewer, weights, step)
    while found.missing:
        found = measure_next_head(viewer, weights, step, found)
    return found


def measure_next_head(viewer: "Viewer", weights: Arrays, step: int, begun: HeadEffects | None = None) -> HeadEffects:
    """Return what is ``begun`` with one more head measured; without it, the metric of the model with all heads on.

    Raises:
        TrainingError: the weights do not fit.
    """
    viewer.load(weights)
    held_out, n = viewer.data.held_out, min(MOST_EXAMPLES, len(viewer.data.held_out.inputs))
    source = None if held_out.source is None else held_out.source[:n]
    examples = Batch(held_out.inputs[:n], held_out.targets[:n], source)
    waiting = begun.missing if begun is not None else ()
    off = waiting[:1]
    with switch_off(viewer, off):
        metric = compute_metric(viewer.model, examples, viewer.data.held_out_lengths[:n], step)
    if begun is not None:
        return replace(begun, without=begun.without | dict.fromkeys(off, metric), missing=waiting[1:])
    layers = viewer.model.layers.items()
    heads = tuple((name, head) for name, layer in layers for head in range(layer.config.n_heads))
    return HeadEffects(step, n, metric, {}, heads)
