"""Records the playground as a step: the shortest state that gives exactly these numbers, and the view."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.attention.axes import labels, size
from attnlab.attention.examples.presets import PRESETS
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.table import BY_NAME
from attnlab.base.errors import AttnlabError
from attnlab.files.atomic import write_text
from attnlab.files.sessions.session_file import save_scene
from attnlab.lessons.lesson import Lesson, Step
from attnlab.ui.lessons.differences import (
    find_config_edits,
    find_layer_edits,
    find_table_edits,
    find_token_edits,
    is_same,
)
from attnlab.ui.lessons.draft import carry_files, get_session_folder

if TYPE_CHECKING:
    from attnlab.document.document import View
    from attnlab.lessons.slides import Slide
    from attnlab.ui.playground.playground import Playground

TITLE = "My lesson"
MOST_EDITS = 12
"""From this number of edits, a saved session is the shorter way to store a state."""
_BEGUN = "preset", "file", "run", "moment", "layer", "probe"


@dataclass(frozen=True, slots=True)
class StepContent:
    """The content of a step: an experiment, the preset it began as, and the view."""

    experiment: Experiment
    preset: str
    stage: str
    head: int | str
    cell: tuple[int, int] | None = None
    depth: str | None = None
    lens: str | None = None

    @staticmethod
    def read_playground(playground: "Playground") -> "StepContent":
        """Return the current content of a playground: of a walk, its current stage and cell."""
        scene, view = playground.document.scene, playground.document.view
        stage = playground.current_stage if view.at is None or view.alone else view.at.stage
        stage = stage if stage in BY_NAME else "weights"
        subject = replace(view, cell=view.cell if view.pinned else None).subject  # not the cell under the mouse
        cell = subject if subject is not None and subject.stage == stage else None
        return StepContent(
            scene.experiment,
            scene.preset,
            stage,
            view.head if cell is None or cell.head is None else cell.head,
            None if cell is None else (cell.row, cell.column),
            _find_depth(view),
            _find_lens(playground),
        )


def _find_depth(view: "View") -> str | None:
    return None if view.at is None or view.at.asked else view.depth


def _find_lens(playground: "Playground") -> str | None:
    place = playground.lenses.place
    return None if place == "canvas" else place


def make_empty_lesson() -> Lesson:
    """Return a new lesson without steps, whose name is unused among the user's files.

    Its path determines the folder of its steps' sessions; the file itself is created on saving.
    """
    from attnlab.lessons.library import find_user_folder

    taken = {path.stem for path in find_user_folder().glob("*.md")} if find_user_folder().is_dir() else set()
    names = (f"my-lesson{f'-{n}' if n > 1 else ''}" for n in range(1, len(taken) + 2))
    name = next(name for name in names if name not in taken)
    return Lesson(name, TITLE, (), path=find_user_folder() / f"{name}.md")


def keep(lesson: Lesson) -> Path:
    """Write a lesson with unsaved changes and its sessions to the user's lessons, under a new name.

    Raises:
        AttnlabError: the lesson or one of its sessions cannot be written.
    """
    from attnlab.lessons.library import find_user_folder
    from attnlab.lessons.write import write

    folder = find_user_folder()
    _make_folder(folder)
    path = folder / f"{lesson.name}-unsaved.md"
    write_text(path, write(replace(lesson, name=path.stem, title=f"{lesson.title} (unsaved)", path=path)))
    carry_files(lesson, path)
    return path


def add_step(lesson: Lesson, shown: StepContent) -> Lesson:
    """Return a lesson with a step added; if edits cannot express its state, a session is written beside the lesson.

    Raises:
        FileError: the session cannot be written.
    """
    step = _make_step(lesson, Step(title=suggest_title(shown)), shown)
    return replace(lesson, steps=(*lesson.steps, step))


def replace_step(lesson: Lesson, index: int, shown: StepContent) -> Lesson:
    """Return a lesson with one step recorded again; the later steps still show the same; raises FileError."""
    steps = list(lesson.steps)
    steps[index] = _make_step(replace(lesson, steps=tuple(steps[:index])), steps[index], shown)
    return _rebuild_steps(lesson, [*range(len(steps))], {index: steps[index]})


def reorder_steps(lesson: Lesson, order: Sequence[int]) -> Lesson:
    """Return a lesson of the steps that ``order`` names, each showing the same as before.

    A step inherits the settings it omits from the step before; after a move it may have to state more of them.
    Raises:
    FileError: a session that one of them now needs cannot be written.
    """
    return _rebuild_steps(lesson, order, {})


def _rebuild_steps(lesson: Lesson, order: Sequence[int], given: dict[int, Step]) -> Lesson:
    from attnlab.lessons.slides import make_slides

    before = make_slides(lesson)
    made = replace(lesson, steps=())
    for index in order:
        step = given.get(index, lesson.steps[index])
        kept = replace(made, steps=(*made.steps, step))
        if index not in given and not _is_same_view(make_slides(kept)[-1], before[index]):
            step = _make_step(made, step, _read_slide(before[index], _find_preset(lesson, index)))
        made = replace(made, steps=(*made.steps, step))
    return made


def _is_same_view(slide: "Slide", other: "Slide") -> bool:
    if (slide.stage, slide.head) != (other.stage, other.head) or (slide.experiment is None) != (
        other.experiment is None
    ):
        return False
    one, two = slide.experiment, other.experiment
    return one is two or (one is not None and two is not None and is_same(one, two))


def _read_slide(slide: "Slide", preset: str) -> StepContent | None:
    if slide.experiment is None:
        return None
    cell = None if slide.cell is None else (slide.cell.row, slide.cell.column)
    return StepContent(slide.experiment, preset, slide.stage, slide.head, cell, slide.step.depth, slide.step.lens)


def _find_preset(lesson: Lesson, index: int) -> str:
    begun = [step for step in lesson.steps[: index + 1] if step.begins_anew]
    return (begun[-1].preset or "") if begun else ""


def _make_step(before: Lesson, step: Step, shown: StepContent | None) -> Step:
    """Return a step that shows the given content after the steps before it, with the shortest state."""
    if shown is None:
        return step
    looked = replace(
        step,
        preset=None,
        file=None,
        run=None,
        moment=None,
        layer=None,
        probe=None,
        curves=None,
        edits=(),
        stage=shown.stage,
        cell=shown.cell,
        depth=shown.depth,
        lens=shown.lens,
        head=shown.head if shown.experiment.n_heads > 1 else None,
    )
    found = [looked] if before.steps else []
    if shown.preset in PRESETS:
        found.append(replace(looked, preset=shown.preset))
    tried = [made for start in found if (made := _make_edited_step(before, start, shown.experiment)) is not None]
    if tried:
        return min(tried, key=lambda made: len(made.edits) + (made.preset is not None))
    return replace(looked, file=_save_session(before, shown))


def _make_edited_step(before: Lesson, start: Step, wanted: Experiment) -> Step | None:
    """Return a step with the edits from its start to the given content; None if edits cannot express it exactly."""
    made, found = start, _compute_result(before, start)
    for difference in (
        find_layer_edits,
        find_token_edits,
        find_config_edits,
        find_table_edits,
    ):  # each starts from the result of those before
        edits = None if found is None else difference(found, wanted)
        if edits is None or len(made.edits) + len(edits) > MOST_EDITS:
            return None
        made = replace(made, edits=(*made.edits, *edits))
        found = _compute_result(before, made) if edits else found
    return made if found is not None and is_same(found, wanted) else None


def _compute_result(before: Lesson, step: Step) -> Experiment | None:
    """Return the experiment of a step; None if its state cannot be made."""
    from attnlab.lessons.slides import make_slides

    try:
        return make_slides(replace(before, steps=(*before.steps, step)))[-1].experiment
    except AttnlabError:
        return None


def _save_session(before: Lesson, shown: StepContent) -> str:
    """Write the experiment to the lesson's folder and return the file name; raises FileError."""
    folder = get_session_folder(before)
    _make_folder(folder)
    names = (f"{before.name}-{n}.attnlab" for n in range(len(before.steps) + 1, 10_000))
    name = next(name for name in names if not (folder / name).exists())
    save_scene(shown.experiment, folder / name, {"title": before.title, "preset": shown.preset})
    return name


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AttnlabError(f"The folder {folder} cannot be created: {error.strerror}.") from None


