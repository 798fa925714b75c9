"""Every background job may fail: the place that started it shows the error, and the program continues.

The places are found in the source. Each has a case here in which the job raises an unexpected error.
"""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.base import fault_log
from attnlab.lessons.lesson import Lesson
from attnlab.lessons.library import find
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.workspaces.lessons import LESSONS
from tests.ui import (  # noqa: F401  # their cases
    failing_jobs_of_models,
    failing_jobs_of_playground,
    failing_jobs_of_train,
    failing_jobs_of_view,
)
from tests.ui.conftest import Person
from tests.ui.failing_jobs import CASES, GROUPS, Case, FaultyProgram, case
from tests.ui.forms import type_into

UI = Path(attnlab.__file__).parent / "ui"
ROAD = {"run", "draw", "start", "Call", "ask", "_do", "_start"}
"""Functions that start a job: ``jobs.run``, ``slices.draw``, a Call of a drawing, and their wrappers."""
PASSED_ON = {
    "base/slices.py Call.__init__",
    "base/slices.py Slices.start",
    "base/jobs.py run",
    "playground/playground.py Playground.run_for_lens",
    "predict/exercise_dialog.py ExerciseDialog._start",
    "train/run_files.py RunFiles._do",
    "train/model_worker.py ModelWorker.ask",
    "weights/weights_dialog.py WeightsDialog.show_files",
}
"""Wrappers that pass on a job; their callers are the cases."""


# Weights


@case("weights/weights_dialog.py WeightsDialog._start", "reading weights")
def read_weights(program: FaultyProgram) -> None:
    from attnlab.ui.weights.weights_dialog import open_weights_dialog

    person = program.person()
    program.plant("attnlab.ui.weights.weights_dialog.text_source")
    dialog = open_weights_dialog(person.playground, person.window, text="1 2\n3 4")
    assert dialog is not None
    with program.qtbot.waitSignal(dialog.read):
        pass
    assert "Something went wrong" in dialog.waiting.text()
    dialog.reject()


@case("weights/weights_dialog.py WeightsDialog._on_soon", "trying the weights")
def try_weights(program: FaultyProgram) -> None:
    from attnlab.ui.weights.weights_dialog import open_weights_dialog

    person = program.person()
    program.plant("attnlab.ui.weights.weights_dialog.run_trial")
    dialog = open_weights_dialog(person.playground, person.window, text="1 2\n3 4\n5 6")
    assert dialog is not None
    with program.qtbot.waitSignal(dialog.previewed):
        pass
    assert "Something went wrong" in dialog.message.text()
    dialog.reject()


# Figures and films


@case("export/figure_preview.py FigurePreview._draw", "drawing the figure")
def figure(program: FaultyProgram) -> None:
    person = program.person()
    program.plant("attnlab.ui.export.figure_preview.draw_steps")
    person.playground.files.ask_export()


def sweep(target: str, *, before: bool = False) -> Case:
    def film(program: FaultyProgram) -> None:
        from attnlab.ui.export.sweep_dialog import SweepDialog

        person = program.person()
        if before:
            program.plant(target)
        assert person.window.actions_list.run("film")
        dialog = person.window.findChild(SweepDialog)
        assert dialog is not None
        with program.qtbot.waitSignal(dialog.previewed):
            type_into(dialog.form, "frames", "4")
        if not before:
            program.plant(target)
            with program.qtbot.waitSignal(dialog.saver.slices.finished):
                dialog.write_film(program.folder / "film.gif")
            assert not dialog.saver.working
            assert not (program.folder / "film.gif").exists()
        assert "Something went wrong" in dialog.saver.message.text()

    return film


FILMING = "attnlab.ui.export.filming"
case("export/film_window.py FilmWindow._look", "drawing the film")(sweep(f"{FILMING}.Scenario.draw_image", before=True))
case("export/film_window.py FilmWindow._draw_frame: scenario.compute_trace", "drawing the film")(
    sweep(f"{FILMING}.Scenario.compute_trace", before=True)
)
case("export/filming.py survey_frames: scenario.compute_trace", "drawing the film")(
    sweep(f"{FILMING}.Survey.add", before=True)
)
case("export/film_saver.py FilmSaver.write", "writing the film")(sweep(f"{FILMING}.Scenario.draw_image"))
case("export/filming.py Filming._draw_film: scenario.compute_trace", "writing the film")(
    sweep(f"{FILMING}.Scenario.compute_trace")
)
case("export/filming.py Filming._draw_film: encode", "writing the film")(sweep(f"{FILMING}.encode"))
case("export/filming.py Filming.run_steps: write_bytes", "writing the film")(sweep(f"{FILMING}.write_bytes"))


