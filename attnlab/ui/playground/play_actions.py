"""The actions of the playground: its layer, view, comparison and steps, and the code that it exports."""

from functools import partial
from typing import TYPE_CHECKING, Any

from attnlab.lessons.lenses import LENSES
from attnlab.ui.base.actions import Action, Context

if TYPE_CHECKING:
    from attnlab.ui.playground.playground import Playground

SWITCHES = {
    "masks": "Mask…",
    "scale": "Scale…",
    "heads": "Heads…",
    "score": "Score…",
    "normalizer": "Weights…",
    "positions": "Positions…",
    "block": "Block…",
}
"""The switches of the top bar that open a list, by name."""


def play_actions(play: "Context[Playground]") -> list[Action[Any]]:
    """Return the actions on the layer, the view, the comparison and the steps."""
    return [*_layer(play), *_view(play), *_compare(play), *_steps(play)]


def _layer(play: "Context[Playground]") -> list[Action[Any]]:
    return [
        Action(
            "causal",
            "Causal mask",
            "Layer",
            play,
            lambda p: p.toggle_causal(),
            ("Ctrl+M",),
            checked=lambda p: p.document.experiment.config.causal,
        ),
        Action("output", "Output weights W_o", "Layer", play, lambda p: p.toggle_output()),
        Action("biases", "Biases", "Layer", play, lambda p: p.toggle_biases()),
        Action(
            "second-sequence",
            "Second sequence",
            "Layer",
            play,
            lambda p: p.toggle_second_sequence(),
            checked=lambda p: p.document.experiment.memory_tokens is not None,
        ),
        Action(
            "paint-mask",
            "Paint the mask on the cards",
            "Layer",
            play,
            lambda p: p.mask.toggle(),
            ("Ctrl+Shift+M",),
            checked=lambda p: p.canvas.painting,
        ),
        Action(
            "clear-mask",
            "Clear the painted mask",
            "Layer",
            play,
            lambda p: p.mask.clear(),
            enabled=lambda p: p.document.experiment.config.mask is not None,
        ),
        Action(
            "numbers",
            "Edit the numbers…",
            "Layer",
            play,
            lambda p: p.open_table(""),
            parts=_list_tables,
            choose=lambda p, title: p.open_table(_list_tables(p)[title]),
        ),
        Action("sentence", "Edit the sentence", "Layer", play, lambda p: p.focus_sentence(), ("Ctrl+L",)),
        *(
            Action(
                f"switch-{name}",
                title,
                "Layer",
                play,
                partial(_open_switch, name),
                parts=partial(_list_offered, name),
                choose=partial(_choose_offered, name),
            )
            for name, title in SWITCHES.items()
        ),
        Action(
            "device",
            "Device and number format…",
            "Layer",
            play,
            lambda p: p.top_bar.device.open(),
            parts=lambda p: p.top_bar.device.list_entries(),
            choose=lambda p, entry: p.top_bar.device.choose_entry(entry),
        ),
    ]


def _list_tables(playground: "Playground") -> dict[str, str]:
    """Return the names of the tables of numbers by their titles."""
    return {tab.text(): name for name, tab in playground.inputs.tabs.items() if not tab.isHidden()}


def _open_switch(name: str, playground: "Playground") -> None:
    playground.top_bar.switches.by_name[name].open()


def _choose_offered(name: str, playground: "Playground", entry: str) -> None:
    playground.top_bar.switches.by_name[name].choose_entry(entry)


def _list_offered(name: str, playground: "Playground") -> list[str]:
    """Return the names of a switch's choices and settings, by which the palette finds it."""
    return playground.top_bar.switches.by_name[name].list_entries()


def _view(play: "Context[Playground]") -> list[Action[Any]]:
    def several(playground: "Playground") -> bool:
        return playground.document.experiment.n_heads > 1

    return [
        Action("fit", "Fit the canvas", "View", play, lambda p: p.canvas.fit(), ("Ctrl+9",)),
        Action("explain", "Go to Explain", "View", play, lambda p: p.focus_explanation()),
        Action(
            "all-heads",
            "Show all heads",
            "View",
            play,
            lambda p: p.show_all_heads(),
            enabled=several,
            checked=lambda p: p.document.view.head == "all",
        ),
        Action(
            "mean-head",
            "Show the mean of the heads",
            "View",
            play,
            lambda p: p.show_mean(),
            enabled=several,
            checked=lambda p: p.document.view.head == "mean",
        ),
    ]


