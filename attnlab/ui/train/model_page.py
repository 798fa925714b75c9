"""The page "Model" beside the maps: the diagram of the model at the moment in view, and the block chosen in it."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from attnlab.figures.diagram.diagram_data import Diagram, DiagramData, Opened
from attnlab.training.heads_off import read_heads
from attnlab.ui.base.guard import guarded
from attnlab.ui.train.diagram_area import DiagramArea
from attnlab.ui.train.inspector import Seen

if TYPE_CHECKING:
    from attnlab.training.look import LayerMaps
    from attnlab.training.model_tree import Block

FIRST = "Drawing the model…"


@guarded
class ModelPage(QWidget):
    """Shows the model of a moment. ``map_wanted`` and ``layer_wanted`` carry a layer and a head."""

    map_wanted = Signal(str, int)
    layer_wanted = Signal(str, int)
    left = Signal()
    """The presentation was left."""

    def __init__(self, parent: QWidget | None = None, opens: bool = True) -> None:
        """Create the page; without ``opens`` its maps cannot be opened large or in the playground."""
        super().__init__(parent)
        self.setProperty("ground", "surface")
        self.setAccessibleName("The model, drawn")
        self.room = DiagramArea(opens)
        self.view, self.details, self.area = self.room.view, self.room.details, self.room.area
        self._seen: Seen | None = None
        self._opened, self._block, self._head = Opened(), "", 0
        self.heading = ""
        """The name of the run, where two are shown side by side."""
        self.pair: tuple[ModelPage, ...] = ()
        """This page and the one beside it, from left to right, if there are two."""
        self.presents_next = False
        """Whether the next model drawn here is presented, with the one beside it once that is drawn too."""
        self.first = QLabel(FIRST)
        self.first.setProperty("role", "muted")
        self.first.setContentsMargins(18, 4, 18, 0)
        self.room.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.first, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.room)
        self.view.chosen.connect(self.enter)
        self.view.present_wanted.connect(self.present)
        self.details.head_chosen.connect(self._on_head_chosen)
        self.details.map_wanted.connect(self._on_map_wanted)
        self.details.playground_wanted.connect(self._on_playground_wanted)

    def show_seen(self, seen: Seen) -> None:
        """Show the model of a moment, if its inside was looked at."""
        if seen.inside is None:
            return
        self.first.hide()
        self.room.show()
        self._seen = seen
        maps = {each.layer: (each.weights, each.hidden) for each in seen.look.maps}
        off = read_heads(seen.spec.train.heads_off)
        self.view.show_model(DiagramData(seen.inside, maps, seen.look.step, off=off), self._opened)
        if self._find_block() is None:
            self._choose_first()
        self._show_block()
        self._present_awaited()

    def give_up(self) -> None:
        """Stop waiting for a drawing, as this moment has none; a presentation of two models shows the other one."""
        self.first.hide()
        self._present_awaited()

    def _present_awaited(self) -> None:
        if self.presents_next:
            self.presents_next = False
            if not any(page.presents_next for page in self.both):
                self.both[0].present()

    @property
    def seen(self) -> Seen | None:
        """The moment shown."""
        return self._seen

    @property
    def diagrams(self) -> list[Diagram]:
        """The model that is drawn here, and the one beside it, from left to right."""
        return [page._diagram for page in self._drawn_pages]

    @property
    def both(self) -> "tuple[ModelPage, ...]":
        """This page, or the two that are side by side."""
        return self.pair or (self,)

    @property
    def _drawn_pages(self) -> "list[ModelPage]":
        return [page for page in self.both if page.view.data is not None]

    @property
    def _diagram(self) -> Diagram:
        data = self.view.data
        assert data is not None
        return Diagram(replace(data, heading=self.heading), self._opened)

    @Slot()
    def present(self) -> None:
        """Show the model on a whole screen, with the one beside it, beginning with the chosen block.

        If one of them is still being drawn, both are shown as soon as it is.
        """
        pages = self._drawn_pages
        for page in self.both:
            page.presents_next = page.is_awaited
        if self in pages and not any(page.presents_next for page in self.both):
            from attnlab.ui.train.diagram_window import present_diagrams

            shown = present_diagrams(self.diagrams, (pages.index(self), self._block), self)
            shown.left.connect(self.left)

    @property
    def is_awaited(self) -> bool:
        """Whether the first diagram is still being drawn."""
        return self.view.data is None and not self.first.isHidden()

    @property
    def chosen(self) -> tuple[str, int]:
        """The chosen block and head."""
        return self._block, self._head

    def _choose_first(self) -> None:
        """Choose the block that tells most: the attention to the source, else the first attention of the open layer."""
        assert self._seen is not None
        assert self._seen.inside is not None
        tree = self._seen.inside.tree
        stack = tree.writing.stack
        blocks = [tree.attention] if tree.attention is not None else []
        if stack is not None:
            layer = self._opened.layer_of(stack.title, len(stack.layers))
            blocks += [part.block for part in stack.layers[layer] if part.block.layer][::-1]
        self._block, self._head = (blocks[0] if blocks else tree.writing.embedding).name, 0

    def _find_block(self) -> "Block | None":
        if self._seen is None or self._seen.inside is None:
            return None
        return self._seen.inside.tree.find(self._block)

    def _find_maps(self, block: "Block") -> "LayerMaps | None":
        assert self._seen is not None
        return next((each for each in self._seen.look.maps if each.layer == block.layer), None)

    def _show_block(self) -> None:
        block = self._find_block()
        if block is None or self._seen is None or self._seen.inside is None:
            return
        maps = self._find_maps(block)
        self.details.show_block(block, self._seen.inside.tree, maps)
        self.view.select(block.name, *([f"{block.name} · head {self._head}"] if maps is not None else []))

    @Slot(str)
    def enter(self, name: str) -> None:
        """Choose a block or a head, open another layer, fold or unfold a stack, or point at another step."""
        kind, _, rest = name.partition(" ")
        if kind == "layer":
            stack, _, number = rest.rpartition(" ")
            self._open(self._opened.choose(stack, int(number)), stack, int(number))
        elif kind == "fold":
            self._open(self._opened.toggle(rest))
        elif kind in ("step", "answer") and rest.isdigit():
            self._open(Opened(self._opened.layers, self._opened.unfolded, int(rest)))
        else:
            block, _, head = name.partition(" · head ")
            self.choose(block, int(head) if head else 0)

    def choose(self, block: str, head: int = 0) -> None:
        """Choose a block by its name, and one of its heads; any other name changes nothing."""
        if self._seen is not None and self._seen.inside is not None and self._seen.inside.tree.find(block) is not None:
            self._block, self._head = block, head
            self._show_block()

    def _open(self, opened: Opened, stack: str = "", layer: int = 0) -> None:
        """Show the diagram with something else open; a block chosen in a layer moves with it."""
        self._opened = opened
        words = self._block.split(" ", 2)
        if stack and len(words) > 1 and words[0] == stack.split(" ")[0].lower() and words[1].isdigit():
            self._block = " ".join([words[0], str(layer + 1), *words[2:]])
        if self._seen is not None:
            self.show_seen(self._seen)

    @Slot(int)
    def _on_head_chosen(self, head: int) -> None:
        self._head = head
        self._show_block()

    @Slot()
    def _on_map_wanted(self) -> None:
        if (block := self._find_block()) is not None and block.layer:
            self.map_wanted.emit(block.layer, self._head)

    @Slot()
    def _on_playground_wanted(self) -> None:
        if (block := self._find_block()) is not None and block.layer:
            self.layer_wanted.emit(block.layer, self._head)