# Exercises, lessons, presenting


def exercise(target: str, act: Callable[[object, Path], None]) -> Case:
    def make(program: FaultyProgram) -> None:
        from attnlab.ui.predict.exercise_dialog import ExerciseDialog

        person = program.person()
        dialog = ExerciseDialog(person.playground, person.window)
        program.qtbot.addWidget(dialog)
        with program.qtbot.waitSignal(dialog.previewed):
            dialog.show()
        program.plant(target)
        with program.qtbot.waitSignal(dialog.slices.finished):
            act(dialog, program.folder)
        assert "Something went wrong" in dialog.message.text()
        assert dialog.handout_button.isEnabled()

    return make


def answer_file(folder: Path) -> Path:
    (folder / "answers.csv").write_text('student,cell,value\nAda,"weights[0, 2, 1]",0.5\n', encoding="utf-8")
    return folder / "answers.csv"


case("predict/exercise_dialog.py ExerciseDialog.write_pdf", "printing the sheets")(
    exercise("attnlab.figures.handout.HandoutWriter.add", lambda dialog, at: dialog.write_pdf(at / "a.pdf", False))  # type: ignore[attr-defined]
)
case("predict/exercise_dialog.py ExerciseDialog.grade_file", "grading the answers")(
    exercise("attnlab.lessons.grading.grade", lambda dialog, at: dialog.grade_file(answer_file(at)))  # type: ignore[attr-defined]
)


@case("lessons/lesson_pages.py LessonPages.check", "computing the steps of the lesson")
def check_lesson(program: FaultyProgram) -> None:
    person = program.person()
    person.window.show_workspace("lessons")
    lessons = person.window.workspace(LESSONS)
    assert lessons is not None
    lessons.workspace._show(find("causal-masks"))
    program.plant("attnlab.lessons.slides.check")
    lessons.workspace.check()
    person.wait_for(lambda: "Something went wrong" in lessons.workspace.message)


def printing(target: str) -> Case:
    def print_lesson(program: FaultyProgram) -> None:
        from attnlab.ui.lessons.printing import Printing

        person = program.person()
        person.window.show_workspace("lessons")
        lessons = person.window.workspace(LESSONS)
        assert lessons is not None
        program.plant(target)
        Printing(lessons, find("causal-masks"), program.folder / "a.pdf")
        person.wait_for(lambda: "Something went wrong" in lessons.workspace.message)
        assert not (program.folder / "a.pdf").exists()

    return print_lesson


case("lessons/printing.py Printing.__init__", "printing the lesson")(printing("attnlab.ui.present.pdf._compute_pages"))
case("lessons/printing.py Printing._print", "printing the lesson")(printing("attnlab.ui.present.pdf._draw_page"))


@case("lessons/thumbnails.py Thumbnails._go_on", "drawing the steps of the lessons")
def thumbnails(program: FaultyProgram) -> None:
    person = program.person()
    program.plant("attnlab.ui.lessons.thumbnails._make_thumbnail")
    person.window.show_workspace("lessons")
    person.wait_for(lambda: bool(fault_log._untaken))
    person.window.show_workspace("playground")


@case("present/lens_pictures.py LensPictures.find", "drawing the lens")
def draw_lens(program: FaultyProgram) -> None:
    from attnlab.ui.lessons.player import LessonPlayer
    from attnlab.ui.present import PresentWindow

    person = program.person()
    program.plant("attnlab.ui.present.lens_pictures.make_picture")
    player = LessonPlayer(person.document, person.window)
    player.open(find("positions"), 3)  # a lens that is not covered by a question
    presentation = PresentWindow(person.playground, player, person.window)
    program.qtbot.addWidget(presentation)
    presentation.present(size=QSize(1280, 720))
    parts = presentation.parts
    person.wait_for(lambda: parts.lens is not None and parts.lens.isVisible())  # as in the window instead
    presentation.close()


