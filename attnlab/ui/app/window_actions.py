"""Everything the window can do, as one list: it feeds the shortcuts, the menu and the command palette."""

from functools import partial
from typing import TYPE_CHECKING

from attnlab.ui.app.file_actions import file_actions
from attnlab.ui.app.recent_files import recent_actions
from attnlab.ui.app.unsaved_actions import unsaved_actions
from attnlab.ui.base.actions import Action
from attnlab.ui.train.actions import train_actions

if TYPE_CHECKING:
    from attnlab.document.document import View
    from attnlab.ui.app.main_window import MainWindow
    from attnlab.ui.lessons.draft import Draft
    from attnlab.ui.widgets.fields.pill import Pill

SWITCHES = {
    "masks": "Mask…", "scale": "Scale…", "heads": "Heads…", "score": "Score…", "normalizer": "Weights…",
    "positions": "Positions…",
}  # fmt: skip
"""The switches of the bar that open a list, by the names that they have there."""
SECTIONS = ("File", "Recent", "Unsaved work", "Edit", "Layer", "View", "Compare", "Steps", "Lessons", "Train", "Window")


def window_actions(w: "MainWindow") -> list[Action]:
    """Return the actions of a window; each asks the window what is possible just now."""
    of_files, of_layer = (
        [*file_actions(w), *recent_actions(w), *unsaved_actions(w)],
        [*_edit(w), *_layer(w), *_view(w), *_compare(w)],
    )
    return [*of_files, *of_layer, *_steps(w), *_lessons(w), *train_actions(w), *_window(w)]


def _loaded(w: "MainWindow") -> bool:
    return w.playground is not None


def _editing(w: "MainWindow") -> "Draft | None":
    """Return the lesson that is written just now, whose keys undo and save it; None beside the editor."""
    return w.desk.editing if w.desk is not None else None


def _edit(w: "MainWindow") -> list[Action]:
    def label(which: str) -> str | None:
        if (draft := _editing(w)) is not None:
            return getattr(draft, f"{which}_label") or None
        return getattr(w.playground.document.history, f"{which}_label") if w.playground is not None else None

    def title(which: str) -> str:
        name = label(which)
        return f"{which.capitalize()} “{name}”" if name else which.capitalize()

    def walk(which: str) -> None:
        if w.playground is not None:
            getattr(_editing(w) or w.playground.document, which)()

    return [
        Action(
            "undo", lambda: title("undo"), "Edit", lambda: walk("undo"), ("Ctrl+Z",), lambda: label("undo") is not None
        ),
        Action(
            "redo",
            lambda: title("redo"),
            "Edit",
            lambda: walk("redo"),
            ("Ctrl+Shift+Z", "Ctrl+Y"),
            lambda: label("redo") is not None,
        ),
        Action("history", "History…", "Edit", w.do("open_history"), ("Ctrl+H",), lambda: _loaded(w)),
    ]


def _layer(w: "MainWindow") -> list[Action]:
    def causal() -> bool:
        return w.playground is not None and w.playground.document.experiment.config.causal

    def painted() -> bool:
        return w.playground is not None and w.playground.document.experiment.config.mask is not None

    return [
        Action("causal", "Causal mask", "Layer", w.do("toggle_causal"), ("Ctrl+M",), lambda: _loaded(w), causal),
        Action("output", "Output weights W_o", "Layer", w.do("toggle_output"), (), lambda: _loaded(w)),
        Action("biases", "Biases", "Layer", w.do("toggle_biases"), (), lambda: _loaded(w)),
        Action(
            "paint-mask",
            "Paint the mask on the cards",
            "Layer",
            w.do("toggle_painting"),
            ("Ctrl+Shift+M",),
            lambda: _loaded(w),
            lambda: w.playground is not None and w.playground.canvas.painting,
        ),
        Action("clear-mask", "Clear the painted mask", "Layer", w.do("clear_mask"), (), painted),
        Action("sentence", "Edit the sentence", "Layer", w.do("focus_sentence"), ("Ctrl+L",), lambda: _loaded(w)),
        *(_switch(w, name, title) for name, title in SWITCHES.items()),
    ]


