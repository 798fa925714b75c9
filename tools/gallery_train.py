"""Lists the views of training for the gallery: before, during and after a run, kinds of model, comparison, dialogs."""

from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.ui.app.main_window import MainWindow
from tools.gallery_dialogs import run_action
from tools.gallery_window import Prepare, View, do_nothing, list_others, settle, wait_until

if TYPE_CHECKING:
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.train.train_tools import TrainTools
    from attnlab.ui.train.train_workspace import TrainWorkspace

STEPS = 400
"""The training steps of a run: enough for clear maps of the reverse task."""
PAUSED_AT = 20
REVERSE = ("reverse",)
CROSS = ("dates",)
TEXT = ("characters",)
PIECES = ("characters", "--set", "level=piece", "--set", "context=128", "--set", "norm=after")
OWN = ("pairs", "--set", "level=character")
LARGE = ("reverse", "--set", "layers=6", "--set", "heads=4")
BOTH = ("reverse", "--model", "encoder-decoder")
RECURRENT, LUONG = ("questions", "--model", "recurrent"), ("questions",)
"""Arguments of ``attnlab train``; the model with six layers has a curve of sharpness for each of 24 heads."""


def list_views() -> Iterator[View]:
    """Yield the views that are drawn in every size."""
    yield _make_view("train-new", lambda p, w: _open(w))
    yield _make_view("train-bad-file", _open_bad_file)
    yield _make_view("train-paused", _pause)
    yield _make_view("train", _show_run(REVERSE))
    yield _make_view("train-cross", _show_run(CROSS))
    yield _make_view("train-text", _show_run(TEXT))
    yield _make_view("train-pieces", _show_run(PIECES))
    yield _make_view("train-own-pairs", _show_run(OWN))
    yield _make_view("train-question", _show_run(REVERSE, _change_setting))
    yield _make_view("train-question-settings", _show_run(REVERSE, _change_setting_in_place))
    yield _make_view("train-24-heads", _show_run(LARGE))
    yield _make_view("train-back", _show_run(REVERSE, _go_back))
    yield _make_view("train-one-map", _show_run(REVERSE, _show_last_map))
    yield _make_view("train-gradients", _show_run(REVERSE, _show_gradients))
    yield _make_view("train-compared", _show_run(REVERSE, _compare))
    yield _make_view("train-model", _show_run(BOTH, _show_model))
    yield _make_view("train-model-decoder", _show_run(REVERSE, _show_model))
    yield _make_view("train-model-recurrent", _show_run(RECURRENT, _show_model))
    yield _make_view("train-model-attention", _show_run(LUONG, _show_model))
    yield _make_view("train-model-compared", _show_run(RECURRENT, _compare_models))
    yield _make_view("train-model-kinds", _show_run(REVERSE, _show_encoder))
    yield _make_view("present-train-model", _show_run(BOTH, _show_model), _present_model)
    yield _make_view("present-train-model-kinds", _show_run(REVERSE, _show_encoder), _present_model)
    yield _make_view("train-inside", _show_run(REVERSE, _show_inside))
    yield _make_view("train-inside-both", _show_run(BOTH, _show_inside))
    yield _make_view("train-inside-text", _show_run(TEXT, _show_inside))
    yield _make_view("train-inside-recurrent", _show_run(RECURRENT, _show_inside))
    yield _make_view("train-inside-compared", _show_run(REVERSE, _compare_insides))
    yield _make_view("train-norms", _show_run(BOTH, _show_norms))
    yield _make_view("train-queue", _queue)
    yield _make_view("dialog-train-queue", _queue, lambda p, w: _find_tools(_open(w)).show_results())
    for name in ("train-runs", "train-film", "train-figure"):
        yield _make_view(f"dialog-{name}", _show_run(REVERSE), partial(run_action, name))


def _make_view(name: str, prepare: Prepare, open_dialog: Prepare = do_nothing) -> View:
    return View(name, prepare=prepare, open=open_dialog, remember=True)


def make_run(arguments: tuple[str, ...], seed: int = 0) -> Path:
    """Return the folder of a run of the seed; train it unless this process has done so."""
    from attnlab.cli.train_command import main
    from attnlab.training.store import find_runs_folder

    folder = find_runs_folder() / f"{'-'.join(arguments).replace('=', '')}-{seed}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            main([*arguments, "--seed", str(seed), "--steps", str(STEPS), "-o", str(folder)])
    return folder


def _open(window: MainWindow) -> "TrainWorkspace":
    """Show the workspace and wait for its first maps."""
    window.show_workspace("train")
    workspace = window.trainer
    assert workspace is not None
    wait_until(lambda: workspace.session.can_start and bool(workspace.maps.view.data))
    return workspace


def _open_bad_file(playground: "Playground", window: MainWindow) -> None:
    """Choose a file of which a line is no pair."""
    from attnlab.training.store import find_runs_folder

    workspace, path = _open(window), find_runs_folder() / "words.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("cat\tcats\nlonely\n")
    workspace.settings.open_data(str(path))
    wait_until(lambda: workspace.maps.empty.isVisible())


def _find_tools(workspace: "TrainWorkspace") -> "TrainTools":
    from attnlab.ui.train.train_tools import find_tools

    tools = find_tools(workspace)
    assert tools is not None
    return tools


