"""The window: rail, workspace, bars, menus and keys. It is on screen before torch is loaded."""

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QGridLayout, QLabel, QMainWindow, QMenu, QWidget

from attnlab.document.settings import Settings, save_settings
from attnlab.errors import AttnlabError
from attnlab.figures.palette import LIGHT
from attnlab.files.source import Source
from attnlab.ui.actions import ActionList
from attnlab.ui.command_palette import CommandPalette
from attnlab.ui.loader import Loader
from attnlab.ui.open_file import open_paths
from attnlab.ui.rail import Rail
from attnlab.ui.theme import CHOICES, TYPE_SIZES, apply_theme
from attnlab.ui.window_actions import SECTIONS, window_actions
from attnlab.ui.window_place import keep_place, restore_place

if TYPE_CHECKING:
    from attnlab.compute.service import ComputeService, Reply
    from attnlab.document.scene import Scene
    from attnlab.ui.lessons.desk import LessonDesk
    from attnlab.ui.playground.recovery import Recovery
    from attnlab.ui.playground.workspace import Playground
    from attnlab.ui.train.workspace import TrainWorkspace

WORKSPACES = (("Play", "play-grid"), ("Lessons", "book"), ("Train", "train"))
PLAYGROUND, LESSONS, TRAIN = range(len(WORKSPACES))
_SHOWN = QEvent.Type(QEvent.registerEventType())
MOST_ROUNDS = 20
"""How often the first painting is waited for, a round of events each; a card out of sight is never painted."""
_AFTER_PAINTING = Qt.EventPriority.LowEventPriority.value - 1
"""What is painted is painted with low priority; an event below that comes when it is on screen."""


