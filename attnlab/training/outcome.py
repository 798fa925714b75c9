"""How a run ended and how well it did, in one sentence."""

import math

from attnlab.base.counted import format_percent
from attnlab.training.messages import Ended
from attnlab.training.run import Run

_WORDS = {"steps": "Done", "stopped": "Stopped"}
"""How a run ended for reasons that are not about its quality."""


def describe_outcome(ended: Ended, run: Run) -> str:
    """Return how a run ended with its last evaluation: "Done: 98.7 % of the held-out tokens are right."

    Only an earlier step is named: that of the end stands elsewhere, and the sentence is to be short. Without an
    evaluation, and for reasons that are about the quality already, it is the run's own sentence.
    """
    if ended.reason not in _WORDS or not run.metrics:
        return ended.sentence
    last = run.metrics[-1]
    is_now = last.step == ended.step
    if math.isnan(last.right):  # the task is about numbers, not tokens
        found = f"the held-out loss {'is' if is_now else 'was'} {last.loss:.3g}"
    else:
        right = last.right if last.right == 1 else min(last.right, 0.999)  # only when none is wrong is it 100 %
        found = f"{format_percent(right)} of the held-out tokens {'are' if is_now else 'were'} right"
    when = "" if is_now else f" at step {last.step:,}"
    return f"{_WORDS[ended.reason]}: {found}{when}."
