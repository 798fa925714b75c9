"""The actions on a training: starting and stopping it, walking its moments, and its exports."""

from typing import TYPE_CHECKING, Any

from attnlab.ui.base.actions import Action, Context

if TYPE_CHECKING:
    from attnlab.ui.train.round_trip import RoundTrip
    from attnlab.ui.train.train_tools import TrainTools
    from attnlab.ui.train.train_workspace import TrainWorkspace

FILM = "Export a film of the training…"


def train_actions(train: "Context[TrainWorkspace]") -> list[Action[Any]]:
    """Return the actions on a training; each shows the workspace first."""
    tools: Context[TrainTools] = train.part(_find_tools)
    trip: Context[RoundTrip] = tools.part(lambda t: t.round_trip)

    def is_alive(trainer: "TrainWorkspace") -> bool:
        return trainer.session.alive

    def has_run(trainer: "TrainWorkspace") -> bool:
        return trainer.session.run is not None

    def start_title(trainer: "TrainWorkspace") -> str:
        running = is_alive(trainer) and trainer.session.state == "running"
        return "Pause the training" if running else "Start or resume training"

    return [
        Action(
            "train-start",
            "Start or resume training",
            "Train",
            train,
            lambda t: t.start(),
            ("Ctrl+Return",),
            title_now=start_title,
        ),
        Action("train-step", "Take one step of training", "Train", train, lambda t: t.step()),
        Action("train-stop", "Stop the training", "Train", train, lambda t: t.session.stop(), enabled=is_alive),
        Action("train-reset", "Reset to the first weights", "Train", train, lambda t: t.reset(), enabled=has_run),
        Action(
            "train-play",
            "Play the recorded moments",
            "Train",
            train,
            lambda t: t.footer.toggle_playing(),
            enabled=has_run,
            hint="Space on the time line",
        ),
        Action(
            "train-mark",
            "Mark this moment",
            "Train",
            train,
            lambda t: t.footer.mark(),
            enabled=has_run,
            hint="M on the time line",
        ),
        Action("train-first", "First recorded moment", "Train", train, lambda t: t.footer.go_first(), enabled=has_run),
        Action(
            "train-last",
            "Latest moment, and follow the training",
            "Train",
            train,
            lambda t: t.footer.go_last(),
            enabled=has_run,
        ),
        Action("train-probe", "Edit the input", "Train", train, lambda t: t.maps.head.focus_probe()),
        Action(
            "train-present",
            "Present the diagram",
            "Train",
            train,
            lambda t: t.present(),
            enabled=lambda t: t.maps.seen is not None,
            hint="On the whole screen, block by block; F5 if no lesson is open",
        ),
        Action(
            "train-inside",
            "Look inside the model",
            "Train",
            train,
            lambda t: t.maps.show_page("maps" if t.maps.page == "inside" else "inside"),
            checked=lambda t: t.maps.page == "inside",
            hint="The answer after each layer, and what each head adds to it, in place of the maps",
        ),
        Action(
            "train-beside",
            "Show another kind of model beside this one…",
            "Train",
            tools,
            lambda t: t.comparing.ask_kind(),
            hint="Untrained, with the same input, such as an encoder beside a decoder",
        ),
        Action(
            "train-gradients",
            "Gradients of the attention weights",
            "Train",
            train,
            lambda t: t.maps.head.gradients.toggle(),
            checked=lambda t: t.session.inspection.gradients,
        ),
        Action(
            "train-log",
            "Logarithmic loss",
            "Train",
            train,
            lambda t: t.curves.scale_button.toggle(),
            checked=lambda t: t.curves.scale_button.isChecked(),
        ),
        Action(
            "train-open",
            "Open this layer in the playground",
            "Train",
            trip,
            lambda t: t.open_layer(),
            hint="At the visible moment, with its real inputs, weights and tokens",
        ),
        Action(
            "train-send-back",
            "Send the weights back to the training",
            "Train",
            trip,
            lambda t: t.send_back(),
            enabled=lambda t: t.origin is not None,
        ),
        Action(
            "train-figure",
            "Export the maps of the training…",
            "Train",
            tools,
            lambda t: t.export_figure(),
            hint="The visible maps as PNG, SVG, PDF or a table",
        ),
        Action(
            "train-curves-figure",
            "Export the curves…",
            "Train",
            tools,
            lambda t: t.figures.ask_curves(),
            hint="Loss, accuracy and the course of each head, as shown, as PNG, SVG or PDF, or the numbers as CSV",
        ),
        Action(
            "train-answer-figure",
            "Export the answers…",
            "Train",
            tools,
            lambda t: t.figures.ask_answers(),
            hint="The answer to your input, the examples and the generated text, as PNG, SVG or PDF",
        ),
        Action(
            "train-film",
            FILM,
            "Train",
            train,
            _export_film,
            enabled=has_run,
            title_now=lambda t: "" if t.is_shown else FILM,  # it is in File then, with a key
            hint="The maps of the recorded moments as GIF, APNG, MP4 or a folder of PNGs",
        ),
        Action(
            "train-runs",
            "All runs…",
            "Train",
            tools,
            lambda t: t.show_runs(),
            hint="Compare, open, rename and delete saved runs",
        ),
    ]


def _find_tools(workspace: "TrainWorkspace") -> "TrainTools | None":
    from attnlab.ui.train.train_tools import find_tools

    return find_tools(workspace)


def _export_film(workspace: "TrainWorkspace") -> None:
    if (tools := _find_tools(workspace)) is not None:
        tools.export_film()