def _compare(play: "Context[Playground]") -> list[Action[Any]]:
    def look(name: str, playground: "Playground") -> None:
        playground.comparison.look(name)

    def looks(name: str, playground: "Playground") -> bool:
        return playground.comparison.pinned is not None and playground.document.view.look == name

    def open_lens(name: str, playground: "Playground") -> None:
        playground.lenses.open_lens(name)

    def shows(name: str, playground: "Playground") -> bool:
        return playground.lenses.current == name

    return [
        Action(
            "pin",
            "Pin the state",
            "Compare",
            play,
            lambda p: p.comparison.toggle(),
            ("Ctrl+D",),
            title_now=lambda p: "Unpin the state" if p.comparison.pinned is not None else "Pin the state",
        ),
        *(
            Action(
                f"look-{name}",
                f"Cards show: {name}",
                "Compare",
                play,
                partial(look, name),
                enabled=lambda p: p.comparison.pinned is not None,
                checked=partial(looks, name),
            )
            for name in ("present", "pinned", "both", "difference")
        ),
        Action(
            "figures",
            "Figures on the cards",
            "Compare",
            play,
            lambda p: p.toggle_strips(),
            checked=lambda p: p.document.view.strips,
        ),
        *(
            Action(
                f"lens-{name}",
                f"Lens: {title}",
                "Compare",
                play,
                partial(open_lens, name),
                checked=partial(shows, name),
            )
            for name, title in (("canvas", "Canvas"), *((name, lens.title) for name, lens in LENSES.items()))
        ),
    ]


def _steps(play: "Context[Playground]") -> list[Action[Any]]:
    def go_by(depth: str, playground: "Playground") -> None:
        playground.document.show(depth=depth)

    def goes_by(depth: str, playground: "Playground") -> bool:
        return playground.document.view.depth == depth

    return [
        Action(
            "step-back",
            "Step back",
            "Steps",
            play,
            lambda p: p.step_bar.step_back(),
            ("Alt+Left",),
            hint="← outside tables",
        ),
        Action(
            "step-next",
            "Step forward",
            "Steps",
            play,
            lambda p: p.step_bar.step_next(),
            ("Alt+Right",),
            hint="→ outside tables",
        ),
        Action("step-first", "First step", "Steps", play, lambda p: p.step_bar.step_first()),
        Action("step-last", "Show all steps", "Steps", play, lambda p: p.step_bar.step_last()),
        Action("step-go", "Go to step…", "Steps", play, lambda p: p.step_bar.ask_step(), ("G",)),
        Action(
            "step-play",
            "Play the steps",
            "Steps",
            play,
            lambda p: p.step_bar.step_play(),
            ("P",),
            title_now=lambda p: "Pause the steps" if p.step_bar.playing else "Play the steps",
        ),
        *(
            Action(
                f"step-by-{depth}",
                f"Step by {depth}",
                "Steps",
                play,
                partial(go_by, depth),
                checked=partial(goes_by, depth),
            )
            for depth in ("stage", "row", "cell", "term")
        ),
        Action("step-deeper", "Smaller steps", "Steps", play, lambda p: p.step_bar.deepen(1), ("D",)),
        Action("step-shallower", "Larger steps", "Steps", play, lambda p: p.step_bar.deepen(-1), ("Shift+D",)),
    ]


def code_actions(play: "Context[Playground]") -> list[Action[Any]]:
    """Return the actions that export code and matrices, to the clipboard and into files."""

    def copy_matrix(name: str, playground: "Playground") -> None:
        playground.code.copy_matrix(name)

    def ready(playground: "Playground") -> bool:
        return playground.code.ready

    script = "Plain PyTorch code that computes every stage of the current state"
    matrix = "The table with keyboard focus, else the held or visible stage"
    return [
        Action(
            "copy-script",
            "Copy as PyTorch script",
            "File",
            play,
            lambda p: p.code.copy_script(),
            enabled=ready,
            hint=script,
        ),
        Action(
            "save-script",
            "Save as PyTorch script…",
            "File",
            play,
            lambda p: p.code.ask_code(".py"),
            enabled=ready,
            hint=script,
        ),
        Action(
            "save-notebook",
            "Save as Jupyter notebook…",
            "File",
            play,
            lambda p: p.code.ask_code(".ipynb"),
            enabled=ready,
            hint=script,
        ),
        *(
            Action(
                f"copy-{name.lower()}",
                f"Copy matrix as {name}",
                "File",
                play,
                partial(copy_matrix, name.lower()),
                enabled=ready,
                hint=matrix,
            )
            for name in ("LaTeX", "NumPy", "Markdown", "CSV")
        ),
    ]
