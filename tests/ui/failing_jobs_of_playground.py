"""The cases of :mod:`tests.ui.test_every_job_fails` for the jobs of the playground."""

from dataclasses import replace

import attnlab
from attnlab.attention.stages.explanation import Cell
from attnlab.base import fault_log
from attnlab.document.document import View
from attnlab.document.saved_view import KEY, SavedView, to_plain
from attnlab.files.sessions.session_file import Session, save_session
from tests.ui.failing_jobs import Case, FaultyProgram, case


@case("playground/live_numbers.py LiveNumbers.request", "computing")
def compute(program: FaultyProgram) -> None:
    person = program.person()
    program.plant("attnlab.compute.service.answer")
    person.press("Causal")


@case("app/loader.py Loader.start", "starting")
def load(program: FaultyProgram) -> None:
    program.plant("attnlab.document.first.load_first_scene")
    window = program.open_window()
    window.load()
    program.qtbot.waitUntil(lambda: "Something went wrong" in window.starting.welcome.text())


def lens(name: str, target: str) -> Case:
    def look(program: FaultyProgram) -> None:
        person = program.share(FaultyProgram.person)
        program.plant(target)
        person.playground.lenses.open_lens(name)
        person.wait_for(lambda: not person.playground.lane.busy)

    return look


LENS = "computing for a lens"
WITHIN = "attnlab.ui.playground.lenses"
case("playground/lenses/cost_lens.py CostLens._ask_next", LENS, "lenses")(lens("cost", "attnlab.compute.cost.measure"))
case("playground/lenses/contributions_lens.py ContributionsLens._ask", LENS, "lenses")(
    lens("contributions", f"{WITHIN}.contributions_lens.find_contributions")
)
case("playground/lenses/sensitivity_lens.py SensitivityLens._ask", LENS, "lenses")(
    lens("sensitivity", f"{WITHIN}.sensitivity_lens.find_sensitivity")
)


def search_goal(way: str) -> Case:
    def look(program: FaultyProgram) -> None:
        person = program.person()
        program.plant(f"{WITHIN}.goal_lens.{way}")
        person.playground.lenses.open_lens("goal")
        person.settle()
        lens = person.playground.lenses.stack.currentWidget()
        lens.panel.wanted_taken.emit(0.4)
        (lens.panel.reach if way == "find_goal" else lens.panel.ways).click()
        person.wait_for(lambda: not person.playground.lane.busy)

    return look


case("playground/lenses/goal_lens.py GoalLens.reach", LENS)(search_goal("find_goal"))
case("playground/lenses/goal_lens.py GoalLens._on_ways", LENS)(search_goal("find_ways"))


def look_back(way: str) -> Case:
    def look(program: FaultyProgram) -> None:
        person = program.person()
        program.plant(f"{WITHIN}.backward_lens.{way}")
        person.playground.lenses.open_lens("backward")
        person.settle()
        lens = person.playground.lenses.stack.currentWidget()
        lens.panel.loss_chosen.emit("weight")
        person.settle()
        if way == "find_steps_down":
            lens.panel.step.click()
        else:
            person.playground.document.select(Cell("d_scores", 0, 0, 0), pin=True)
        person.wait_for(lambda: not person.playground.lane.busy)

    return look


case("playground/lenses/backward_lens.py BackwardLens.step_down", LENS)(look_back("find_steps_down"))
case("playground/lenses/backward_lens.py BackwardLens._ask_trial", LENS)(look_back("find_trial"))
case("playground/lenses/positions_lens.py PositionsLens._refresh", LENS, "lenses")(
    lens("positions/order", f"{WITHIN}.positions_order.measure_order_blindness")
)
case("playground/lenses/precision_lens.py PrecisionLens.show_trace", LENS, "lenses")(
    lens("precision", f"{WITHIN}.precision_lens.compare_formats")
)
case("playground/lenses/saturation_lens.py SaturationLens.show_trace", LENS, "lenses")(
    lens("saturation", f"{WITHIN}.saturation_lens.measure_trace")
)
case("playground/lenses/saturation_lens.py SaturationLens._ask_for_random", LENS)(
    lens("saturation", f"{WITHIN}.saturation_lens.measure_random")
)


@case("playground/playground.py Playground._ask_thumbnail", "drawing the picture of a preset")
def thumbnails(program: FaultyProgram) -> None:
    person = program.person()
    program.plant("attnlab.ui.playground.playground.thumbnail")
    person.playground.open_gallery()
    person.wait_for(lambda: bool(fault_log._untaken))
    person.playground.gallery.hide()
    person.wait_for(lambda: not person.playground.lane.busy)  # each picture that was asked for fails


@case("playground/reader.py Reader.read", "opening a session")
def read(program: FaultyProgram) -> None:
    person, told = program.person(), list[bool]()
    attnlab.save(person.experiment, program.folder / "a.attnlab")
    program.plant("attnlab.ui.playground.reader.open_session")
    person.playground.files.open(program.folder / "a.attnlab", told.append)
    person.wait_for(lambda: told == [False])
    assert not person.playground.files.opening


@case("playground/saver.py Saver.save", "saving")
def save(program: FaultyProgram) -> None:
    person = program.person()
    program.plant("attnlab.ui.playground.saver.save_session")
    assert not person.playground.files.save_to(program.folder / "a.attnlab")
    assert "Something went wrong inside attnlab while saving" in person.message()


@case("playground/recovery.py Recovery._write", "saving unsaved work")
def keep(program: FaultyProgram) -> None:
    person = program.person(remember=True)
    program.plant("attnlab.ui.playground.recovery.save_session")
    person.press("Causal")
    person.settle()
    assert person.window.recovery is not None
    assert not person.window.recovery.keep()
    assert person.message().startswith("Unsaved work cannot be saved for recovery. Something went wrong")


@case("playground/recovery.py Recovery._forget_saved", "cleaning up")
def forget(program: FaultyProgram) -> None:
    person = program.person(remember=True)
    recovery = person.window.recovery
    assert recovery is not None
    person.press("Causal")
    person.settle()
    recovery._write()
    program.plant("attnlab.ui.playground.recovery._remove")
    person.undo()
    recovery._forget_saved()


@case("playground/session_state.py SessionState.restore", "computing the pinned state")
def pinned(program: FaultyProgram) -> None:
    e = attnlab.preset("journey")
    said = to_plain(replace(SavedView(View()), pinned=("cpu", "float32")))
    save_session(Session(e, {KEY: said}, (e,)), program.folder / "pinned.attnlab")
    person = program.person()
    program.plant("attnlab.ui.playground.session_state.answer")
    person.playground.files.open(program.folder / "pinned.attnlab")
    person.wait_for(lambda: person.message().startswith("The pinned state was dropped: Something went wrong"))


@case("export/code_export.py CodeExport._run", "writing the text")
def copy(program: FaultyProgram) -> None:
    person = program.person()
    program.plant("attnlab.ui.export.code_export.script")
    with program.qtbot.waitSignal(person.playground.code.done):
        person.playground.code.copy_script()


@case("predict/solution_actions.py _solve", "writing the worked solution")
def solve(program: FaultyProgram) -> None:
    from attnlab.ui.predict.solution_actions import copy_markdown

    person = program.person()
    program.plant("attnlab.lessons.solution.write_markdown")
    copy_markdown(person.playground)
