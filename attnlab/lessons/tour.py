"""A tour of the open experiment: a generated lesson with one step for each stage."""

from typing import TYPE_CHECKING

from attnlab.attention.stages import walk
from attnlab.attention.stages.remarks import find_stage_remarks
from attnlab.attention.stages.table import Stage, about
from attnlab.lessons.lesson import Lesson, Step

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

NAME = "tour"


def make_tour(e: "Experiment", depth: str = "stage") -> Lesson:
    """Return a lesson on an experiment's stages in order. Its steps have no states, so edits in the meantime stay.

    ``depth`` is the depth of its steps.
    """
    head: int | str = "all" if e.n_heads > 1 else 0
    steps = tuple(
        Step(stage.title, _describe(stage, e), stage=stage.name, depth=depth, head=head) for stage in walk.stages_of(e)
    )
    words = " ".join(e.tokens[:6]) + (" …" if len(e.tokens) > 6 else "")
    return Lesson(NAME, "The whole computation", steps, f"The open experiment, stage by stage: {words}.")


def _describe(stage: Stage, e: "Experiment") -> str:
    return " ".join((about(stage, e), *find_stage_remarks(e, stage.name)))