def _switch(w: "MainWindow", name: str, title: str) -> Action:
    """Return what opens a switch of the bar; its choices and settings are found by their names."""

    def pill() -> "Pill | None":
        return w.playground.top_bar.switches.by_name[name] if w.playground is not None else None

    def parts() -> list[str]:
        found = pill()
        return found.offered() if found is not None else []

    def open_it() -> None:
        if w.rail.place != 0:
            w.show_workspace(0)
        if (found := pill()) is not None:
            found.open()

    return Action(f"switch-{name}", title, "Layer", open_it, enabled=lambda: _loaded(w), parts=parts)


def _view(w: "MainWindow") -> list[Action]:
    def view() -> "View | None":
        return w.playground.document.view if w.playground is not None else None

    def several() -> bool:
        return w.playground is not None and w.playground.document.experiment.n_heads > 1

    def showing(head: str) -> bool:
        now = view()
        return now is not None and now.head == head

    return [
        Action("fit", "Fit the canvas", "View", w.do("canvas.fit"), ("Ctrl+9",), lambda: _loaded(w)),
        Action("all-heads", "Show all heads", "View", w.do("show_all_heads"), (), several, lambda: showing("all")),
        Action(
            "mean-head", "Show the mean of the heads", "View", w.do("show_mean"), (), several, lambda: showing("mean")
        ),
        Action("larger", "Larger type", "View", lambda: w.step_type_size(1), ("Ctrl++", "Ctrl+=")),
        Action("smaller", "Smaller type", "View", lambda: w.step_type_size(-1), ("Ctrl+-",)),
        Action("usual", "Usual size of type", "View", lambda: w.step_type_size(0), ("Ctrl+0",)),
        *(
            Action(
                f"theme-{name}",
                f"Theme: {name}",
                "View",
                lambda name=name: w.set_theme(name),  # type: ignore[misc]
                checked=lambda name=name: w.settings.theme == name,  # type: ignore[misc]
            )
            for name in ("system", "light", "dark", "contrast-light", "contrast-dark")
        ),
    ]


def _compare(w: "MainWindow") -> list[Action]:
    def pinned() -> bool:
        return w.playground is not None and w.playground.pinned is not None

    def look(name: str) -> None:
        if w.playground is not None:
            w.playground.look(name)

    def looks(name: str) -> bool:
        return w.playground is not None and pinned() and w.playground.document.view.look == name

    def strips() -> bool:
        return w.playground is not None and w.playground.document.view.strips

    def lens(name: str) -> None:
        if w.playground is not None:
            w.playground.lenses.open_lens(name)

    def shows(name: str) -> bool:
        return w.playground is not None and w.playground.lenses.current == name

    titles = {"canvas": "Canvas", "statistics": "Statistics", "positions": "Positions", "saturation": "Saturation"}
    titles |= {"precision": "Precision", "cost": "Cost"}
    return [
        Action(
            "pin", lambda: "Unpin the state" if pinned() else "Pin the state", "Compare", w.do("toggle_pin"),
            ("Ctrl+D",), lambda: _loaded(w),
        ),
        *(
            Action(
                f"look-{name}", f"Cards show: {title}", "Compare", partial(look, name), (), pinned, partial(looks, name)
            )
            for name, title in (("present", "present"), ("pinned", "pinned"), ("difference", "difference"))
        ),
        Action("figures", "Figures on the cards", "Compare", w.do("toggle_strips"), (), lambda: _loaded(w), strips),
        *(
            Action(
                f"lens-{name}", f"Lens: {title}", "Compare", partial(lens, name), (), lambda: _loaded(w),
                partial(shows, name),
            )
            for name, title in titles.items()
        ),
    ]  # fmt: skip


