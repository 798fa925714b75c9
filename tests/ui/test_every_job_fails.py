"""Whatever the program does beside the window may fail: every place that starts a job tells it, and goes on.

The places are found in the source. Each has a case here that lets the work fail in a way that nobody expected.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import attnlab
from attnlab import fault_log
from attnlab.document.document import View
from attnlab.document.saved_view import KEY, SavedView, to_plain
from attnlab.files.session import Session, save_session
from attnlab.files.source import Source
from attnlab.lessons.lesson import Lesson
from attnlab.lessons.library import find
from attnlab.ui.base.fault_bar import FaultBar
from attnlab.ui.main_window import MainWindow
from tests.ui.conftest import Person
from tests.ui.train.pupil import Pupil, tiny, trained

UI = Path(attnlab.__file__).parent / "ui"
ROAD = {"run", "draw", "start", "Call", "ask", "_do", "_start"}
"""What a job is started by: ``jobs.run``, ``slices.draw``, a Call of a drawing, and what stands on these."""
PASSED_ON = {
    "base/slices.py Call.__init__",
    "base/slices.py Slices.start",
    "base/jobs.py run",
    "playground/workspace.py Playground.run_for_lens",
    "predict/exercise_dialog.py ExerciseDialog._start",
    "train/run_keeper.py RunKeeper._do",
    "train/worker.py Worker.ask",
    "weights/dialog.py WeightsDialog.show_files",
}
"""What only passes on what it is given; the places that give it are cases."""


class PlantedError(Exception):
    """Nobody expects it."""


class Desk:
    """One who sits at the program, and lets things fail in it."""

    def __init__(
        self,
        sit_down: Callable[..., Person],
        open_window: Callable[..., MainWindow],
        qtbot: QtBot,
        folder: Path,
    ) -> None:
        self.sit_down, self.open_window, self.qtbot, self.folder = sit_down, open_window, qtbot, folder
        self._planted = pytest.MonkeyPatch()

    def person(self, source: str | Source = "journey", **options: bool) -> Person:
        return self.sit_down(source, **options)

    def pupil(self) -> Pupil:
        person = self.sit_down(remember=True)
        return Pupil(person.window, person.qtbot)

    def plant(self, target: str) -> None:
        """Let a function fail from now on."""

        def fail(*_: object, **__: object) -> None:
            raise PlantedError("planted")

        self._planted.setattr(target, fail)

    def mend(self) -> None:
        """Let everything work again."""
        self._planted.undo()

    def told(self) -> str:
        """Return what the bar in front says, "" where there is none."""
        bars = [each for each in QApplication.allWidgets() if isinstance(each, FaultBar) and each.isVisible()]
        return bars[0].sentence.text() if bars else ""


Case = Callable[[Desk], object]
CASES: dict[str, tuple[str, Case]] = {}


def case(place: str, doing: str) -> Callable[[Case], Case]:
    """Make a function the case of a place; ``doing`` is what the user is told that went wrong."""

    def take(function: Case) -> Case:
        assert place not in CASES
        CASES[place] = doing, function
        return function

    return take


# The playground


@case("playground/workspace.py Playground._request", "computing")
def compute(desk: Desk) -> None:
    person = desk.person()
    desk.plant("attnlab.compute.service.answer")
    person.press("Causal")


@case("loader.py Loader.start", "starting")
def load(desk: Desk) -> None:
    desk.plant("attnlab.document.first.first_scene")
    window = desk.open_window()
    window.load()
    desk.qtbot.waitUntil(lambda: "Something went wrong" in window.starting.welcome.text())


def lens(name: str, target: str) -> Case:
    def look(desk: Desk) -> None:
        person = desk.person()
        desk.plant(target)
        person.playground.lenses.open_lens(name)
        person.wait_for(lambda: not person.playground.lane.busy)

    return look


LENS = "computing for a lens"
WITHIN = "attnlab.ui.playground.lenses"
case("playground/lenses/cost_lens.py CostLens._ask_next", LENS)(lens("cost", "attnlab.compute.cost.measure"))
case("playground/lenses/positions_lens.py PositionsLens._refresh", LENS)(
    lens("positions/order", f"{WITHIN}.positions_order.order_blindness")
)
case("playground/lenses/precision_lens.py PrecisionLens.show_trace", LENS)(
    lens("precision", f"{WITHIN}.precision_lens.precision")
)
case("playground/lenses/saturation_lens.py SaturationLens.show_trace", LENS)(
    lens("saturation", f"{WITHIN}.saturation_lens.of_trace")
)
case("playground/lenses/saturation_lens.py SaturationLens._ask_for_random", LENS)(
    lens("saturation", f"{WITHIN}.saturation_lens.of_random")
)


@case("playground/workspace.py Playground._ask_thumbnail", "drawing the picture of a preset")
def thumbnails(desk: Desk) -> None:
    person = desk.person()
    desk.plant("attnlab.ui.playground.workspace.thumbnail")
    person.playground.open_gallery()
    person.wait_for(lambda: bool(fault_log._untaken))
    person.playground.gallery.hide()
    person.wait_for(lambda: not person.playground.lane.busy)  # each picture that was asked for fails


@case("playground/reader.py Reader.read", "opening a session")
def read(desk: Desk) -> None:
    person, told = desk.person(), list[bool]()
    attnlab.save(person.experiment, desk.folder / "a.attnlab")
    desk.plant("attnlab.ui.playground.reader.read")
    person.playground.files.open(desk.folder / "a.attnlab", told.append)
    person.wait_for(lambda: told == [False])
    assert not person.playground.files.opening


@case("playground/saver.py Saver.save", "saving")
def save(desk: Desk) -> None:
    person = desk.person()
    desk.plant("attnlab.ui.playground.saver.save_session")
    assert not person.playground.files.save_to(desk.folder / "a.attnlab")
    assert "Something went wrong inside attnlab while saving" in person.message()


@case("playground/recovery.py Recovery._write", "keeping unsaved work")
def keep(desk: Desk) -> None:
    person = desk.person(remember=True)
    desk.plant("attnlab.ui.playground.recovery.save_session")
    person.press("Causal")
    person.settle()
    assert person.window.recovery is not None
    assert not person.window.recovery.keep()
    assert person.message().startswith("Unsaved work cannot be kept. Something went wrong")


@case("playground/recovery.py Recovery._forget_saved", "cleaning up")
def forget(desk: Desk) -> None:
    person = desk.person(remember=True)
    recovery = person.window.recovery
    assert recovery is not None
    person.press("Causal")
    person.settle()
    recovery._write()
    desk.plant("attnlab.ui.playground.recovery._remove")
    person.undo()
    recovery._forget_saved()


@case("playground/session_state.py SessionState.bring_back", "computing the pinned state")
def pinned(desk: Desk) -> None:
    e = attnlab.preset("journey")
    said = to_plain(replace(SavedView(View()), pinned=("cpu", "float32")))
    save_session(Session(e, {KEY: said}, (e,)), desk.folder / "pinned.attnlab")
    person = desk.person()
    desk.plant("attnlab.ui.playground.session_state.answer")
    person.playground.files.open(desk.folder / "pinned.attnlab")
    person.wait_for(lambda: person.message().startswith("The pinned state was dropped: Something went wrong"))


@case("export/code_actions.py CodeKeeper._run", "writing the text")
def copy(desk: Desk) -> None:
    person = desk.person()
    desk.plant("attnlab.ui.export.code_actions.script")
    with desk.qtbot.waitSignal(person.playground.code.done):
        person.playground.code.copy_script()


@case("predict/solution_actions.py _solve", "writing the worked solution")
def solve(desk: Desk) -> None:
    from attnlab.ui.predict.solution_actions import copy_markdown

    person = desk.person()
    desk.plant("attnlab.lessons.solution.markdown")
    copy_markdown(person.playground)


# Weights


@case("weights/dialog.py WeightsDialog._start", "reading weights")
def read_weights(desk: Desk) -> None:
    from attnlab.ui.weights.dialog import open_weights_dialog

    person = desk.person()
    desk.plant("attnlab.ui.weights.dialog.text_source")
    dialog = open_weights_dialog(person.window, text="1 2\n3 4")
    assert dialog is not None
    with desk.qtbot.waitSignal(dialog.read):
        pass
    assert "Something went wrong" in dialog.waiting.text()
    dialog.reject()


@case("weights/dialog.py WeightsDialog._on_soon", "trying the weights")
def try_weights(desk: Desk) -> None:
    from attnlab.ui.weights.dialog import open_weights_dialog

    person = desk.person()
    desk.plant("attnlab.ui.weights.dialog.tried")
    dialog = open_weights_dialog(person.window, text="1 2\n3 4\n5 6")
    assert dialog is not None
    with desk.qtbot.waitSignal(dialog.previewed):
        pass
    assert "Something went wrong" in dialog.message.text()
    dialog.reject()


# Figures and films


@case("export/preview.py FigurePreview._draw", "drawing the figure")
def figure(desk: Desk) -> None:
    person = desk.person()
    desk.plant("attnlab.ui.export.preview.draw_steps")
    person.playground.files.ask_export()


def sweep(target: str, *, before: bool = False) -> Case:
    def film(desk: Desk) -> None:
        from attnlab.ui.export.sweep_dialog import SweepDialog

        person = desk.person()
        if before:
            desk.plant(target)
        assert person.window.actions_list.run("film")
        dialog = person.window.findChild(SweepDialog)
        assert dialog is not None
        with desk.qtbot.waitSignal(dialog.previewed):
            dialog.form.frames.lineEdit().setText("4")
        if not before:
            desk.plant(target)
            with desk.qtbot.waitSignal(dialog.saver.slices.finished):
                dialog.write_film(desk.folder / "film.gif")
            assert not dialog.saver.working
            assert not (desk.folder / "film.gif").exists()
        assert "Something went wrong" in dialog.saver.message.text()

    return film


FILMING = "attnlab.ui.export.filming"
case("export/film_window.py FilmWindow._look", "drawing the film")(sweep(f"{FILMING}.Scenario.image", before=True))
case("export/film_window.py FilmWindow._frame_shown: scenario.trace", "drawing the film")(
    sweep(f"{FILMING}.Scenario.trace", before=True)
)
case("export/filming.py surveyed: scenario.trace", "drawing the film")(sweep(f"{FILMING}.Survey.add", before=True))
case("export/film_saver.py FilmSaver.write", "writing the film")(sweep(f"{FILMING}.Scenario.image"))
case("export/filming.py Filming._filmed: scenario.trace", "writing the film")(sweep(f"{FILMING}.Scenario.trace"))
case("export/filming.py Filming._filmed: encoded", "writing the film")(sweep(f"{FILMING}.encoded"))
case("export/filming.py Filming.steps: write_bytes", "writing the film")(sweep("attnlab.files.atomic.write_bytes"))


# Exercises, lessons, presenting


def exercise(target: str, act: Callable[[object, Path], None]) -> Case:
    def make(desk: Desk) -> None:
        from attnlab.ui.predict.exercise_dialog import ExerciseDialog

        person = desk.person()
        dialog = ExerciseDialog(person.playground, person.window)
        desk.qtbot.addWidget(dialog)
        with desk.qtbot.waitSignal(dialog.previewed):
            dialog.show()
        desk.plant(target)
        with desk.qtbot.waitSignal(dialog.slices.finished):
            act(dialog, desk.folder)
        assert "Something went wrong" in dialog.message.text()
        assert dialog.handout_button.isEnabled()

    return make


def answer_file(folder: Path) -> Path:
    (folder / "answers.csv").write_text('student,cell,value\nAda,"weights[0, 0, 0]",0.5\n', encoding="utf-8")
    return folder / "answers.csv"


case("predict/exercise_dialog.py ExerciseDialog.write_pdf", "printing the sheets")(
    exercise("attnlab.figures.handout.HandoutWriter.add", lambda dialog, at: dialog.write_pdf(at / "a.pdf", False))  # type: ignore[attr-defined]
)
case("predict/exercise_dialog.py ExerciseDialog.grade_file", "grading the answers")(
    exercise("attnlab.lessons.grading.grade", lambda dialog, at: dialog.grade_file(answer_file(at)))  # type: ignore[attr-defined]
)


@case("lessons/workspace.py LessonsWorkspace._on_check_requested", "computing the steps of the lesson")
def check_lesson(desk: Desk) -> None:
    person = desk.person()
    person.window.show_workspace(1)
    lessons = person.window.lessons()
    assert lessons is not None
    lessons.workspace._show(find("causal-masks"))
    desk.plant("attnlab.lessons.slides.check")
    lessons.workspace._on_check_requested()
    person.wait_for(lambda: "Something went wrong" in lessons.workspace.message)


def printing(target: str) -> Case:
    def print_lesson(desk: Desk) -> None:
        from attnlab.ui.lessons.printing import Printing

        person = desk.person()
        person.window.show_workspace(1)
        lessons = person.window.lessons()
        assert lessons is not None
        desk.plant(target)
        Printing(lessons, find("causal-masks"), desk.folder / "a.pdf")
        person.wait_for(lambda: "Something went wrong" in lessons.workspace.message)
        assert not (desk.folder / "a.pdf").exists()

    return print_lesson


case("lessons/printing.py Printing.__init__", "printing the lesson")(printing("attnlab.ui.present.pdf._pages"))
case("lessons/printing.py Printing._print", "printing the lesson")(printing("attnlab.ui.present.pdf._draw_page"))


@case("lessons/preview.py Preview.show_step", "computing the step")
def preview_step(desk: Desk) -> None:
    from attnlab.ui.lessons.preview import Preview

    person = desk.person()
    preview = Preview(person.playground, person.window)
    desk.plant("attnlab.lessons.slides.filled")
    lesson = find("causal-masks")
    index = next(i for i, step in enumerate(lesson.steps) if "{{" in step.text)
    with desk.qtbot.waitSignal(preview.filled):
        preview.show_step(Lesson(lesson.name, lesson.title, lesson.steps), index)
    assert "Something went wrong" in preview.wrong.text()


@case("present/ahead.py Ahead.want", "computing the slides around this one")
def present(desk: Desk) -> None:
    from attnlab.ui.lessons.player import LessonPlayer
    from attnlab.ui.present import PresentWindow

    person = desk.person()
    player = LessonPlayer(person.document, person.window)
    player.open(find("causal-masks"))
    hall = PresentWindow(person.playground, player, person.window)
    desk.qtbot.addWidget(hall)
    desk.plant("attnlab.ui.present.ahead.answer")
    hall.present(size=QSize(960, 540))
    person.wait_for(lambda: bool(fault_log._untaken))
    hall.close()


# Training


def looking(doing: str, target: str, act: Callable[[Pupil], object]) -> Case:
    def look(desk: Desk) -> None:
        pupil = desk.pupil()
        pupil.begin(tiny(steps=30))
        pupil.train_to_the_end()
        pupil.wait_for(lambda: not any(map(pupil.trainer.session.looking.worker.waits, ("look", "course", "marks"))))
        desk.plant(target)
        act(pupil)

    return look


def fill_course(pupil: Pupil) -> None:
    pupil.trainer.session.looking.course.clear()
    pupil.trainer.session.looking.fill_course()


EYES = "attnlab.ui.train.eyes"
LOOKS: dict[str, tuple[str, str, Callable[[Pupil], object]]] = {
    "look": ("computing the maps", "attnlab.training.look.Viewer.look", lambda p: p.trainer.session.look_at(10)),
    "check": (
        "checking the settings",
        "attnlab.training.tasks.check",
        lambda p: p.trainer.session.set_spec(tiny(steps=31)),
    ),
    "examples": (
        "computing the examples",
        "attnlab.training.look.Viewer.examples",
        lambda p: p.trainer.session.looking.examples(p.trainer.session.at()),
    ),
    "text": (
        "writing text",
        "attnlab.training.look.Viewer.text",
        lambda p: p.trainer.session.looking.text(p.trainer.session.at(), "a", 2, (1.0, 0, 0)),
    ),
    "fill_course": ("following the heads", f"{EYES}.entropies", fill_course),
    "suggest": (
        "looking for marks",
        "attnlab.training.marks.loss_drops",
        lambda p: p.trainer.session.looking.suggest(),
    ),
}
for _name, (_doing, _target, _act) in LOOKS.items():
    case(f"train/looking.py Looking.{_name}", _doing)(looking(_doing, _target, _act))


@case("train/side_by_side.py SecondRun.look", "computing the maps of the second run")
def second_run(desk: Desk) -> None:
    pupil = desk.pupil()
    folder = trained(pupil, 0)
    trained(pupil, 1)
    pupil.wait_for(lambda: not any(map(pupil.trainer.session.looking.worker.waits, ("look", "course", "marks"))))
    desk.plant("attnlab.training.look.Viewer.look")
    pupil.tools.runs.compare_requested.emit(folder)
    comparing = pupil.tools.comparing
    pupil.wait_for(lambda: comparing.second is not None and "went wrong" in comparing.second.wrong.text())


@case("train/round_trip.py RoundTrip._ask", "opening a layer in the playground")
def open_layer(desk: Desk) -> None:
    pupil = desk.pupil()
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    pupil.wait_for(lambda: bool(pupil.tools.round_trip.layers))
    desk.plant("attnlab.training.look.Viewer.experiment")
    pupil.tools.round_trip.open(pupil.tools.round_trip.layers[0], -1)


@case("train/round_trip.py RoundTrip.send_back", "sending a layer back")
def send_layer(desk: Desk) -> None:
    pupil = desk.pupil()
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    pupil.wait_for(lambda: bool(pupil.tools.round_trip.layers))
    pupil.tools.round_trip.open(pupil.tools.round_trip.layers[0], -1)
    pupil.wait_for_playground()
    desk.plant("attnlab.training.look.Viewer.put")
    pupil.tools.round_trip.send_back()
    pupil.wait_for(lambda: "Something went wrong" in pupil.message())
    assert pupil.tools.round_trip.strip.send.isEnabled()


def keeping(target: str, act: Callable[[Pupil, Path], object]) -> Case:
    def keep_run(desk: Desk) -> None:
        pupil = desk.pupil()
        folder = trained(pupil, 0)
        keeper = pupil.tools.keeper
        pupil.wait_for(lambda: not keeper.busy)
        desk.plant(target)
        act(pupil, folder)
        pupil.wait_for(lambda: bool(fault_log._untaken) and not keeper.busy)

    return keep_run


def save_run(pupil: Pupil, _: Path) -> None:
    pupil.tools.keeper._saved = None
    pupil.tools.keeper._save(pupil.run)


STORE = "attnlab.training.store"
KEEPING: dict[str, tuple[str, str, Callable[[Pupil, Path], object]]] = {
    "refresh": ("listing the runs", f"{STORE}.list_runs", lambda p, _: p.tools.keeper.refresh()),
    "load": ("opening a run", f"{STORE}.load", lambda p, at: p.tools.keeper.load(at, print)),
    "rename": ("renaming a run", f"{STORE}.load", lambda p, at: p.tools.keeper.rename(at, "other")),
    "delete": ("deleting a run", f"{STORE}.delete", lambda p, at: p.tools.keeper.delete(at)),
    "_save": ("saving the run", f"{STORE}.save", save_run),
    "_allow": (
        "remembering a text",
        "attnlab.training.allowed_texts.allow",
        lambda p, _: p.tools.keeper._allow("a.txt", lambda: None),
    ),
}
for _name, (_doing, _target, _keep) in KEEPING.items():
    case(f"train/run_keeper.py RunKeeper.{_name}", _doing)(keeping(_target, _keep))


def pictures(target: str) -> Case:
    def film(desk: Desk) -> None:
        from attnlab.ui.train.film_dialog import FilmDialog
        from attnlab.ui.train.film_form import FOLDER

        pupil = desk.pupil()
        pupil.begin(tiny(steps=30))
        pupil.train_to_the_end()
        assert pupil.window.actions_list.run("train-film")
        dialog = pupil.window.findChild(FilmDialog)
        assert dialog is not None
        with desk.qtbot.waitSignal(dialog.previewed):
            pass
        dialog.form.format.setCurrentIndex(dialog.form.format.findData(FOLDER))
        dialog.take()
        desk.plant(target)
        with desk.qtbot.waitSignal(dialog.saver.slices.finished):
            dialog.write_film(desk.folder / "frames")
        assert "Something went wrong" in dialog.saver.message.text()

    return film


case("train/film.py Pictures.steps: self._scenario.trace", "writing the film")(
    pictures("attnlab.ui.train.film.RunFilm.trace")
)
case("train/film.py Pictures.steps: write_bytes", "writing the film")(pictures("attnlab.ui.train.film.write_bytes"))


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
    """Tell whether a call starts a job: one says what it does while it runs, or it is a wrapper of those that do."""
    says = any(keyword.arg == "doing" for keyword in call.keywords)
    service = isinstance(call.func, ast.Attribute) and call.func.attr == "request" and len(call.args) == 5
    owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    wrapper = (_called(call), owner) in {("ask", "self"), ("ask", "self.worker"), ("ask", "self._worker")} or (
        _called(call) in ("_do", "_start") and owner == "self" and len(call.args) >= 3
    )
    return says or service or wrapper or _called(call) == "Call"


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def test_every_place_that_starts_a_job_has_a_case() -> None:
    found = [place for place in places() if place not in PASSED_ON]
    assert sorted(set(found)) == sorted(CASES)
    assert len(found) == len(set(found)), "two jobs of one function need two cases"
    assert set(places()) >= PASSED_ON


def slow(place: str) -> bool:
    """Return whether a case is slow: it trains a model first, and is not one of the two that ``make test`` keeps."""
    return place.startswith("train/") and place.split()[-1] not in ("Looking.look", "RunKeeper._save")


@pytest.mark.parametrize("place", [pytest.param(name, marks=[pytest.mark.slow] * slow(name)) for name in CASES])
def test_an_unexpected_error_is_told_in_the_window(
    place: str,
    sit_down: Callable[..., Person],
    open_window: Callable[..., MainWindow],
    qtbot: QtBot,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    doing, act = CASES[place]
    desk = Desk(sit_down, open_window, qtbot, tmp_path)
    try:
        act(desk)
        sentence = f"Something went wrong inside attnlab while {doing}: PlantedError: planted."
        qtbot.waitUntil(lambda: sentence in desk.told())
    finally:
        desk.mend()
    faults = fault_log.take()
    assert doing in {fault.doing for fault in faults}
    assert {fault.reason for fault in faults} == {"PlantedError: planted"}
    assert "PlantedError" in fault_log.log_path().read_text(encoding="utf-8")
    assert "PlantedError" in capsys.readouterr().err
