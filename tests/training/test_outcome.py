"""How a run ended: the sentence says how well it did at its last evaluation."""

import math
import re

import pytest

from attnlab.training.messages import Ended, Metric, Progress
from attnlab.training.outcome import describe_outcome
from attnlab.training.run import Run
from tests.training.runs import tiny

DONE = Ended(12, "steps", "Done: all 12 steps taken.")
STOPPED = Ended(12, "stopped", "Stopped at step 12.")


@pytest.mark.parametrize(
    ("ended", "metric", "told"),
    [
        (DONE, Metric(12, 0.5, 0.987, 0.5), r"Done: 98\.7\s% of the held-out tokens are right\."),
        (DONE, Metric(12, 0.5, 0.9999, 0.5), r"Done: 99\.9\s% of the held-out tokens are right\."),
        (DONE, Metric(12, 0.5, 1.0, 1.0), r"Done: 100\.0\s% of the held-out tokens are right\."),
        (DONE, Metric(12, 0.01234, math.nan, math.nan), r"Done: the held-out loss is 0\.0123\."),
        (
            STOPPED,
            Metric(10, 0.5, 0.25, 0.5),
            r"Stopped: 25\.0\s% of the held-out tokens were right at step 10\.",
        ),
        (STOPPED, Metric(10, 2.0, math.nan, math.nan), r"Stopped: the held-out loss was 2 at step 10\."),
    ],
)
def test_the_end_of_a_run_says_how_well_it_did(ended: Ended, metric: Metric, told: str) -> None:
    run = Run(tiny(), "run")
    run.take(Progress(12, 1.0, (), (metric,)))
    run.take(ended)
    assert re.fullmatch(told, describe_outcome(ended, run))


def test_a_sentence_that_says_so_already_is_left_alone() -> None:
    run = Run(tiny(), "run")
    assert describe_outcome(DONE, run) == DONE.sentence  # nothing was measured
    run.take(Progress(12, 1.0, (), (Metric(12, 0.5, 0.5, 0.5),)))
    for reason in ("right", "loss", "nan"):
        ended = Ended(12, reason, "Done at step 12: the held-out loss is 0.5.")
        assert describe_outcome(ended, run) == ended.sentence
