"""The cases of :mod:`tests.ui.test_every_job_fails` for the jobs of Train."""

from collections.abc import Callable
from pathlib import Path

from attnlab.base import fault_log
from attnlab.training.questions import Planned
from attnlab.training.queue_file import LeftQueue
from attnlab.ui.train.queue_dialog import QueueDialog
from tests.ui.failing_jobs import Case, FaultyProgram, case
from tests.ui.train.pupil import Pupil, tiny, trained


def trained_pupil(program: FaultyProgram) -> tuple[Pupil, Path]:
    """Return a pupil with a trained run at rest, and its folder."""
    pupil = program.pupil()
    folder = trained(pupil, 0)
    worker, keeper = pupil.trainer.session.inspection.worker, pupil.tools.keeper
    pupil.wait_for(lambda: not keeper.busy and not any(map(worker.has_job, ("look", "course", "marks"))))
    return pupil, folder


def inspection(doing: str, target: str, act: Callable[[Pupil], object]) -> Case:
    def look(program: FaultyProgram) -> None:
        pupil, _ = program.share(trained_pupil)
        program.plant(target)
        act(pupil)

    return look


def fill_course(pupil: Pupil) -> None:
    pupil.trainer.session.inspection.course.rows.clear()
    pupil.trainer.session.inspection.course.fill()


EYES = "attnlab.ui.train.inspector"
LOOKS: dict[str, tuple[str, str, Callable[[Pupil], object]]] = {
    "train/inspection.py Inspection.look": (
        "computing the maps",
        "attnlab.training.look.Viewer.look",
        lambda p: p.trainer.session.look_at(10),
    ),
    "train/inspection.py Inspection.request_examples": (
        "computing the examples",
        "attnlab.training.look.Viewer.write_examples",
        lambda p: p.trainer.session.inspection.request_examples(p.trainer.session.find_moment()),
    ),
    "train/inspection.py Inspection.measure_heads": (
        "measuring the heads",
        "attnlab.training.head_effects.measure_next_head",
        lambda p: p.trainer.session.inspection.measure_heads(p.trainer.session.find_moment()),
    ),
    "train/inspection.py Inspection.request_text": (
        "writing text",
        "attnlab.training.look.Viewer.write_text",
        lambda p: p.trainer.session.inspection.request_text(p.trainer.session.find_moment(), "a", 2, (1.0, 0, 0)),
    ),
    "train/head_course.py HeadCourse.fill": ("following the heads", f"{EYES}.compute_entropies", fill_course),
    "train/inspection.py Inspection.suggest": (
        "looking for marks",
        "attnlab.training.marks.find_loss_drops",
        lambda p: p.trainer.session.inspection.suggest(),
    ),
    "train/inspection.py Inspection.check": (
        "checking the settings",
        "attnlab.training.tasks.check",
        lambda p: p.trainer.session.set_spec(tiny(steps=31)),
    ),
}
for _place, (_doing, _target, _act) in LOOKS.items():
    case(_place, _doing, "looks")(inspection(_doing, _target, _act))


@case("train/run_comparison.py RunComparison.compare_kind", "making an untrained model")
def untrained(program: FaultyProgram) -> None:
    pupil = program.pupil()
    trained(pupil, 0)
    program.plant("attnlab.training.first_weights.draw_first_weights")
    pupil.tools.comparing.compare_kind("encoder")
    pupil.wait_for(lambda: bool(fault_log._untaken))
    assert pupil.tools.comparing.second is None


@case("train/second_run.py SecondRun.look", "computing the maps of the second run")
def second_run(program: FaultyProgram) -> None:
    pupil = program.pupil()
    folder = trained(pupil, 0)
    trained(pupil, 1)
    pupil.wait_for(lambda: not any(map(pupil.trainer.session.inspection.worker.has_job, ("look", "course", "marks"))))
    program.plant("attnlab.training.look.Viewer.look")
    pupil.tools.runs.compare_requested.emit(folder)
    comparing = pupil.tools.comparing
    pupil.wait_for(lambda: comparing.second is not None and "went wrong" in comparing.second.wrong.text())


@case("train/round_trip.py RoundTrip._ask", "opening a layer in the playground")
def open_layer(program: FaultyProgram) -> None:
    pupil = program.pupil()
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    pupil.wait_for(lambda: bool(pupil.tools.round_trip.layers))
    program.plant("attnlab.training.look.Viewer.make_experiment")
    pupil.tools.round_trip.open(pupil.tools.round_trip.layers[0], -1)