class MainWindow(QMainWindow):
    """Owns the settings, the worker and the workspaces."""

    first_painted = Signal()
    ready = Signal()
    """The playground is there and its first numbers are shown."""
    failed = Signal(str)
    """There will be no first numbers, for this reason: nothing could be loaded, or the first scene not computed."""

    def __init__(self, settings: Settings, source: "Source | Scene", *, remember: bool = True) -> None:
        super().__init__()
        self.settings = settings
        self._remember = remember
        self._painted = self._stopped = self._computed = False
        self._rounds = 0
        self._walkable: tuple[bool, bool] | None = None
        self.playground: Playground | None = None
        self.recovery: Recovery | None = None
        self.desk: LessonDesk | None = None
        self.trainer: TrainWorkspace | None = None
        self._service: ComputeService | None = None
        self._palette = LIGHT
        self.setWindowTitle("attnlab")
        self.setMinimumSize(720, 480)
        self.setAcceptDrops(True)
        self.actions_list = ActionList(window_actions(self), self)
        self.command_palette = CommandPalette(self.actions_list, self)
        menu = QMenu(self)
        for section in SECTIONS:
            self.actions_list.menu(menu.addMenu(section), section)
        menu.aboutToShow.connect(self.actions_list.refresh)
        self.rail = Rail(WORKSPACES, menu)
        self.rail.workspace_chosen.connect(self.show_workspace)
        self._build()
        self.apply_theme()
        restore_place(self, remember)
        QApplication.styleHints().colorSchemeChanged.connect(self._on_scheme_changed)
        self._loader = Loader(source, self)
        self._loader.loaded.connect(self._on_loaded)

    @property
    def remembers(self) -> bool:
        """Whether settings, unsaved work and runs are kept in the person's folder."""
        return self._remember

    def _build(self) -> None:
        centre = QWidget()
        self._grid = QGridLayout(centre)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(0)
        frame = QFrame()
        frame.setProperty("ground", "left")
        (inside := QGridLayout(frame)).setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self.rail)
        self._grid.addWidget(frame, 1, 0)
        self._welcome = QLabel("Loading the mathematics…")
        self._welcome.setProperty("role", "muted")
        self._welcome.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._welcome.setWordWrap(True)
        self._welcome.setTextFormat(Qt.TextFormat.PlainText)
        self._grid.addWidget(self._welcome, 1, 1)
        self._grid.setColumnStretch(1, 1)
        self._grid.setRowStretch(1, 1)
        self.setCentralWidget(centre)

    def load(self) -> None:
        """Begin to load torch in a thread once the window is painted, not to slow that down; the workspace follows."""
        if self._painted:
            self._on_first_painted()
        else:
            self.first_painted.connect(self._on_first_painted, Qt.ConnectionType.QueuedConnection)

    @Slot()
    def _on_first_painted(self) -> None:
        if not self._stopped:
            self._loader.start()

    @Slot(str)
    def _on_loaded(self, problem: str) -> None:
        if self._stopped:  # closed while it loaded: a worker made now would never end
            return
        first = self._loader.first
        if problem or first is None:
            self._loader.stop()
            self.give_up(problem)
            return
        from attnlab.compute.engine import prepare
        from attnlab.compute.service import ComputeService
        from attnlab.ui.playground.recovery import Recovery
        from attnlab.ui.playground.workspace import Playground

        prepare()  # of the threads, this one is not told by the loader's
        self._service = ComputeService(self)
        self._service.computed.connect(self._on_reply)
        self.playground = Playground(first.scene, first.label, self._service, self)
        self._grid.addWidget(self.playground.top_bar, 0, 0, 1, 2)
        self._grid.addWidget(self.playground.body, 1, 1)
        self._grid.addWidget(self.playground.step_bar, 2, 0, 1, 2)
        self._welcome.hide()
        self.playground.arrange(self.width() - self.rail.sizeHint().width())
        self.playground.set_palette(self._palette)
        self.playground.title_changed.connect(self._on_title_changed)
        self.playground.top_bar.export_requested.connect(self.playground.files.ask_export)
        self.playground.files.opened.connect(self.remember_file)
        self.playground.computed.connect(self._on_first_computed)
        self._on_title_changed(self.playground.title())
        if self._remember:
            self.recovery = Recovery(self.playground)
            self.actions_list.refresh()
            if self.recovery.there():
                self.ready.connect(self._on_ready)
        self.playground.files.begin(first, self.ready)

    @Slot()
    def _on_ready(self) -> None:
        from attnlab.ui.playground.recovery import NOTE

        assert self.playground is not None
        if not self.playground.step_bar.message:
            self.playground.step_bar.show_note(NOTE)

    def bring_back(self) -> None:
        """Open the unsaved work of the last time, if there is any."""
        if self.recovery is not None:
            self.show_workspace(PLAYGROUND)
            self.recovery.bring_back()

    @Slot(object)
    def _on_reply(self, reply: "Reply") -> None:
        if reply.error and not self._computed:
            self.failed.emit(reply.error)

    def give_up(self, problem: str) -> None:
        """Say why there will be no first numbers; once there were some, do nothing."""
        if not self._computed:
            self._welcome.setText(problem)
            self.failed.emit(problem)

    @Slot()
    def _on_first_computed(self) -> None:
        assert self.playground is not None
        self._computed = True
        self.playground.computed.disconnect(self._on_first_computed)
        QApplication.postEvent(self, QEvent(_SHOWN), _AFTER_PAINTING)

    @Slot(str)
    def _on_title_changed(self, title: str) -> None:
        if self.windowTitle() != f"{title} — attnlab":
            self.setWindowTitle(f"{title} — attnlab")
        history = self.playground.document.history if self.playground is not None else None
        walkable = (history.undo_label is None, history.redo_label is None) if history is not None else None
        if walkable != self._walkable:  # for the keys; the menu and the palette ask for all the rest when they open
            self._walkable = walkable
            self.actions_list.refresh()

    @Slot()
    def _on_scheme_changed(self) -> None:
        if self.settings.theme == "system":
            self.apply_theme()

    def apply_theme(self) -> None:
        """Dress everything in the theme and the size of type of the settings."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self._palette = apply_theme(app, self.settings.theme, self.settings.type_size)
        self.rail.set_palette(self._palette)
        self.command_palette.set_palette(self._palette)
        for part in (self.playground, self.desk, self.trainer):
            if part is not None:
                part.set_palette(self._palette)

    def change_settings(self, **changes: object) -> None:
        """Change settings, keep them, and show them."""
        self.settings = replace(self.settings, **changes)  # type: ignore[arg-type]
        if self._remember:
            try:
                save_settings(self.settings)
            except AttnlabError as error:
                self.say(str(error))
        if changes.keys() - {"recent", "figure"}:  # which are not to be seen
            self.apply_theme()

    def set_theme(self, theme: str) -> None:
        """Follow the system, or be light or dark."""
        assert theme in CHOICES
        self.change_settings(theme=theme)

    def step_type_size(self, step: int) -> None:
        """Make type larger or smaller by 10 %, or with 0 as it was."""
        size = 100 if step == 0 else self.settings.type_size + 10 * step
        self.change_settings(type_size=min(max(size, TYPE_SIZES[0]), TYPE_SIZES[1]))

    def say(self, sentence: str) -> None:
        """Show one sentence where messages stand."""
        if self.playground is not None:
            self.playground.step_bar.show_message(sentence)
        if self.desk is not None:
            self.desk.show_message(sentence)
        if self.trainer is not None:
            self.trainer.footer.show_message(sentence)

    def do(self, path: str) -> Callable[[], None]:
        """Return what shows the playground and calls a method of it ("files.save"); nothing while it is loading."""

        def call() -> None:
            if self.playground is not None:
                if self.rail.place != PLAYGROUND:
                    self.show_workspace(PLAYGROUND)
                attrgetter(path)(self.playground)()

        return call

    def show_palette(self) -> None:
        """Open or close the command palette."""
        self.actions_list.refresh()
        self.command_palette.open()

    def toggle_full_screen(self) -> None:
        """Fill the screen, or leave it."""
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def lessons(self) -> "LessonDesk | None":
        """Return what lessons need, made when it is first asked for; None while the playground is loading."""
        if self.desk is None and self.playground is not None:
            from attnlab.ui.lessons.desk import LessonDesk

            self.desk = LessonDesk(self.playground, self)
            self.desk.set_palette(self._palette)
        return self.desk

    def teach(self, path: str, *arguments: object) -> Callable[[], None]:
        """Return what calls a method of the lessons' desk ("player.next"), for an action; nothing while loading."""

        def call() -> None:
            desk = self.lessons()
            if desk is not None:
                attrgetter(path)(desk)(*arguments)
                self.actions_list.refresh()

        return call

    def training(self) -> "TrainWorkspace | None":
        """Return the workspace that trains, made when it is first asked for; None while the playground is loading."""
        if self.trainer is None and self.playground is not None:
            from attnlab.ui.train.workspace import first_workspace

            self.trainer = first_workspace(self, self._grid)
            self.trainer.set_palette(self._palette)
        return self.trainer

    def train(self, path: str) -> Callable[[], None]:
        """Return what shows the training and calls a method of its workspace; nothing while loading."""

        def call() -> None:
            if self.playground is not None:
                self.show_workspace(TRAIN)
                attrgetter(path)(self.trainer)()
                self.actions_list.refresh()

        return call

    @Slot(int)
    def show_workspace(self, place: int) -> None:
        """Show the playground, the lessons or the training."""
        desk = self.lessons() if place == LESSONS else self.desk
        trainer = self.training() if place == TRAIN else self.trainer
        if self.playground is None:
            place = PLAYGROUND
        self.rail.show_place(place)
        if self.playground is None:
            return
        for widget in (self.playground.top_bar, self.playground.body, self.playground.step_bar):
            widget.setVisible(place == PLAYGROUND)
        if desk is not None:
            desk.show_page(place == LESSONS, self._grid)
        if trainer is not None:
            trainer.show_all(place == TRAIN)
        self.actions_list.refresh()

    def escape(self) -> None:
        """Let go of the card that fills the canvas, then of the cell; the arrows walk the steps again."""
        if self.playground is not None and self.rail.place == PLAYGROUND:
            self.playground.let_go()
            self.playground.canvas.setFocus()
        elif self.trainer is not None and self.rail.place == TRAIN:
            self.trainer.maps.close_map()

    def open_path(self, path: Path) -> None:
        """Open a file by its ending: a session, a lesson, weights."""
        open_paths(self, [path])

    @Slot(object)
    def remember_file(self, path: Path) -> None:
        """Put a file at the head of the recent ones."""
        self.change_settings(recent=self.settings.with_recent(str(path.absolute())).recent)

    def stop(self) -> None:
        """End the threads; may be called twice."""
        self._stopped = True
        self._loader.stop()
        if self.playground is not None:
            self.playground.files.stop()
        if self.trainer is not None:
            self.trainer.close()
        if self._service is not None:
            self._service.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            self.first_painted.emit()

    def customEvent(self, event: QEvent) -> None:
        if event.type() != _SHOWN or self._stopped:
            return
        if self._rounds < MOST_ROUNDS and self.playground is not None and not self.playground.canvas.painted:
            self._rounds += 1  # a layout that was still to be done put the painting off
            QApplication.postEvent(self, QEvent(_SHOWN), _AFTER_PAINTING)
            return
        self._loader.go_on()
        self.ready.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for part in (self.playground, self.trainer):
            if part is not None:
                part.arrange(self.width() - self.rail.sizeHint().width())

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.recovery is not None and not self._stopped and not self.recovery.may_close():
            event.ignore()
            return
        if self.desk is not None:
            self.desk.stop()
        if self._remember:
            keep_place(self)
        self.stop()
        super().closeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {
            Qt.Key.Key_Left: "step_back", Qt.Key.Key_Right: "step_next", Qt.Key.Key_Home: "step_first",
            Qt.Key.Key_End: "step_last", Qt.Key.Key_PageUp: "step_back", Qt.Key.Key_PageDown: "step_next",
        }.get(Qt.Key(event.key()))  # fmt: skip
        if any(part is not None and part.take_key(event.key()) for part in (self.desk, self.trainer)):
            return
        if step is not None and self.playground is not None and self.rail.place == PLAYGROUND:
            getattr(self.playground.step_bar, step)()
        elif event.key() == Qt.Key.Key_Escape:
            self.escape()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        open_paths(self, [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()])
        event.acceptProposedAction()