def _steps(w: "MainWindow") -> list[Action]:
    def goes_by(depth: str) -> bool:
        return w.playground is not None and w.playground.document.view.depth == depth

    def go_by(depth: str) -> None:
        if w.playground is not None:
            w.playground.document.show(depth=depth)

    def deepen(by: int) -> None:
        if w.playground is not None:
            w.playground.step_bar.deepen(by)

    def playing() -> bool:
        return w.playground is not None and w.playground.step_bar.playing

    return [
        Action(
            "step-back",
            "Step back",
            "Steps",
            w.do("step_bar.step_back"),
            ("Alt+Left",),
            lambda: _loaded(w),
            hint="← outside of tables",
        ),
        Action(
            "step-next",
            "Step forward",
            "Steps",
            w.do("step_bar.step_next"),
            ("Alt+Right",),
            lambda: _loaded(w),
            hint="→ outside of tables",
        ),
        Action("step-first", "First step", "Steps", w.do("step_bar.step_first"), (), lambda: _loaded(w)),
        Action("step-last", "Show all steps", "Steps", w.do("step_bar.step_last"), (), lambda: _loaded(w)),
        Action("step-go", "Go to step…", "Steps", w.do("step_bar.ask_step"), ("G",), lambda: _loaded(w)),
        Action(
            "step-play", lambda: "Pause the steps" if playing() else "Play the steps", "Steps",
            w.do("step_bar.step_play"), ("P",), lambda: _loaded(w),
        ),
        *(
            Action(
                f"step-by-{depth}", f"Step by {depth}", "Steps", partial(go_by, depth), (), lambda: _loaded(w),
                partial(goes_by, depth),
            )
            for depth in ("stage", "row", "cell", "term")
        ),
        Action("step-deeper", "Smaller steps", "Steps", partial(deepen, 1), ("D",), lambda: _loaded(w)),
        Action("step-shallower", "Larger steps", "Steps", partial(deepen, -1), ("Shift+D",), lambda: _loaded(w)),
    ]  # fmt: skip


def _lessons(w: "MainWindow") -> list[Action]:
    def loaded() -> bool:
        return _loaded(w)

    def walking() -> bool:
        return w.desk is not None and w.desk.player.slide is not None

    def before() -> bool:
        return w.desk is not None and not w.desk.player.at_start

    def after() -> bool:
        return w.desk is not None and not w.desk.player.at_end

    def drafted() -> bool:
        return w.desk is not None and w.desk.draft is not None

    return [
        Action("lesson-open", "Open a lesson…", "Lessons", w.teach("ask_open"), (), loaded),
        Action("lesson-new", "New lesson", "Lessons", w.teach("new_draft"), (), loaded),
        Action("lesson-next", "Next in the lesson", "Lessons", w.teach("player.next"), ("Alt+PgDown",), after,
               hint="PageDown outside of tables"),
        Action("lesson-back", "Back in the lesson", "Lessons", w.teach("player.back"), ("Alt+PgUp",), before,
               hint="PageUp outside of tables"),
        Action("lesson-close", "Close the lesson", "Lessons", w.teach("close"), (), walking),
        Action("present", "Present", "Lessons", w.teach("present"), ("F5",), loaded,
               hint="Present the open lesson from here, or a tour of what is open"),
        Action("present-first", "Present from the first step", "Lessons", w.teach("present", True), ("Shift+F5",),
               loaded),
        Action("add-step", "Add this view as a step", "Lessons", w.teach("add_step"), ("Ctrl+Shift+A",), loaded),
        Action("edit-lesson", "Edit the recorded lesson", "Lessons", w.teach("show_draft"), (), drafted),
        Action("exercise", "Make an exercise…", "Lessons", w.teach("make_exercise"), (), loaded),
        Action("solution-markdown", "Copy the worked solution as Markdown", "Lessons",
               w.teach("copy_solution", "markdown"), (), loaded),
        Action("solution-latex", "Copy the worked solution as LaTeX", "Lessons", w.teach("copy_solution", "latex"),
               (), loaded),
        Action("solution-save", "Save the worked solution…", "Lessons", w.teach("ask_save_solution"), (), loaded),
    ]  # fmt: skip


def _window(w: "MainWindow") -> list[Action]:
    return [
        Action("workspace-1", "Playground", "Window", lambda: w.show_workspace(0), ("Ctrl+1",)),
        Action("workspace-2", "Lessons", "Window", lambda: w.show_workspace(1), ("Ctrl+2",), lambda: _loaded(w)),
        Action("workspace-3", "Train", "Window", lambda: w.show_workspace(2), ("Ctrl+3",), lambda: _loaded(w)),
        Action("palette", "Command palette…", "Window", w.show_palette, ("Ctrl+K",), in_palette=False),
        Action("full-screen", "Full screen", "Window", w.toggle_full_screen, ("F11",), checked=w.isFullScreen),
        Action("quit", "Quit", "Window", w.close, ("Ctrl+Q",)),
    ]