def _show_run(arguments: tuple[str, ...], then: Callable[["TrainWorkspace"], object] = lambda _: None) -> Prepare:
    def prepare(playground: "Playground", window: MainWindow) -> None:
        folders = [make_run(REVERSE, seed) for seed in (0, 1)]  # the list of runs is the same in all pictures
        folder = make_run(arguments) if arguments != REVERSE else folders[0]
        workspace = _open(window)
        _find_tools(workspace).open_run(folder)
        wait_until(lambda: workspace.maps.head.step.text() == f"step {STEPS:,}" and len(workspace.written.rows) > 0)
        settle(window)
        then(workspace)

    return prepare


def _pause(playground: "Playground", window: MainWindow) -> None:
    """Train for a few steps."""
    workspace = _open(window)
    spec = workspace.session.spec
    spec = replace(spec, train=replace(spec.train, steps=100_000))
    workspace.session.set_spec(spec)
    workspace.settings.show_spec(spec)
    wait_until(lambda: workspace.session.can_start)
    workspace.start()
    wait_until(lambda: workspace.session.run is not None and workspace.session.run.step >= PAUSED_AT)
    workspace.session.pause()
    wait_until(lambda: workspace.session.state == "paused")


def _go_back(workspace: "TrainWorkspace") -> None:
    """Show the moment in the middle."""
    middle = len(workspace.footer.line.steps) // 2
    workspace.footer.moment_chosen.emit(middle)
    workspace.footer.show_current(middle)
    wait_until(
        lambda: (
            workspace.session.inspection.seen is not None
            and workspace.session.inspection.seen.look.step == workspace.session.viewed_step
        )
    )


def _change_setting(workspace: "TrainWorkspace") -> None:
    """Change settings of the finished run, which asks whether it is a new run or this one."""
    spec = workspace.session.spec
    spec = replace(spec, train=replace(spec.train, rate=2 * spec.train.rate, batch=64))
    workspace.settings.show_spec(spec)
    workspace.settings.spec_changed.emit(spec)
    wait_until(lambda: workspace.question.isVisible())


def _change_setting_in_place(workspace: "TrainWorkspace") -> None:
    """Change settings where they are shown, in a small window in the place of the maps."""
    workspace.header.settings.setChecked(True)
    _change_setting(workspace)


def _show_last_map(workspace: "TrainWorkspace") -> None:
    workspace.maps.open_map(len(workspace.maps.view.data) - 1)


def _show_model(workspace: "TrainWorkspace") -> None:
    """Show the diagram of the model."""
    workspace.maps.show_page("model")
    wait_until(lambda: workspace.maps.model.seen is not None)


def _show_inside(workspace: "TrainWorkspace") -> None:
    """Show the answer after each layer and what each head adds to it."""
    workspace.maps.show_page("inside")
    wait_until(lambda: workspace.maps.inside.stream is not None)


def _show_norms(workspace: "TrainWorkspace") -> None:
    """Show the norms of the layers' gradients in place of the loss, on a logarithmic scale."""
    workspace.curves.switch.buttons()[1].click()
    workspace.curves.scale_button.setChecked(True)


def _compare_insides(workspace: "TrainWorkspace") -> None:
    """Show the same for two seeds."""
    _compare(workspace)
    _show_inside(workspace)
    second = _find_tools(workspace).comparing.second
    assert second is not None
    wait_until(lambda: second.inside.stream is not None)


def _compare_models(workspace: "TrainWorkspace") -> None:
    """Show the same task without and with attention, as diagrams, at the third step."""
    _compare(workspace, make_run(LUONG))
    _show_model(workspace)
    second = _find_tools(workspace).comparing.second
    assert second is not None
    wait_until(lambda: second.model.seen is not None)
    workspace.maps.model.view.chosen.emit("step 2")


def _show_encoder(workspace: "TrainWorkspace") -> None:
    """Show an untrained encoder beside the decoder, as diagrams."""
    _show_model(workspace)
    comparing = _find_tools(workspace).comparing
    comparing.compare_kind("encoder")
    wait_until(lambda: comparing.second is not None and comparing.second.model.seen is not None)


def _present_model(playground: "Playground", window: MainWindow) -> None:
    """Present the diagram, or both, in a window of the size of the main one, at the chosen attention."""
    model = _open(window).maps.model
    wait_until(lambda: all(page.view.data is not None for page in model.pair))
    model.present()
    other = next(iter(list_others(window)))
    other.showNormal()
    other.setGeometry(window.geometry())


def _show_gradients(workspace: "TrainWorkspace") -> None:
    workspace.maps.head.gradients.click()
    wait_until(lambda: workspace.maps.view.data[0].kind == "signed")


def _compare(workspace: "TrainWorkspace", folder: Path | None = None) -> None:
    """Show another run beside this one, by default that of another seed."""
    comparing = _find_tools(workspace).comparing
    comparing.compare(make_run(REVERSE, seed=1) if folder is None else folder)
    wait_until(lambda: comparing.second is not None and comparing.second.seen is not None)


def _queue(playground: "Playground", window: MainWindow) -> None:
    """Show the results of three seeds."""
    from attnlab.training.questions import SEEDS, vary
    from attnlab.training.run import Run
    from attnlab.training.store import load

    _show_run(REVERSE)(playground, window)
    workspace = _open(window)
    queue = _find_tools(workspace).queue
    runs = [Run.of(load(make_run(REVERSE, seed))) for seed in SEEDS[:3]]
    queue.begin("Seeds 0 to 2", vary(runs[0].spec, "seed", SEEDS[:3]), runs)
    wait_until(lambda: not queue.measuring and all(entry.patterns for entry in queue.entries))
    workspace.settings.ensureWidgetVisible(_find_tools(workspace).queue_panel)
    settle(window)
