"""The baseline notebook: the same computation, then a labelled grid of weight maps in a new or an existing figure."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnlab.attention.experiment import Experiment
from attnlab.base.errors import AttnlabError
from attnlab.compute.engine import compute

COLUMNS = 4
SIZE_INCHES, DPI = (12.0, 6.0), 100
MOST_LABELS = 32
"""The most labels along one axis; with more tokens only every second, third … is labelled."""


def require_matplotlib() -> None:
    """Refuse in one sentence if matplotlib is missing.

    Raises:
        AttnlabError: matplotlib is missing; the message says how to install it.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise AttnlabError(
            "bench live draws its baseline with matplotlib, which is not installed; pip install attnlab[bench] does it."
        ) from None


class Notebook:
    """Computes an experiment and draws the weights of every head as an image with tokens along both axes."""

    def __init__(self) -> None:
        require_matplotlib()
        self._figure: Any = None
        self._images: list[Any] = []

    def draw_new(self, experiment: Experiment) -> None:
        """Compute, and draw a new figure, like running a notebook cell again."""
        self._make(experiment, _compute_weights(experiment))
        self._figure.canvas.draw()

    def draw_kept(self, experiment: Experiment) -> None:
        """Compute, put the numbers into the existing figure and redraw it: the fastest a notebook can be."""
        weights = _compute_weights(experiment)
        if len(self._images) != len(weights):
            self._make(experiment, weights)
        for image, numbers in zip(self._images, weights, strict=True):
            image.set_data(numbers)
        self._figure.canvas.draw()

    def draw_resized(self, share: float) -> None:
        """Redraw the existing figure in another size, a share of the usual one."""
        self._figure.set_size_inches(SIZE_INCHES[0] * share, SIZE_INCHES[1] * share)
        self._figure.canvas.draw()

    def _make(self, experiment: Experiment, weights: NDArray[np.floating]) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self._figure = Figure(SIZE_INCHES, DPI, layout=None)
        FigureCanvasAgg(self._figure)
        axes = self._figure.subplots(-(-len(weights) // COLUMNS), min(COLUMNS, len(weights)), squeeze=False).flat
        self._images = [axis.imshow(numbers, vmin=0, vmax=1) for axis, numbers in zip(axes, weights, strict=False)]
        for head, axis in zip(range(len(weights)), axes.base.flat, strict=False):
            axis.set_title(f"head {head}")
            _label(axis, experiment)


def _label(axis: Any, experiment: Experiment) -> None:
    for tokens, side, turned in ((experiment.key_tokens, axis.set_xticks, 90), (experiment.tokens, axis.set_yticks, 0)):
        places = range(0, len(tokens), -(-len(tokens) // MOST_LABELS))
        side(list(places), [tokens[i] for i in places], rotation=turned)


def _compute_weights(experiment: Experiment) -> NDArray[np.floating]:
    trace = compute(experiment)
    for name in trace.stages:
        trace[name]
    return trace.array("weights")