@case("lessons/step_preview.py Preview.show_step", "computing the step")
def preview_step(program: FaultyProgram) -> None:
    from attnlab.ui.lessons.step_preview import Preview

    person = program.person()
    preview = Preview(person.playground, person.window)
    program.plant("attnlab.lessons.slides.fill_text")
    lesson = find("causal-masks")
    index = next(i for i, step in enumerate(lesson.steps) if "{{" in step.text)
    with program.qtbot.waitSignal(preview.filled):
        preview.show_step(Lesson(lesson.name, lesson.title, lesson.steps), index)
    assert "Something went wrong" in preview.wrong.text()


@case("present/prefetch.py Prefetch.want", "computing the neighbouring slides")
def present(program: FaultyProgram) -> None:
    from attnlab.ui.lessons.player import LessonPlayer
    from attnlab.ui.present import PresentWindow

    person = program.person()
    player = LessonPlayer(person.document, person.window)
    player.open(find("causal-masks"))
    presentation = PresentWindow(person.playground, player, person.window)
    program.qtbot.addWidget(presentation)
    program.plant("attnlab.ui.present.prefetch.answer")
    presentation.present(size=QSize(960, 540))
    person.wait_for(lambda: bool(fault_log._untaken))
    presentation.close()


# All of them


def places() -> Iterator[str]:
    """Yield every place in the window's source that starts a job: its file, function, and of a Call what it calls."""
    for path in sorted(UI.rglob("*.py")):
        name = path.relative_to(UI).as_posix()
        yield from (f"{name} {place}" for place in _started(ast.parse(path.read_text(encoding="utf-8")), ()))


def _started(node: ast.AST, inside: tuple[str, ...]) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, ast.FunctionDef | ast.ClassDef)
        if isinstance(child, ast.Call) and _starts(child):
            of = f": {ast.unparse(child.args[0])}" if _called(child) == "Call" else ""
            yield ".".join(inside) + of
        yield from _started(child, (*inside, child.name) if named else inside)  # type: ignore[attr-defined]


def _starts(call: ast.Call) -> bool:
    """Whether a call starts a job: it names what it is doing, or is a known wrapper."""
    says = any(keyword.arg == "doing" for keyword in call.keywords)
    service = isinstance(call.func, ast.Attribute) and call.func.attr == "request" and len(call.args) == 5
    owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    wrapper = (_called(call), owner) in {("ask", "self"), ("ask", "self.worker"), ("ask", "self._worker")} or (
        _called(call) in ("_do", "_start") and owner == "self" and len(call.args) >= 3
    )
    return says or service or wrapper or _called(call) == "Call"


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


@pytest.mark.slow
def test_every_place_that_starts_a_job_has_a_case() -> None:
    there = list(places())
    found = [place for place in there if place not in PASSED_ON]
    assert sorted(set(found)) == sorted(CASES)
    assert len(found) == len(set(found)), "two jobs of one function need two cases"
    assert set(there) >= PASSED_ON


def slow(group: str) -> bool:
    """Return whether a group is slow: it trains a model first, and is not the one that ``make test`` keeps."""
    return group == "files of runs" or group.startswith("train/")


@pytest.mark.parametrize("group", [pytest.param(name, marks=[pytest.mark.slow] * slow(name)) for name in GROUPS])
def test_an_unexpected_error_is_shown_in_the_window(
    group: str,
    sit_down: Callable[..., Person],
    open_window: Callable[..., MainWindow],
    qtbot: QtBot,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    subtests: pytest.Subtests,
) -> None:
    program = FaultyProgram(sit_down, open_window, qtbot, tmp_path)
    for place in GROUPS[group]:
        with subtests.test(place):
            check_fault(program, place, capsys)
            program.dismiss()


def check_fault(program: FaultyProgram, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Let the job of a place fail, and read what the user is told and the logs have."""
    (doing, act), known = CASES[place], logged()
    sentence = f"Something went wrong inside attnlab while {doing}: PlantedError: planted."
    try:
        act(program)
        program.qtbot.waitUntil(lambda: sentence in program.told())
    finally:
        program.mend()
    faults = fault_log.take()
    assert doing in {fault.doing for fault in faults}
    assert {fault.reason for fault in faults} == {"PlantedError: planted"}
    assert "PlantedError" in logged().removeprefix(known)
    assert "PlantedError" in capsys.readouterr().err


def logged() -> str:
    path = fault_log.log_path()
    return path.read_text(encoding="utf-8") if path.exists() else ""