def suggest_title(shown: StepContent) -> str:
    """Return the default title of a step."""
    e, stage = shown.experiment, BY_NAME[shown.stage]
    if shown.lens is not None:
        return f"{shown.lens.replace('/', ': ').capitalize()} of {stage.noun}"
    if shown.cell is None:
        return stage.title
    rows, columns = (labels(e, axis, size(e, axis)) for axis in stage.axes[-2:])
    row, column = shown.cell
    if shown.stage == "weights":
        return f"How much does “{rows[row]}” look at “{columns[column]}”?"
    if stage.is_map:
        return f"{stage.title}: “{rows[row]}” and “{columns[column]}”"
    return f"{stage.title} of “{rows[row]}”"


def find_stage(lesson: Lesson, index: int) -> str:
    """Return the stage that a step shows: its own, else that of an earlier step since its preset or session."""
    for step in reversed(lesson.steps[: index + 1]):
        if step.stage is not None:
            return step.stage
        if step.preset is not None or step.file is not None or step.run is not None:
            break
    return "weights"


def describe_step(step: Step) -> str:
    """Return a description of a step's state and view."""
    began = [f"{key} {getattr(step, key)}" for key in _BEGUN if getattr(step, key) is not None]
    begun = "  ·  ".join(began) or "from the step before"
    edits = [f"{edit.key}: {_shorten(edit.value)}" for edit in step.edits]
    looked = [f"{name} {getattr(step, name)}" for name in ("head", "depth", "lens") if getattr(step, name) is not None]
    cell = [f"cell [{step.cell[0]}, {step.cell[1]}]"] if step.cell is not None else []
    stage = [f"stage {step.stage}"] if step.stage else []
    return "  ·  ".join([begun, *edits, *stage, *cell, *looked])


def _shorten(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 32 else text[:31] + "…"
