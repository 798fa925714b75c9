"""The playground: inputs, canvas and explanation of one document, and the connections between them."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from attnlab.attention import edits
from attnlab.attention.edits.second_sequence import toggle_memory
from attnlab.attention.examples.presets import PRESETS, preset
from attnlab.base.errors import AttnlabError
from attnlab.compute.engine import devices
from attnlab.compute.service import ComputeService, Reply
from attnlab.document.document import Document, View
from attnlab.document.scene import Scene
from attnlab.lessons.lenses import LENSES
from attnlab.ui.base.jobs import Lane, run
from attnlab.ui.export.code_export import CodeExport
from attnlab.ui.playground.announcements import Announcements
from attnlab.ui.playground.cell_actions import CellActions
from attnlab.ui.playground.colour_menu import make_colour_menu
from attnlab.ui.playground.columns import Columns
from attnlab.ui.playground.comparison import Comparison
from attnlab.ui.playground.example_about import find_about
from attnlab.ui.playground.explain_panel import ExplainPanel
from attnlab.ui.playground.first_steps import FirstSteps
from attnlab.ui.playground.first_steps_place import FirstStepsPlace
from attnlab.ui.playground.header import Header
from attnlab.ui.playground.history_list import HistoryList
from attnlab.ui.playground.inputs_panel import InputsPanel
from attnlab.ui.playground.inputs_spine import InputsSpine
from attnlab.ui.playground.lens_area import LensArea
from attnlab.ui.playground.lens_bar import CANVAS
from attnlab.ui.playground.live_numbers import LiveNumbers, Views
from attnlab.ui.playground.mask_painting import MaskPainting
from attnlab.ui.playground.message_life import MessageLife
from attnlab.ui.playground.preset_gallery import PresetGallery, thumbnail
from attnlab.ui.playground.session_files import SessionFiles
from attnlab.ui.playground.step_bar import StepBar
from attnlab.ui.playground.view_control import ViewControl

if TYPE_CHECKING:
    from pathlib import Path


class Playground(QObject):
    """Owns the document, the worker and the views, and connects their signals."""

    computed = Signal(object)
    """As of :class:`LiveNumbers`."""
    explained = Signal()
    """As of :class:`LiveNumbers`."""
    title_changed = Signal(str)

    def __init__(self, scene: Scene, label: str, service: ComputeService, parent: QWidget, page: QWidget) -> None:
        """``page`` is the parent of the parts: created inside it, each is styled once and not again when moved."""
        super().__init__(parent)
        self.document = Document(label, scene, self)
        self.service = service
        self.numbers = LiveNumbers(self.document, service, self)  # first: the worker computes while the views change
        self.lane = Lane("between", self, around=service.between)
        """Runs jobs one at a time, between requests."""
        self.header = Header(self.document, devices(), page)  # first, as Tab follows the order of creation
        self.top_bar = self.header.top_bar
        self.body = Columns(page)
        self.spine = InputsSpine(document=self.document, parent=self.body)
        self.inputs = InputsPanel(self.document, self.body)
        self.lenses = LensArea(self.run_for_lens, self.body)
        self.canvas = self.lenses.canvas
        self.explain = ExplainPanel(self.body)
        self.step_bar = StepBar(page)
        MessageLife(self.step_bar, lambda: self.numbers.warning)
        self.body.fill(self.spine, self.inputs, self.lenses, self.explain, self.lenses)
        self.gallery = PresetGallery(parent)
        self.history = HistoryList(parent)
        self.files = SessionFiles(self, parent)
        self.code = CodeExport(self, parent)
        self.comparison = Comparison(self.document, self.numbers.find_trace, self)
        self.view_control = ViewControl(self.document, self)
        self.mask, self.cells = MaskPainting(self), CellActions(self.lenses, self.view_control, self.numbers.find_trace)
        self.first_steps = FirstSteps(self)
        self.first_steps.watch(self.canvas, self.inputs, self.step_bar)
        self.first_steps_place = FirstStepsPlace(self.first_steps, self.inputs, self.lenses)
        self._connect()
        self.announcements = Announcements(self.document, self.canvas, self.step_bar, self.inputs.table, self)
        self.computed.connect(self.announcements.show_computed)
        self.numbers.request()
        self._on_scene_changed(scene)
        self._on_history_changed()
        self._open_lens_of(scene.preset)

    def _connect(self) -> None:
        document, canvas, control = self.document, self.canvas, self.view_control
        document.scene_changed.connect(self._on_scene_changed)
        self.numbers.show_on(Views(self.header.remarks, self.lenses, self.explain, self.step_bar, self.body))
        self.numbers.computed.connect(self.computed)
        self.numbers.explained.connect(self.explained)
        document.history_changed.connect(self._on_history_changed)
        document.message_raised.connect(self.step_bar.show_message)
        for shown in (canvas, self.lenses):
            shown.cell_hovered.connect(control.select_cell)
            shown.cell_clicked.connect(control.toggle_cell)
            shown.cell_moved.connect(control.hold_cell)
            shown.alone_requested.connect(control.show_alone)
            shown.colours_asked.connect(self.open_colours)
        canvas.head_clicked.connect(control.choose_head)
        canvas.head_ablated.connect(self._on_head_ablated)
        canvas.mask_painted.connect(self.mask.paint_cell)
        self.lenses.edit_requested.connect(document.edit)
        self.lenses.gesture_requested.connect(document.edit)
        self.lenses.export_requested.connect(self.files.export_sheets)
        self.lenses.save_requested.connect(self.files.ask_save_table)
        self.spine.table_requested.connect(self.open_table)
        self.spine.sentence_requested.connect(self.focus_sentence)
        self.inputs.fold_requested.connect(self._on_inputs_fold_requested)
        self.lenses.explain_requested.connect(self._on_explain_requested)
        self.explain.fold_requested.connect(self._on_explain_fold_requested)
        self.body.folded.connect(self._on_folded)
        self.lenses.lens_shown.connect(self._on_lens_shown)
        self.comparison.pin_changed.connect(canvas.show_pinned)
        self.comparison.pin_changed.connect(self.lenses.show_pinned)
        self.comparison.pin_changed.connect(self.explain.show_pinned)
        self.comparison.look_changed.connect(self.lenses.show_pin)
        self.lenses.pin_toggled.connect(self.comparison.toggle)
        self.lenses.look_chosen.connect(self.comparison.look)
        self.lenses.strips_toggled.connect(self.toggle_strips)
        self.explain.cell_clicked.connect(control.toggle_cell)
        for box in (self.inputs.query_box, self.inputs.memory_box):
            box.comparison_wanted.connect(self.comparison.pin_before)
        self.step_bar.place_requested.connect(control.show_place)
        self.step_bar.depth_requested.connect(control.show_depth)
        self.top_bar.head_chosen.connect(control.choose_head)
        self.top_bar.switches.painting_toggled.connect(self.mask.toggle)
        self.top_bar.switches.mask_cleared.connect(self.mask.clear)
        self.top_bar.gallery_requested.connect(self.open_gallery)
        self.top_bar.history_requested.connect(self.open_history)
        self.gallery.preset_chosen.connect(self.open_preset)
        self.history.step_chosen.connect(document.jump)

    @Slot(object)
    def _on_scene_changed(self, scene: Scene) -> None:
        self.step_bar.show_message("")
        self.explain.show_about(find_about(scene.preset, scene.experiment))

    @Slot()
    def _on_history_changed(self) -> None:
        if self.history.isVisible():
            self.history.fill(self.document.history)
        self.title_changed.emit(self.title())

    @property
    def reply(self) -> Reply | None:
        """The newest numbers on screen; None before the first."""
        return self.numbers.reply

    def run_for_lens(
        self,
        job: Callable[[], Any],
        on_done: Callable[[Any], object],
        on_failed: Callable[[str], object],
        latest: Hashable = None,
    ) -> None:
        """Run a job of a lens between requests."""
        run(job, on_done=on_done, on_failed=on_failed, latest=latest, lane=self.lane, doing="computing for a lens")

    @property
    def up_to_date(self) -> bool:
        """Whether the numbers of the open experiment are on the cards and in Explain."""
        return self.numbers.up_to_date

    def stop(self) -> None:
        """Finish saves and cancel all other work; may be called twice."""
        self.numbers.stop()
        self.first_steps.stop()
        self.files.stop()
        self.lane.close()

    def pages(self) -> tuple[QWidget, QWidget, QWidget]:
        """Return the bar of switches, the columns, and the bar of steps."""
        return self.header, self.body, self.step_bar

    def enter(self) -> None:
        """Give the focus to the canvas or the lens, unless something has it."""
        if self.lenses.window().focusWidget() is None:
            self.focus_view()

    def focus_view(self) -> None:
        """Give the focus to the canvas or the lens, where the arrow keys walk the steps."""
        if (shown := self.lenses.stack.currentWidget()) is not None:
            shown.setFocus()

    def leave(self) -> None:
        """Keep running: a training may send weights, a lesson its states."""

    def say(self, sentence: str) -> None:
        """Show a sentence in the bar of steps."""
        self.step_bar.show_message(sentence)

    def take_key(self, key: Qt.Key) -> bool:
        """Walk the steps with keys that no field handled."""
        step = {
            Qt.Key.Key_Left: self.step_bar.step_back,
            Qt.Key.Key_PageUp: self.step_bar.step_back,
            Qt.Key.Key_Right: self.step_bar.step_next,
            Qt.Key.Key_PageDown: self.step_bar.step_next,
            Qt.Key.Key_Home: self.step_bar.step_first,
            Qt.Key.Key_End: self.step_bar.step_last,
        }.get(key)
        if step is None or not self.step_bar.isVisible():
            return False
        step()
        return True

    def escape(self) -> None:
        """Close the card that fills the canvas and keep the focus there; else release the cell, so that arrows walk."""
        was_alone = self.document.view.alone is not None
        self.let_go()
        if not was_alone:
            self.canvas.setFocus()

    def arrange(self, width: int) -> None:
        """Divide a width in pixels among the columns."""
        self.body.arrange(width)
        window = self.header.window().size()
        self.header.arrange(window.width() - width, window.height())

    @property
    def current_stage(self) -> str:
        """The stage in view: the one alone, else the selected one, else the weights."""
        view = self.document.view
        return view.alone or (view.cell.stage if view.cell is not None else "weights")

    @property
    def current_head(self) -> int | str:
        """The head shown; while all are shown, the head of the held cell."""
        view = self.document.view
        held = view.cell.head if view.pinned and view.cell is not None else None
        return held if view.head == "all" and held is not None else view.head

    def title(self) -> str:
        """Return the name of the open session or preset, with a mark if it was changed."""
        name = self.document.path.stem if self.document.path is not None else self.document.scene.title
        return f"{name}{' •' if self.document.modified else ''}"

    @Slot(str)
    def open_preset(self, name: str) -> None:
        """Open a preset as one undoable step."""
        try:
            scene = Scene(preset(name), PRESETS[name].title, name)
        except AttnlabError as error:
            self.document.message_raised.emit(str(error))
            return
        scene = replace(scene, device=self.document.scene.device, dtype=self.document.scene.dtype)
        self.open(f"Open {PRESETS[name].title}", scene)
        self._open_lens_of(name)

    def open(
        self, label: str, scene: Scene, path: "Path | None" = None, view: View | None = None, *, saved: bool = True
    ) -> None:
        """Open a scene as :meth:`Document.open` does, and show it from the top of the canvas."""
        self.document.open(label, scene, path, view, saved=saved)
        self.canvas.fit()

    def _open_lens_of(self, name: str) -> None:
        """Show a preset in its intended view: the canvas or a lens."""
        self.lenses.open_lens((PRESETS[name].lens if name in PRESETS else "") or CANVAS)

    @Slot()
    def open_gallery(self) -> None:
        """Show the presets below the title."""
        at = self.top_bar.title_button.mapToGlobal(QPoint(0, self.top_bar.title_button.height() + 4))
        self.gallery.popup(at, self.document.scene.preset, self._ask_thumbnail)

    def _ask_thumbnail(self, name: str) -> None:
        run(
            thumbnail,
            name,
            on_done=partial(self.gallery.on_thumbnail, name),
            on_failed=self.step_bar.show_message,
            lane=self.lane,
            doing="drawing the picture of a preset",
        )

    @Slot()
    def open_history(self) -> None:
        """Show the history below its button."""
        button = self.top_bar.history_button
        self.history.popup(button.mapToGlobal(QPoint(0, button.height() + 4)), self.document.history)

    @Slot()
    def let_go(self) -> None:
        """Release one thing: the brush, else the card that fills the canvas, the selected cell, or the step.

        The step of an open lesson stays: it may hide the answer to a question.
        """
        view = self.document.view
        if self.canvas.painting:
            self.mask.set_painting(False)
        elif view.alone is not None:
            self.document.show(alone=None)
        elif view.cell is not None:
            self.document.select(None, pin=True)
        elif view.at is not None and not self.step_bar.guided:
            self.document.show(at=None)

    @Slot(int)
    def _on_head_ablated(self, head: int) -> None:
        off = head in self.document.experiment.config.ablated
        label = f"Switch head {head} {'on' if off else 'off'}"
        self.comparison.pin_before()
        self.document.edit(label, lambda e: edits.toggle_head(e, head))

    @Slot(str, QPoint)
    def open_colours(self, stage: str, at: QPoint) -> None:
        """Open the menu of the colours of a stage at a point of the screen."""
        menu = make_colour_menu(self.document, stage, self.canvas)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(at)

    @Slot()
    def toggle_strips(self) -> None:
        """Show or hide the figures of each stage on its card."""
        self.document.show(strips=not self.document.view.strips)
        self.lenses.bar.strips.setChecked(self.document.view.strips)

    def toggle_causal(self) -> None:
        """Switch the causal mask."""
        on = not self.document.experiment.config.causal
        self.document.edit(f"Causal {'on' if on else 'off'}", lambda e: edits.configure(e, causal=on))

    def toggle_output(self) -> None:
        """Switch W_o."""
        on = self.document.experiment.weights.W_o is None
        self.document.edit(f"W_o {'on' if on else 'off'}", lambda e: edits.toggle_output(e, on))

    def toggle_biases(self) -> None:
        """Switch the biases."""
        on = not edits.has_biases(self.document.experiment)
        self.document.edit(f"Biases {'on' if on else 'off'}", lambda e: edits.toggle_biases(e, on))

    def toggle_second_sequence(self) -> None:
        """Take keys and values from another sequence, or from this one."""
        on = self.document.experiment.memory_tokens is None
        self.document.edit(f"Second sequence {'on' if on else 'off'}", lambda e: toggle_memory(e, on))

    def show_all_heads(self) -> None:
        """Show every head as a small multiple."""
        self.view_control.choose_head("all")

    def show_mean(self) -> None:
        """Show the mean of the heads."""
        self.view_control.choose_head("mean")

    @Slot(str)
    def _on_lens_shown(self, name: str) -> None:
        lens = LENSES.get(name)
        self.explain.show_lens(*((lens.title, lens.about) if lens is not None else ("", "")))
        self.body.make_room()

    @Slot(str)
    def open_table(self, name: str) -> None:
        """Show a table of the inputs, "" for the one that was open, and give it the focus."""
        self.body.unfold(0)
        if name:
            self.inputs.open_table(name)
        self.inputs.table.setFocus()
        self.inputs.scroll_to(self.inputs.table)

    @Slot()
    def _on_inputs_fold_requested(self) -> None:
        self.body.unfold(0, False)
        self.spine.unfold_button.setFocus()

    @Slot()
    def _on_explain_requested(self) -> None:
        self.body.unfold(1)

    @Slot()
    def _on_explain_fold_requested(self) -> None:
        self.body.unfold(1, False)
        self.lenses.bar.explain.setFocus()

    @Slot(bool, bool)
    def _on_folded(self, _inputs: bool, explanation: bool) -> None:
        self.lenses.offer_explanation(explanation)

    def focus_explanation(self) -> None:
        """Unfold the explanation and move keyboard focus to it, whose arrow keys scroll it."""
        self.body.unfold(1)
        self.explain.setFocus()

    @Slot()
    def focus_sentence(self) -> None:
        """Move keyboard focus to the sentence."""
        if self.inputs.isHidden():
            self.body.unfold(0)
        self.inputs.sentence.setFocus()
        self.inputs.sentence.selectAll()
        self.inputs.scroll_to(self.inputs.sentence)
