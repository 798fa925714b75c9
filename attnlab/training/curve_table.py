"""The curves of a run as CSV: one row for each step that has a loss of its batch or was evaluated."""

import csv
import io
from itertools import chain

from attnlab.training.results import write_number
from attnlab.training.run import Run

COLUMNS = ("step", "rate", "training loss", "held-out loss", "held-out tokens right", "held-out examples right")
"""The columns before those of the gradient of each layer."""


def encode_curves(run: Run) -> str:
    """Return the curves of a run as CSV: shares from 0 to 1, all digits, and an empty field where nothing was measured.

    After the columns of :data:`COLUMNS` each layer has one, the norm of its gradient in the step before an evaluation.
    """
    losses = dict(zip(run.steps.tolist(), zip(run.rates.tolist(), run.losses.tolist(), strict=True), strict=True))
    metrics = {metric.step: metric for metric in run.metrics}
    layers = list(dict.fromkeys(name for metric in run.metrics for name, _ in metric.gradients))
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow([*COLUMNS, *(f"gradient of {layer}" for layer in layers)])
    for step in sorted(set(chain(losses, metrics))):
        row: list[float | None] = [*losses.get(step, (None, None))]
        metric = metrics.get(step)
        norms = dict(metric.gradients) if metric is not None else {}
        row += [None] * 3 if metric is None else [metric.loss, metric.right, metric.exact]
        row += [norms.get(layer) for layer in layers]
        writer.writerow([step, *("" if value is None else write_number(value) for value in row)])
    return written.getvalue()
