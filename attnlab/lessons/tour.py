"""A tour of whatever is open: a lesson made on the spot, one step for each stage."""

from typing import TYPE_CHECKING

from attnlab.attention.stages import walk
from attnlab.attention.stages.table import about
from attnlab.lessons.lesson import Lesson, Step

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

NAME = "tour"


def tour(e: "Experiment", depth: str = "stage") -> Lesson:
    """Return a lesson of an experiment's stages in order; its steps begin no state, so what is edited meanwhile stays.

    ``depth`` is how its stages are shown, as that of a step.
    """
    steps = tuple(
        Step(stage.title, about(stage, e), stage=stage.name, depth=depth, head="all" if e.n_heads > 1 else 0)
        for stage in walk.stages_of(e)
    )
    words = " ".join(e.tokens[:6]) + (" …" if len(e.tokens) > 6 else "")
    return Lesson(NAME, "The whole computation", steps, f"Stage by stage through what is open: {words}.")
