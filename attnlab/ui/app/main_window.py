"""The window: rail, workspace, bars, menus and keys. It is on screen before torch is loaded."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QMenu, QVBoxLayout, QWidget

from attnlab.base.discovery import find_declared
from attnlab.base.printable import escape
from attnlab.document.settings import Settings
from attnlab.files.source import Source
from attnlab.ui.app.command_palette import CommandPalette
from attnlab.ui.app.first_steps_setting import keep_first_steps
from attnlab.ui.app.open_file import open_paths
from attnlab.ui.app.rail import Rail, RailFrame
from attnlab.ui.app.window_actions import make_window_actions
from attnlab.ui.app.window_place import keep_place, restore_place
from attnlab.ui.app.window_start import WindowStart
from attnlab.ui.base.actions import ActionList, Context
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.late_pages import rest, wake
from attnlab.ui.base.theme import HAIRLINE, bar_height
from attnlab.ui.base.workspace import Host, Titled, W, Workspace, WorkspaceKind
from attnlab.ui.workspaces.lessons import LESSONS
from attnlab.ui.workspaces.playground import PLAYGROUND
from attnlab.ui.workspaces.train import TRAIN

if TYPE_CHECKING:
    from attnlab.compute.service import ComputeService
    from attnlab.document.first import First
    from attnlab.document.scene import Scene
    from attnlab.ui.lessons.draft import Draft
    from attnlab.ui.lessons.lesson_controller import LessonController
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.playground.recovery import Recovery
    from attnlab.ui.train.train_workspace import TrainWorkspace

PLACES = ((0, 0, 1, 2), (1, 1, 1, 1), (2, 1, 1, 1))
"""Where the pages of a workspace lie in the grid of the window: row, column, rows, columns."""


@guarded
class MainWindow(Host):
    """Owns the compute thread and the workspaces."""

    first_painted = Signal()
    failed = Signal(str)
    """Loading, or computing the first scene, failed for this reason; there will be no first numbers."""

    def __init__(self, settings: Settings, source: "Source | Scene", *, remember: bool = True) -> None:
        super().__init__(settings, remember=remember)
        self._walkable: tuple[bool, bool] | None = None
        self.kinds: tuple[WorkspaceKind[Any], ...] = find_declared("attnlab.ui.workspaces", WorkspaceKind)
        self._workspaces: dict[str, Workspace] = {}
        self._outdated: set[str] = set()
        self._pages: dict[str, tuple[QWidget, QWidget, QWidget]] = {}
        self._current = self.kinds[0].name
        self.playground: Playground | None = None
        self.recovery: Recovery | None = None
        self._service: ComputeService | None = None
        self.starting = WindowStart(self, source, chain.from_iterable(kind.ahead() for kind in self.kinds))
        self.setWindowTitle("attnlab")
        self.setMinimumSize(720, 480)
        self.setAcceptDrops(True)
        self.actions_list = ActionList(make_window_actions(self), self)
        menu = QMenu(self)
        for section in dict.fromkeys(action.section for action in self.actions_list):
            self.actions_list.menu(menu.addMenu(section), section)
        menu.aboutToShow.connect(self.actions_list.refresh)
        workspaces = [(kind.title, kind.icon) for kind in self.kinds]
        self.rail = Rail(workspaces, menu, *(self._make_menu(name) for name in ("Help", "Settings")))
        self.rail.workspace_chosen.connect(lambda place: self.show_workspace(self.kinds[place].name))
        self._build()
        self.apply_theme()
        self.command_palette = CommandPalette(self.actions_list, self)  # after the theme: it would keep another font
        restore_place(self, remember)

    def _make_menu(self, section: str) -> QMenu:
        """Return a menu with the actions of one section."""
        menu = self.actions_list.menu(QMenu(self), section)
        menu.aboutToShow.connect(self.actions_list.refresh)
        return menu

    def _build(self) -> None:
        self._page = QWidget()
        self._grid = QGridLayout(self._page)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(0)
        self._empty_bar = QFrame()  # so that the rail stays where it is once the first workspace is there
        self._empty_bar.setProperty("ground", "top")
        self._grid.addWidget(self._empty_bar, *PLACES[0])
        self._frame = RailFrame(self.rail)
        self._below = QVBoxLayout()
        self._below.addWidget(self._frame)
        self._grid.addLayout(self._below, 0, 0, 3, 1)  # beside all bars below one line, so that it stays where it is
        self._grid.addWidget(self.starting.welcome, 1, 1)
        self._grid.setColumnStretch(1, 1)
        self._grid.setRowStretch(1, 1)
        self.setCentralWidget(self._page)

    def load(self) -> None:
        """Begin to load torch once the window is painted; the workspace follows."""
        self.starting.load()

    @property
    def page(self) -> QWidget:
        return self._page

    def make_playground(self, first: "First") -> "Playground":
        """Create the worker and the playground with the first scene; torch must be loaded."""
        from attnlab.compute.engine import prepare
        from attnlab.compute.service import ComputeService
        from attnlab.ui.playground.playground import Playground
        from attnlab.ui.playground.recovery import Recovery

        prepare()  # the loader's call covers only its own thread
        self._service = ComputeService(self)
        self.playground = Playground(first.scene, first.label, self._service, self, self._page)
        self.playground.files.lessons = lambda make: self.workspace(LESSONS, make=make)
        self._workspaces[PLAYGROUND.name] = self.playground
        self._place(PLAYGROUND.name, self.playground)
        self.playground.title_changed.connect(self._on_title_changed)
        self.playground.top_bar.export_requested.connect(self.playground.files.ask_export)
        self.playground.files.opened.connect(self.remember_file)
        keep_first_steps(self, self.playground.first_steps)
        self.playground.document.set_history_budget(self.settings.history_mib << 20)
        self.playground.history.budget_chosen.connect(self.set_history_memory)
        self._on_title_changed(self.playground.title())
        if self._remember:
            self.recovery = Recovery(self.playground)
            self.refresh_actions()
        return self.playground

    @property
    def unsaved(self) -> "Context[Recovery]":
        """The context of actions on unsaved work; running one shows the playground."""

        def enter() -> "Recovery | None":
            if self.recovery is not None:
                self.show_workspace(PLAYGROUND.name)
            return self.recovery

        return Context(lambda: self.recovery, enter, lambda: self.recovery is not None)

    @Slot(str)
    def _on_title_changed(self, _title: str) -> None:
        self.show_title()
        history = self.playground.document.history if self.playground is not None else None
        walkable = (history.undo_label is None, history.redo_label is None) if history is not None else None
        if walkable != self._walkable:  # for the keys; menu and palette refresh the rest when they open
            self._walkable = walkable
            self.refresh_actions()

    @Slot()
    def show_title(self) -> None:
        shown: Any = self._workspaces.get(self._current)
        titled = shown if isinstance(shown, Titled) else self.playground
        if titled is not None and self.windowTitle() != (said := f"{escape(titled.title())} — attnlab"):
            self.setWindowTitle(said)

    @Slot(int)
    def set_history_memory(self, mib: int) -> None:
        """Limit the memory of the edit history."""
        self.change_settings(history_mib=mib)
        if self.playground is not None:
            self.playground.document.set_history_budget(mib << 20)

    def apply_theme(self) -> None:
        super().apply_theme()
        self._grid.setRowMinimumHeight(0, bar_height())
        self._below.setContentsMargins(0, bar_height() - HAIRLINE, 0, 0)
        self._outdated = set(self._workspaces)
        self._arrange(self._current)

    def _arrange(self, name: str) -> None:
        """Arrange a workspace that is shown, if the theme changed since it was arranged."""
        if name in self._outdated:
            self._outdated.discard(name)
            self._workspaces[name].arrange(self._width())

    def say(self, sentence: str) -> None:
        """Show a sentence in the workspace in view; in the others it would outlive what it is about."""
        if self._current in self._workspaces:
            self._workspaces[self._current].say(sentence)

    def show_palette(self) -> None:
        """Open or close the command palette."""
        self.refresh_actions()
        self.command_palette.open()

    def toggle_full_screen(self) -> None:
        """Enter or leave full screen."""
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    # Workspaces

    @property
    def loaded(self) -> bool:
        return self.playground is not None

    @property
    def current(self) -> str:
        return self._current

    @property
    def shown(self) -> Workspace | None:
        return self._workspaces.get(self._current)

    @property
    def lessons(self) -> "LessonController | None":
        """The controller of lessons, if it exists."""
        return self.workspace(LESSONS, make=False)

    @property
    def trainer(self) -> "TrainWorkspace | None":
        """The training workspace, if it exists."""
        return self.workspace(TRAIN, make=False)

    @property
    def editing(self) -> "Draft | None":
        """The lesson that is being written, while its editor is shown."""
        return self.lessons.drafts.editing if self.lessons is not None else None

    def workspace(self, kind: WorkspaceKind[W], *, make: bool = True) -> W | None:
        found: Any = self._workspaces.get(kind.name)
        if found is None and make and self.loaded:
            found = self._workspaces[kind.name] = kind.make(self)
        return found  # type: ignore[no-any-return]

    def show_workspace(self, name: str) -> None:
        kind = next(kind for kind in self.kinds if kind.name == name) if self.loaded else self.kinds[0]
        self.rail.show_place(self.kinds.index(kind))
        if (workspace := self.workspace(kind)) is None:
            return
        before, self._current = self._current, kind.name
        if kind.name not in self._pages:
            self._place(kind.name, workspace)
        if before != kind.name:
            self._drop_focus(before)
        for other, pages in self._pages.items():
            for page in pages:
                (wake if other == kind.name else rest)(page)
                page.setVisible(other == kind.name)
        self._arrange(kind.name)
        if before != kind.name:
            self._workspaces[before].leave()
        workspace.enter()
        self.show_title()
        self.refresh_actions()

    def _drop_focus(self, name: str) -> None:
        """Take the focus from a workspace before it is hidden, as Qt would give it to any field that comes next."""
        focus = self.focusWidget()
        if any(page.isAncestorOf(focus) for page in self._pages.get(name, ())):
            focus.clearFocus()

    def show_existing(self, workspace: Workspace) -> None:
        self.show_workspace(next(name for name, each in self._workspaces.items() if each is workspace))

    def _place(self, name: str, workspace: Workspace) -> None:
        """Put the pages of a workspace into the window."""
        self._pages[name] = workspace.pages()
        for page, place in zip(self._pages[name], PLACES, strict=True):
            self._grid.addWidget(page, *place)
        self._empty_bar.hide()
        self._frame.raise_()
        workspace.arrange(self._width())

    def _width(self) -> int:
        """Return the width that workspaces have in pixels."""
        return self.width() - self.rail.sizeHint().width()

    def escape(self) -> None:
        """Close the innermost thing open in the current workspace."""
        if self._current in self._workspaces:
            self._workspaces[self._current].escape()

    def open_path(self, path: Path) -> None:
        """Open a file by its ending: a session, a lesson, weights."""
        self.open_paths([path])

    def open_paths(self, paths: Sequence[Path]) -> None:
        open_paths(self, paths)

    @Slot(object)
    def remember_file(self, path: Path) -> None:
        """Put a file first in the list of recent files."""
        self.change_settings(recent=self.settings.with_recent(str(path.absolute())).recent)

    def stop(self) -> None:
        """End the threads; may be called twice."""
        self.starting.stop()
        if self.recovery is not None:
            self.recovery.stop()
        for workspace in self._workspaces.values():
            workspace.stop()
        if self._service is not None:
            self._service.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self.starting.note_painted()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for workspace in self._workspaces.values():
            workspace.arrange(self._width())

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.recovery is not None and not self.starting.stopped and not self.recovery.may_close():
            event.ignore()
            return
        if self._remember:
            keep_place(self)
        self.stop()
        super().closeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._take_key(Qt.Key(event.key())):
            super().keyPressEvent(event)

    def _take_key(self, key: Qt.Key) -> bool:
        """Offer a key to the workspaces, the playground last, since lessons use the same keys for their steps."""
        if any(workspace.take_key(key) for workspace in reversed(self._workspaces.values())):
            return True
        if key == Qt.Key.Key_Escape:
            self.escape()
        return key == Qt.Key.Key_Escape

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.open_paths([Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()])
        event.acceptProposedAction()
