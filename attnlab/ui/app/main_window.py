"""The window: rail, workspace, bars, menus and keys. It is on screen before torch is loaded."""

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QMenu, QWidget

from attnlab.base.printable import printable
from attnlab.document.settings import Settings
from attnlab.files.source import Source
from attnlab.ui.app.command_palette import CommandPalette
from attnlab.ui.app.dressed_window import Dressed, DressedWindow
from attnlab.ui.app.open_file import open_paths
from attnlab.ui.app.rail import Rail
from attnlab.ui.app.window_actions import SECTIONS, window_actions
from attnlab.ui.app.window_keys import take_key
from attnlab.ui.app.window_place import keep_place, restore_place
from attnlab.ui.app.window_start import WindowStart
from attnlab.ui.base.actions import ActionList
from attnlab.ui.base.guard import guarded

if TYPE_CHECKING:
    from attnlab.compute.service import ComputeService
    from attnlab.document.first import First
    from attnlab.document.scene import Scene
    from attnlab.ui.lessons.desk import LessonDesk
    from attnlab.ui.playground.recovery import Recovery
    from attnlab.ui.playground.workspace import Playground
    from attnlab.ui.train.workspace import TrainWorkspace

WORKSPACES = (("Play", "play-grid"), ("Lessons", "book"), ("Train", "train"))
PLAYGROUND, LESSONS, TRAIN = range(len(WORKSPACES))


@guarded
class MainWindow(DressedWindow):
    """Owns the worker and the workspaces."""

    first_painted = Signal()
    ready = Signal()
    """The playground is there and its first numbers are shown."""
    failed = Signal(str)
    """There will be no first numbers, for this reason: nothing could be loaded, or the first scene not computed."""

    def __init__(self, settings: Settings, source: "Source | Scene", *, remember: bool = True) -> None:
        super().__init__(settings, remember=remember)
        self._walkable: tuple[bool, bool] | None = None
        self.playground: Playground | None = None
        self.recovery: Recovery | None = None
        self.desk: LessonDesk | None = None
        self.trainer: TrainWorkspace | None = None
        self._service: ComputeService | None = None
        self.starting = WindowStart(self, source)
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

    def _build(self) -> None:
        self._page = QWidget()
        self._grid = QGridLayout(self._page)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(0)
        frame = QFrame()
        frame.setProperty("ground", "left")
        (inside := QGridLayout(frame)).setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self.rail)
        self._grid.addWidget(frame, 1, 0)
        self._grid.addWidget(self.starting.welcome, 1, 1)
        self._grid.setColumnStretch(1, 1)
        self._grid.setRowStretch(1, 1)
        self.setCentralWidget(self._page)

    def load(self) -> None:
        """Begin to load torch once the window is painted; the workspace follows."""
        self.starting.load()

    def make_playground(self, first: "First") -> "Playground":
        """Make the worker and the playground, with what is opened first; torch is loaded."""
        from attnlab.compute.engine import prepare
        from attnlab.compute.service import ComputeService
        from attnlab.ui.playground.recovery import Recovery
        from attnlab.ui.playground.workspace import Playground

        prepare()  # of the threads, this one is not told by the loader's
        self._service = ComputeService(self)
        self.playground = Playground(first.scene, first.label, self._service, self, self._page)
        self._grid.addWidget(self.playground.top_bar, 0, 0, 1, 2)
        self._grid.addWidget(self.playground.body, 1, 1)
        self._grid.addWidget(self.playground.step_bar, 2, 0, 1, 2)
        self.playground.arrange(self.width() - self.rail.sizeHint().width())
        self.playground.set_palette(self._palette)
        self.playground.title_changed.connect(self._on_title_changed)
        self.playground.top_bar.export_requested.connect(self.playground.files.ask_export)
        self.playground.files.opened.connect(self.remember_file)
        self.playground.document.set_history_budget(self.settings.history_mib << 20)
        self.playground.history.budget_chosen.connect(self._on_history_budget_chosen)
        self._on_title_changed(self.playground.title())
        if self._remember:
            self.recovery = Recovery(self.playground)
            self.actions_list.refresh()
        return self.playground

    def bring_back(self, path: Path | None = None) -> None:
        """Open the unsaved work at a path, or the newest, if there is any."""
        if self.recovery is not None:
            self.show_workspace(PLAYGROUND)
            self.recovery.bring_back(path)

    @Slot(str)
    def _on_title_changed(self, title: str) -> None:
        if self.windowTitle() != (said := f"{printable(title)} — attnlab"):
            self.setWindowTitle(said)
        history = self.playground.document.history if self.playground is not None else None
        walkable = (history.undo_label is None, history.redo_label is None) if history is not None else None
        if walkable != self._walkable:  # for the keys; the menu and the palette ask for all the rest when they open
            self._walkable = walkable
            self.actions_list.refresh()

    @Slot(int)
    def _on_history_budget_chosen(self, mib: int) -> None:
        self.change_settings(history_mib=mib)
        if self.playground is not None:
            self.playground.document.set_history_budget(mib << 20)

    def parts(self) -> "list[Dressed]":
        made = (self.rail, self.command_palette, self.playground, self.desk, self.trainer)
        return [part for part in made if part is not None]

    def say(self, sentence: str) -> None:
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
        self.starting.stop()
        if self.recovery is not None:
            self.recovery.stop()
        if self.playground is not None:
            self.playground.stop()
        if self.trainer is not None:
            self.trainer.close()
        if self._service is not None:
            self._service.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self.starting.note_painted()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for part in (self.playground, self.trainer):
            if part is not None:
                part.arrange(self.width() - self.rail.sizeHint().width())

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.recovery is not None and not self.starting.stopped and not self.recovery.may_close():
            event.ignore()
            return
        if self.desk is not None:
            self.desk.stop()
        if self._remember:
            keep_place(self)
        self.stop()
        super().closeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not take_key(self, Qt.Key(event.key())):
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        open_paths(self, [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()])
        event.acceptProposedAction()
