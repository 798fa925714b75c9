"""Opens a layer of a training in the playground, and sends its edited weights back to the training."""

from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
from PySide6.QtCore import QObject, QPoint, Qt, Slot
from PySide6.QtWidgets import QMenu, QPushButton, QVBoxLayout, QWidget

from attnlab.training.marks import Mark
from attnlab.training.messages import Arrays
from attnlab.training.recorder import Moment
from attnlab.training.run import Run
from attnlab.ui.base.tab_order import move_tab_stops
from attnlab.ui.base.workspace import Host
from attnlab.ui.train.inspector import Inspector
from attnlab.ui.train.layer_transfer import Opened, Origin, Sent, extend_run, has_blocks, insert_layer, open_layer
from attnlab.ui.train.model_worker import ModelWorker
from attnlab.ui.train.run_words import EDITED, make_usual_name
from attnlab.ui.train.transfer_strip import TransferStrip
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.workspaces.playground import PLAYGROUND

if TYPE_CHECKING:
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.train.train_workspace import TrainWorkspace

ABOUT = "The training pauses; the layer opens with its real inputs, weights and tokens, and can be sent back"
KINDS = {"open": "opening a layer in the playground", "send": "sending a layer back"}


class RoundTrip(QObject):
    """Opens the visible moment in the playground; opening pauses the training, sending back continues it."""

    def __init__(self, workspace: "TrainWorkspace", window: Host, playground: "Playground") -> None:
        super().__init__(workspace)
        self._workspace, self._window, self._playground = workspace, window, playground
        self._session = workspace.session
        self._origins: dict[int, Origin] = {}
        self._wanted: tuple[str, int, bool] | None = None
        self._layer = ""
        self._worker = ModelWorker(KINDS, Inspector.prepare, self)
        self.strip = TransferStrip()
        self.open_button, self.choose_button, self.large_button = QPushButton(), QPushButton("Layer"), QPushButton()
        self._place()
        self._session.progressed.connect(self._on_progressed)
        self._session.inspection.looked.connect(self._on_looked)
        self._session.checked.connect(self._on_looked)  # there may be nothing to open any longer
        workspace.maps.view.map_opened.connect(self._on_map_opened)

    def _place(self) -> None:
        maps, playground = self._workspace.maps, self._playground
        for button in (self.open_button, self.large_button):
            button.setText("Open in Playground")
            button.setToolTip(ABOUT)
        menu = QMenu(self.choose_button)
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(self._on_choice_wanted)
        self.choose_button.setMenu(menu)
        self.choose_button.setAccessibleName("Choose a layer to open in the playground")
        self.choose_button.setToolTip("Choose a layer")
        self.open_button.clicked.connect(self.open_layer)
        self.large_button.clicked.connect(self.open_large)
        row = FlowLayout(gap=4)
        row.setContentsMargins(0, 8, 0, 0)
        for widget in (self.open_button, self.choose_button):
            row.addWidget(widget)
        self.row = QWidget()
        self.row.setLayout(row)
        column = cast(QVBoxLayout, self._workspace.side.layout())
        column.insertWidget(column.indexOf(self._workspace.written) + 1, self.row)
        move_tab_stops(self.row, after=self._workspace.curves.right)
        maps.large_map.row.addWidget(self.large_button)
        maps.model.layer_wanted.connect(self.open)
        for view in (maps.view, maps.large_map.sheet):
            view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            view.customContextMenuRequested.connect(partial(self._on_menu_wanted, view))
        cast(QVBoxLayout, playground.lenses.layout()).insertWidget(0, self.strip)
        self.strip.send_requested.connect(self.send_back)
        self.strip.leave_requested.connect(self._on_leave)
        playground.document.history_changed.connect(self._show_strip)
        self._show_strip()
        self._show_layer()

    def close(self) -> None:
        """Stop the thread; may be called twice."""
        self._worker.stop()

    @property
    def layers(self) -> tuple[str, ...]:
        """The visible layers."""
        seen = self._session.inspection.seen
        return tuple(each.layer for each in seen.look.maps) if seen is not None else ()

    @property
    def _has_blocks(self) -> bool:
        """Whether the layers of the model have norms or a feed-forward around them."""
        return has_blocks(self._session.find_moment()[0])

    @property
    def origin(self) -> Origin | None:
        """The origin of the open experiment; None if it did not come from a training."""
        return self._origins.get(self._playground.document.history.current.opening)

    # To the playground

    @Slot()
    def open_layer(self) -> None:
        """Open the layer of the last view, with all of its heads if none was chosen."""
        large = self._workspace.maps.large_map.index
        if large is not None:
            self.open_large()
        elif self._layer:
            self.open(self._layer, -1)

    @Slot()
    def open_large(self) -> None:
        """Open the head whose map is large."""
        cards, large = self._workspace.maps.view.cards, self._workspace.maps.large_map.index
        if large is not None:
            self.open(self.layers[cards[large].layer], cards[large].head)

    def open(self, layer: str, head: int, whole: bool = False) -> None:
        """Open a layer at the visible moment with one head in view, or all with head −1; ``whole`` with its block.

        A training that is followed pauses first, so that it continues from exactly these weights.
        """
        session = self._session
        self._wanted = layer, head, whole
        running = session.alive and session.state == "running"
        if running:
            session.pause()
        if not running or session.viewed_step is not None:
            self._ask()

    @Slot()
    def _on_progressed(self) -> None:
        if self._wanted is not None and self._session.state != "running":
            self._ask()

    def _ask(self) -> None:
        (layer, head, whole), self._wanted = self._wanted or ("", 0, False), None
        spec, step, weights = self._session.find_moment()
        run, probe = self._session.run, self._session.inspection.probe

        def make_origin(found: Arrays) -> Origin:
            return Origin(run, spec, step, found, probe, layer, head, whole)

        self._worker.ask(
            "open", partial(open_layer, make_origin, spec, weights), self._take, self._workspace.maps.head.say
        )

    def _take(self, found: Opened) -> None:
        from attnlab.document.document import View
        from attnlab.document.scene import Scene

        origin, experiment = found.origin, found.experiment
        head = "all" if origin.head < 0 and experiment.n_heads > 1 else max(origin.head, 0)
        self._playground.open(f"Open {origin.title}", Scene(experiment, origin.title), view=View(head=head))
        self._origins[self._playground.document.history.current.opening] = origin
        self._window.show_workspace(PLAYGROUND.name)
        self._show_strip()

    # Back to the training

    @Slot()
    def send_back(self) -> None:
        """Continue the training with the current weights of the playground."""
        origin = self.origin
        if origin is not None:
            job = partial(insert_layer, origin, self._playground.document.experiment, self._is_waiting_at(origin))
            self._worker.ask("send", job, self._go_on, self._refuse)
            self.strip.show_sending(True)

    def _is_waiting_at(self, origin: Origin) -> bool:
        """Whether the process still waits at the moment that was opened."""
        run, session = origin.run, self._session
        return run is not None and run is session.run and session.state == "paused" and run.step == origin.step

    def _go_on(self, found: Sent) -> None:
        self.strip.show_sending(False)
        origin, weights, checkpoint = found.origin, found.weights, found.checkpoint
        session = self._session
        if checkpoint is None and not self._is_waiting_at(origin):
            self.send_back()  # it has continued meanwhile
            return
        run, kept = origin.run or Run(origin.spec, make_usual_name(origin.spec)), ""
        if checkpoint is not None:
            if run.step > origin.step:
                kept = f" The steps after it are kept as “{self._workspace.make_title(run)}”."
                run = run.branch(origin.step)
            run.spec = extend_run(run.spec, origin.step)
            session.go_on_from(run, checkpoint)
            self._workspace.settings.show_spec(run.spec)
        else:
            session.put(weights)
            session.look_at(None)
            session.start()
        self._record(run, origin, weights)
        self._window.show_existing(self._workspace)
        told = f"Continued from step {origin.step:,} with your {origin.layer}.{kept}"
        self._workspace.footer.show_message(told, wrong=False)

    def _record(self, run: Run, origin: Origin, weights: Arrays) -> None:
        """Replace the moment's weights with the edited ones, and mark it."""
        loss = float(run.losses[-1]) if len(run.losses) else np.nan
        run.recorder.add(Moment(origin.step, weights, loss))
        run.weights, run.weights_step = weights, origin.step
        run.mark(Mark(origin.step, f"{EDITED}: {origin.layer}"))
        self._session.inspection.follow(run)
        self._session.marked.emit()
        self._session.look()

    # Showing the state

    def _refuse(self, sentence: str) -> None:
        self.strip.show_sending(False)
        self._playground.step_bar.show_message(sentence)

    @Slot()
    def _show_strip(self) -> None:
        self.strip.show_origin(self.origin)

    @Slot(object)
    def _on_looked(self, _seen: object) -> None:
        if self._layer not in self.layers:
            self._layer = (self.layers or ("",))[-1]
            self._show_layer()

    @Slot(int)
    def _on_map_opened(self, index: int) -> None:
        self._layer = self.layers[self._workspace.maps.view.cards[index].layer]
        self._show_layer()

    def _show_layer(self) -> None:
        self.open_button.setAccessibleName(f"Open {self._layer} in Playground")
        self.open_button.setToolTip(f"Open {self._layer}. {ABOUT}")
        self.row.setVisible(bool(self._layer))

    @Slot()
    def _on_choice_wanted(self) -> None:
        self.choose_button.menu().clear()
        self._fill_menu(self.choose_button.menu(), [(layer, -1) for layer in self.layers])

    def _on_menu_wanted(self, view: QWidget, at: QPoint) -> None:
        maps = self._workspace.maps
        cards = maps.view.cards
        index = (
            maps.large_map.index
            if view is maps.large_map.sheet
            else next((i for i, c in enumerate(cards) if c.rect.contains(at)), None)
        )
        if index is not None:
            layer = self.layers[cards[index].layer]
            several = sum(card.layer == cards[index].layer for card in cards) > 1
            menu = QMenu(self._window)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.setToolTipsVisible(True)
            self._fill_menu(menu, [(layer, cards[index].head), *([(layer, -1)] if several else [])])
            menu.addSeparator()
            maps.view.add_actions(menu, index)
            menu.popup(view.mapToGlobal(at))

    def _fill_menu(self, menu: QMenu, places: list[tuple[str, int]]) -> None:
        """Add what opens these layers, each with one head or with all, head −1."""
        for layer, head in places:
            what = layer if head < 0 else f"{layer}, head {head},"
            menu.addAction(f"Open {what} in Playground", partial(self.open, layer, head))
            if head < 0 and self._has_blocks:
                whole = menu.addAction(f"Open {what} as a whole block", partial(self.open, layer, head, True))
                whole.setToolTip("With its norms and its feed-forward, which can be edited and sent back too")

    @Slot()
    def _on_leave(self) -> None:
        self._window.show_existing(self._workspace)