@case("train/round_trip.py RoundTrip.send_back", "sending a layer back")
def send_layer(program: FaultyProgram) -> None:
    pupil = program.pupil()
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    pupil.wait_for(lambda: bool(pupil.tools.round_trip.layers))
    pupil.tools.round_trip.open(pupil.tools.round_trip.layers[0], -1)
    pupil.wait_for_playground()
    program.plant("attnlab.training.look.Viewer.replace_layer")
    pupil.tools.round_trip.send_back()
    pupil.wait_for(lambda: "Something went wrong" in pupil.message())
    assert pupil.tools.round_trip.strip.send.isEnabled()


def keeping(target: str, act: Callable[[Pupil, Path], object]) -> Case:
    def keep_run(program: FaultyProgram) -> None:
        pupil, folder = program.share(trained_pupil)
        program.plant(target)
        act(pupil, folder)
        pupil.wait_for(lambda: bool(fault_log._untaken) and not pupil.tools.keeper.busy)

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
    "leave_queue": (
        "keeping the queue",
        "attnlab.training.queue_file.leave",
        lambda p, _: p.tools.keeper.leave_queue(LeftQueue("Seeds", ())),
    ),
    "forget_queue": (
        "forgetting the queue",
        "attnlab.ui.train.kept_queue.KeptQueue.forget",
        lambda p, _: p.tools.keeper.forget_queue(),
    ),
    "take_queue": (
        "reading the queue",
        "attnlab.training.queue_file.list_files",
        lambda p, _: p.tools.keeper.take_queue(print),
    ),
    "_write": ("saving the run", f"{STORE}.save", save_run),
    "_allow": (
        "remembering a text",
        "attnlab.training.allowed_texts.allow",
        lambda p, _: p.tools.keeper._allow("a.txt", lambda: None),
    ),
}
for _name, (_doing, _target, _keep) in KEEPING.items():
    case(f"train/run_files.py RunFiles.{_name}", _doing, "files of runs")(keeping(_target, _keep))


@case("train/run_queue.py RunQueue._measure", "measuring the patterns of a run")
def measure_queue(program: FaultyProgram) -> None:
    program.plant("attnlab.training.best_heads.measure_best_heads")
    pupil = trained_queue(program)
    pupil.wait_for(lambda: bool(fault_log._untaken) and not pupil.tools.queue.measuring)


@case("train/queue_dialog.py QueueDialog._ask", "computing the maps of the queue")
def look_at_queue(program: FaultyProgram) -> None:
    pupil = trained_queue(program)
    pupil.wait_for(lambda: bool(pupil.tools.queue.entries[0].patterns))
    pupil.wait_for(lambda: not any(map(pupil.trainer.session.inspection.worker.has_job, ("look", "course", "marks"))))
    program.plant("attnlab.training.look.Viewer.look")
    pupil.tools.show_results()
    pupil.wait_for(lambda: "went wrong" in results_of(pupil).told.text())


@case("train/queue_dialog.py QueueDialog.save", "saving the results")
def save_results(program: FaultyProgram) -> None:
    pupil = trained_queue(program)
    pupil.tools.show_results()
    program.plant("attnlab.ui.train.queue_dialog.write_bytes")
    results_of(pupil).save(program.folder / "results.csv")
    pupil.wait_for(lambda: "went wrong" in results_of(pupil).told.text())


def trained_queue(program: FaultyProgram) -> Pupil:
    """Return a pupil with a queue of one run, which is the open one."""
    pupil = program.pupil()
    pupil.begin(tiny(steps=30))
    pupil.train_to_the_end()
    pupil.tools.queue.begin("One run", [Planned("seed 0", pupil.run.spec)], [pupil.run])
    return pupil


def results_of(pupil: Pupil) -> QueueDialog:
    dialog = pupil.window.findChild(QueueDialog)
    assert dialog is not None
    return dialog


def pictures(target: str) -> Case:
    def film(program: FaultyProgram) -> None:
        from attnlab.ui.train.run_film_dialog import FilmDialog
        from attnlab.ui.train.run_film_form import FOLDER

        pupil = program.pupil()
        pupil.begin(tiny(steps=30))
        pupil.train_to_the_end()
        assert pupil.window.actions_list.run("train-film")
        dialog = pupil.window.findChild(FilmDialog)
        assert dialog is not None
        with program.qtbot.waitSignal(dialog.previewed):
            pass
        dialog.form.take("format", FOLDER)
        dialog.take()
        program.plant(target)
        with program.qtbot.waitSignal(dialog.saver.slices.finished):
            dialog.write_film(program.folder / "frames")
        assert "Something went wrong" in dialog.saver.message.text()

    return film


case("train/run_film.py Pictures.run_steps: self._scenario.compute_trace", "writing the film")(
    pictures("attnlab.ui.train.run_film.RunFilm.compute_trace")
)
case("train/run_film.py Pictures.run_steps: write_bytes", "writing the film")(
    pictures("attnlab.ui.train.run_film.write_bytes")
)
