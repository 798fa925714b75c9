"""The dialog that imports weights: reads files in the background, shows the guessed mapping, imports it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QWidget

from attnlab.base.counted import format_count
from attnlab.base.errors import FileError
from attnlab.files.weights.arrays_in import ENDINGS
from attnlab.files.weights.named_array import NamedArray, shorten_name
from attnlab.files.weights.weights_in import Proposal, guess
from attnlab.files.weights.weights_source import CLIPBOARD, WeightsSource, files_source, text_source
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.jobs import Job, Lane, Progress, run
from attnlab.ui.base.workspace import Host
from attnlab.ui.weights.model_words import ALONE, CONFIRM, describe_import, describe_model
from attnlab.ui.weights.trial import Trial, run_trial
from attnlab.ui.weights.weights_frame import MAPPING, WeightsFrame
from attnlab.ui.workspaces.playground import PLAYGROUND

if TYPE_CHECKING:
    from attnlab.pretrained.imported_layer import KnownModel
    from attnlab.ui.playground.playground import Playground

_SOON_MS = 40
MODEL_CONFIG = "config.json"
_Found = tuple[WeightsSource, tuple[Proposal, ...], "KnownModel | str | None"]


@guarded
class WeightsDialog(WeightsFrame):
    """Imports weights into one playground. ``read`` is emitted when a source is read or refused, ``previewed`` when the
    choices have been tried."""

    read = Signal()
    model_requested = Signal(object)
    """The folder of the whole model is to be opened instead."""
    previewed = Signal()

    def __init__(self, playground: "Playground", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._playground = playground
        self.source: WeightsSource | None = None
        self.trial: Trial | None = None
        self._model: Path | None = None
        self._known: KnownModel | str | None = None
        self._reading: Job | None = None
        self._trying: Job | None = None
        self._lane = Lane("trial", self)  # two jobs would read the arrays of one source at the same time
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_SOON_MS)
        self.setAcceptDrops(True)
        self._connect()

    @property
    def busy(self) -> bool:
        """Whether files are being read, or the choices are tried or about to be."""
        return self._soon.isActive() or any(job and not job.done for job in (self._reading, self._trying))

    # Input

    def show_files(self, paths: Sequence[Path]) -> None:
        """Read files, and list their arrays."""
        self._model = find_model(paths)
        name = shorten_name(paths[0].name) if len(paths) == 1 else f"{len(paths)} files"
        self._start(name, lambda progress: files_source(paths, progress.step), len(paths) if len(paths) > 1 else 0)

    def show_text(self, text: str) -> None:
        """List the arrays in a pasted text."""
        self._model = None
        self._start(CLIPBOARD, lambda _: text_source(text))

    def _start(self, name: str, source: Callable[[Progress], WeightsSource], steps: int = 0) -> None:
        e, folder = self._playground.document.experiment, self._model

        def job(progress: Progress) -> _Found:
            found = source(progress)
            return found, guess(found.arrays, e, found.heads), read_model_of(found, folder)

        if self._trying is not None:
            self._trying.cancel()
        self._soon.stop()
        self.trial = None
        self.title.setText("Import weights")
        self.waiting.setText(f"Reading {name}…")
        self.pages.setCurrentWidget(self.waiting)
        self.segments.hide()
        self._known = None
        for switch in (self.alone, self.block):
            switch.setChecked(False)
        self.block.hide()
        self.offer.hide()
        self._say("")
        self._show_busy(True, steps)
        self._enable()
        self._reading = run(
            job,
            on_done=self._on_source,
            on_failed=self._on_unread,
            doing="reading weights",
            latest=(self, "read"),
            progress=self._on_progressed,
            owner=self,
        )

    def _on_source(self, found: _Found) -> None:
        self.source, proposals, self._known = found
        self.title.setText(f"Weights from {self.source.name}")
        self.arrays.show_arrays(self.source.arrays.values())
        draws = self._known is not None and not isinstance(self._known, str)
        self.form.show_source(self.source.arrays, proposals, self._playground.document.experiment, draws=draws)
        self.pages.setCurrentWidget(self._body)
        (self.form.n_heads if proposals else self.form.rows["W_q"].array).setFocus()
        self._show_busy(False)
        self.segments.setVisible(True)
        self.read.emit()

    def _on_unread(self, sentence: str) -> None:
        self._show_busy(False)
        self.source = None
        self.waiting.setText(sentence)
        self.other_button.setFocus()
        self.segments.setVisible(False)
        self.read.emit()

    # Actions

    @Slot()
    def bring_in(self) -> None:
        """Put the tried experiment into the document, as one undoable step, and close."""
        trial, source = self.trial, self.source
        document = self._playground.document
        if trial is None or trial.experiment is None or source is None or trial.scene is not document.scene:
            return
        made = trial.experiment
        title = describe_import(trial, self.form.read_wish().embeddings, source.name)
        change = partial(replace, experiment=made, preset="")  # the preset's description no longer applies
        if document.edit_scene(f"Weights from {source.name}", change):
            if made.n_heads > 1:
                document.show(head="all")
            sizes = f"{format_count(made.n_heads, 'head')}, d_model {made.d_model}"
            self._playground.step_bar.show_note(f"{title}: {sizes}", stays=trial.layer is not None)
            self.accept()

    @Slot()
    def ask_files(self) -> None:
        """Ask for other files."""
        ask_weights(self, self.show_files)

    def _connect(self) -> None:
        self._playground.document.scene_changed.connect(self._on_scene_changed)
        self.form.changed.connect(self._on_form_changed)
        self.arrays.taken.connect(self._on_taken)
        self._soon.timeout.connect(self._on_soon)
        self.other_button.clicked.connect(self.ask_files)
        self.whole_button.clicked.connect(self._on_whole)
        self.draw_button.clicked.connect(self.form.draw_embeddings)
        self.cancel_button.clicked.connect(self.reject)
        self.apply_button.clicked.connect(self.bring_in)
        self.alone.clicked.connect(lambda _: self._enable())
        self.block.clicked.connect(lambda _: self._on_form_changed())

    def _enable(self) -> None:
        """Enable Import if the choices were tried for the open scene."""
        trial = self.trial
        fits = trial is not None and trial.experiment is not None and trial.scene is self._playground.document.scene
        unknown = fits and self._lacks_settings(trial)
        self.alone.setVisible(unknown)
        self.apply_button.setEnabled(fits and (self.alone.isChecked() or not unknown))
        columns = trial.drawable if trial is not None else 0
        self.draw_button.setVisible(bool(columns))
        self.draw_button.setToolTip(f"Give each word a vector of {columns} numbers, drawn from the word itself")
        self.info.setText(self._describe_changes(trial))
        self.info.setVisible(bool(self.info.text()))

    def _describe_changes(self, trial: Trial | None) -> str:
        """Return sentences on what else would change besides the weights."""
        if trial is None or trial.experiment is None:
            return ""
        now, made = trial.scene.experiment, trial.experiment
        told = []
        if made.embeddings is not now.embeddings:
            drawn = ", drawn for each word" if made.tokens == now.tokens and self.form.draws else ""
            told.append(f"New embeddings, {' × '.join(map(str, made.embeddings.shape))}{drawn}.")
        if made.memory_embeddings is not now.memory_embeddings and made.memory_embeddings is not None:
            told.append(f"Keys and values come from a second sequence, {' × '.join(map(str, made.memory.shape))}.")
        if now.config.ablated:
            told.append("Heads that were switched off are on again.")
        if self._is_without_config():
            told.append(ALONE)
        if self._lacks_settings(trial) and not self.alone.isChecked():
            told.append(CONFIRM)
        return " ".join(told)

    def _is_without_config(self) -> bool:
        """Return whether the weights are named like a layer of a model, of which nothing else is known."""
        return self._known is None and bool(self.form.read_wish().proposal.name)

    def _lacks_settings(self, trial: Trial | None) -> bool:
        """Return whether a model's layer would get the settings of the open scene, which only the user can confirm."""
        return self._is_without_config() or (trial is not None and bool(trial.unknown))

    # Reactions

    @Slot()
    def _on_whole(self) -> None:
        self.reject()
        self.model_requested.emit(self._model)

    def _on_progressed(self, begun: int) -> None:
        self.progress.setValue(begun - 1)

    @Slot()
    def _on_form_changed(self) -> None:
        self.trial = None
        self.apply_button.setEnabled(False)
        self._soon.start()

    @Slot()
    def _on_scene_changed(self, *_: object) -> None:
        if self.source is not None and (self._reading is None or self._reading.done):
            self.form.show_experiment(self._playground.document.experiment)
            self._on_form_changed()

    @Slot()
    def _on_soon(self) -> None:
        """Try the choices, in the thread."""
        source = self.source
        if source is None:
            return
        wish = replace(self.form.read_wish(), block=self.block.isChecked())
        scene, model = self._playground.document.scene, self._known

        def job(progress: Progress) -> Trial:
            wanted = {part.array for part in wish.proposal.parts.values()}
            source.keep(wanted | ({wish.embeddings.name} if isinstance(wish.embeddings, NamedArray) else set()))
            return run_trial(wish, source.arrays, scene, progress, model)

        self._show_busy(True)
        self._trying = run(
            job,
            on_done=self._on_trial,
            on_failed=self._on_untried,
            doing="trying the weights",
            latest=(self, "try"),
            progress=_ignore_step,
            lane=self._lane,
            owner=self,
        )

    def _on_trial(self, trial: Trial) -> None:
        self.trial = trial
        self.view.show_trial(trial)
        show_text(self.offer_text, describe_model(trial, self.form.read_wish().embeddings))
        self.offer.setVisible(self._known is not None)
        self.block.setVisible(trial.layer is not None and trial.layer.has_block)
        self._on_untried(trial.sentence)

    def _on_untried(self, sentence: str) -> None:
        self._show_busy(False)
        self._say(sentence)
        self._enable()
        self.previewed.emit()

    @Slot(str, object)
    def _on_taken(self, field: str, array: object) -> None:
        self.form.assign(field, array)  # type: ignore[arg-type]
        self.show_side(MAPPING)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if list_dropped(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.show_files(list_dropped(event.mimeData()))

    def done(self, result: int) -> None:
        self._soon.stop()
        self._late.stop()
        for job in (self._reading, self._trying):
            if job is not None:
                job.cancel()
        self._lane.close()
        super().done(result)


def _ignore_step(_: int) -> None:
    """Steps of a trial are not shown; counting them notices a cancelled job."""


def find_model(paths: Sequence[Path]) -> Path | None:
    """Return the folder of the whole model to which files of weights belong; None if there is none."""
    folders = {path if path.is_dir() else path.parent for path in paths}
    folder = folders.pop() if len(folders) == 1 else None
    return folder if folder is not None and (folder / MODEL_CONFIG).is_file() else None


def read_model_of(source: WeightsSource, folder: Path | None) -> "KnownModel | str | None":
    """Return the model in the folder of some weights, or a sentence why attnlab does not know it; None without one."""
    if folder is None:
        return None
    from attnlab.pretrained.imported_layer import find_known_model

    try:
        return find_known_model(folder, source.arrays)
    except FileError as error:
        return str(error)


def list_dropped(data: QMimeData) -> list[Path]:
    """Return the dropped or pasted files."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def open_weights_dialog(
    playground: "Playground", window: Host, paths: Sequence[Path] = (), text: str = ""
) -> WeightsDialog:
    """Ask which arrays of the files, or of a text, are which weights."""
    window.show_workspace(PLAYGROUND.name)
    dialog = next((each for each in window.findChildren(WeightsDialog) if each.isVisible()), None)
    if dialog is None:
        dialog = WeightsDialog(playground, window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.model_requested.connect(lambda folder: window.open_paths([folder]))
    if paths:
        dialog.show_files(paths)
    else:
        dialog.show_text(text)
    dialog.open()
    return dialog


def ask_weights(parent: QWidget, then: Callable[[Sequence[Path]], object]) -> QFileDialog:
    """Ask for one or several files of weights, and go on with the answer."""
    dialog = QFileDialog(parent, "Import weights")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setNameFilter(f"Weights ({' '.join(f'*{ending}' for ending in ENDINGS)})")
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.filesSelected.connect(lambda names: then([Path(name) for name in names]))
    dialog.open()
    return dialog
