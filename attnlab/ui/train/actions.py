"""The actions of the Train section: what starts and stops a training, and walks its moments."""

from typing import TYPE_CHECKING

from attnlab.ui.base.actions import Action

if TYPE_CHECKING:
    from attnlab.ui.app.main_window import MainWindow

FILM = "Export a film of the training…"


def train_actions(w: "MainWindow") -> list[Action]:
    """Return what can be done with a training; each shows the workspace first."""

    def loaded() -> bool:
        return w.playground is not None

    def alive() -> bool:
        return w.trainer is not None and w.trainer.session.alive

    def running() -> bool:
        return alive() and w.trainer is not None and w.trainer.session.state == "running"

    def there() -> bool:
        return w.trainer is not None and w.trainer.session.run is not None

    def gradients() -> bool:
        return w.trainer is not None and w.trainer.session.looking.gradients

    def logarithmic() -> bool:
        return w.trainer is not None and w.trainer.curves.scale_button.isChecked()

    def film() -> str:
        return "" if w.trainer is not None and w.trainer.shown else FILM  # which is in File then, with a key

    def opened() -> bool:
        tools = w.trainer.tools if w.trainer is not None else None
        return tools is not None and tools.round_trip.origin is not None

    return [
        Action("train-start", lambda: "Pause the training" if running() else "Start or resume training", "Train",
               w.train("start"), ("Ctrl+Return",), loaded),
        Action("train-step", "Take one step of training", "Train", w.train("step"), (), loaded),
        Action("train-stop", "Stop the training", "Train", w.train("session.stop"), (), alive),
        Action("train-reset", "Reset to the first weights", "Train", w.train("reset"), (), there),
        Action("train-play", "Play the recorded moments", "Train", w.train("footer.toggle_playing"), (), there,
               hint="Space on the time line"),
        Action("train-mark", "Mark this moment", "Train", w.train("footer.mark"), (), there, hint="M on the time line"),
        Action("train-first", "First recorded moment", "Train", w.train("footer.go_first"), (), there),
        Action("train-last", "Latest moment, and follow the training", "Train", w.train("footer.go_last"), (), there),
        Action("train-probe", "Edit the probe", "Train", w.train("maps.focus_probe"), (), loaded),
        Action("train-gradients", "Gradients of the attention weights", "Train", w.train("maps.gradients.toggle"), (),
               loaded, gradients),
        Action("train-log", "Logarithmic loss", "Train", w.train("curves.scale_button.toggle"), (), loaded,
               logarithmic),
        Action("train-open", "Open this layer in the playground", "Train", w.train("tools.round_trip.open_layer"), (),
               loaded, hint="From the moment that is shown, with its real inputs, weights and tokens"),
        Action("train-send-back", "Send the weights back to the training", "Train",
               w.train("tools.round_trip.send_back"), (), opened),
        Action("train-figure", "Export the maps of the training…", "Train", w.train("tools.export_figure"), (), loaded,
               hint="The maps that are shown as PNG, SVG, PDF or a table"),
        Action("train-film", film, "Train", w.train("tools.export_film"), (), there,
               hint="The maps of the recorded moments as GIF, APNG, MP4 or a folder of PNGs"),
        Action("train-runs", "All runs…", "Train", w.train("tools.show_runs"), (), loaded,
               hint="Compare, open, rename and delete runs that are kept"),
    ]  # fmt: skip
