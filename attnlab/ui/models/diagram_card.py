"""The card with the diagram of the open model: its blocks on the text, and below them the chosen block."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot

from attnlab.figures.diagram.diagram_data import Diagram, Opened
from attnlab.figures.diagram.scene import Scene
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.models.model_card import ModelCard
from attnlab.ui.train.diagram_area import DiagramArea
from attnlab.ui.widgets.fields.form_parts import make_wrapped_label

if TYPE_CHECKING:
    from attnlab.figures.diagram.diagram_data import DiagramData
    from attnlab.training.model_tree import Block


@guarded
class DiagramCard(ModelCard):
    """Shows the model. ``head_wanted`` carries the part, the layer and the head of a map that was clicked."""

    head_wanted = Signal(str, int, int)
    present_wanted = Signal()
    maps_wanted = Signal()
    """A presentation that was asked for on the maps was left."""

    def __init__(self) -> None:
        super().__init__("The model", "neutral")
        self.room = DiagramArea(opens=False)
        self.view, self.details, self.area = self.room.view, self.room.details, self.room.area
        self.message = make_wrapped_label("muted")
        self.message.setAccessibleName("Why there is no diagram")
        self._opened, self._block, self._head = Opened(), "", 0
        self.column.addWidget(self.message)
        self.column.addWidget(self.room, 1)
        self.column.addStretch(0)
        self.view.chosen.connect(self.enter)
        self.presents_next = False
        """Whether the diagram is presented once it shows the model as it is."""
        self.returns = False
        """Whether the maps are shown again after that presentation."""
        self.view.present_wanted.connect(self.present_wanted)
        self.say("")

    def restyle(self) -> None:
        """Set the least height, so that a narrow window shows more of the diagram than its head."""
        super().restyle()
        self.setMinimumHeight(px(420))

    def say(self, sentence: str) -> None:
        """Show one sentence in place of the diagram, which is then not presented; "" shows the diagram again."""
        if sentence:
            self.cancel_presentation()
        self.message.setText(sentence)
        self.message.setVisible(bool(sentence))
        self.about.setText("")
        self.room.setVisible(not sentence)

    def cancel_presentation(self) -> None:
        """Present nothing that was asked for and is not on the screen yet."""
        self.presents_next = self.returns = False

    @property
    def is_drawn(self) -> bool:
        """Whether there is a diagram."""
        return self.view.data is not None and not self.message.text()

    @property
    def heading(self) -> str:
        """The title of a figure of the diagram: the name and the kind of the model."""
        data = self.view.data
        return "" if data is None else f"{data.heading}, {data.inside.tree.title}"

    def lay_out(self) -> Scene:
        """Return the diagram as it is on the screen, for a figure."""
        return self.view.lay_out(self.view.scene.width)

    @Slot()
    def present(self) -> None:
        """Show the diagram on a whole screen, beginning with the chosen block."""
        data = self.view.data
        if data is not None and self.is_drawn:
            from attnlab.ui.train.diagram_window import present_diagrams

            shown = present_diagrams([Diagram(data, self._opened)], (0, self._block), self)
            if self.returns:
                shown.left.connect(self.maps_wanted)
            self.cancel_presentation()

    def show_model(self, data: "DiagramData") -> None:
        """Show a model on a text."""
        self.say("")
        if self.isVisible() and self.view.data is None:
            self.view.setFocus(Qt.FocusReason.ShortcutFocusReason)  # the arrow keys walk at once
        tree = data.inside.tree
        self.about.setText(f"{tree.title}, {tree.total:,} parameters")
        self.view.show_model(data, self._opened)
        if tree.find(self._block) is None:
            self._block, self._head = tree.writing.embedding.name, 0
        self._show_block()

    def show_head(self, part: str, layer: int, head: int) -> None:
        """Open the layer whose maps are looked at, and choose its block and the head."""
        data = self.view.data
        block = next((each for each in self._list_attention() if each.layer == f"{part} {layer}"), None)
        if data is None or block is None or (block.name, head) == (self._block, self._head):
            return
        self._block, self._head = block.name, head
        stack = block.name.split(" ")[0].capitalize()
        self._open(self._opened.choose(stack, layer))

    @Slot(str)
    def enter(self, name: str) -> None:
        """Choose a block or a head, whose map is then looked at; open another layer; fold or unfold a stack."""
        kind, _, rest = name.partition(" ")
        if kind == "layer":
            stack, _, number = rest.rpartition(" ")
            self._open(self._opened.choose(stack, int(number)))
        elif kind == "fold":
            self._open(self._opened.toggle(rest))
        else:
            self._choose(*name.partition(" · head ")[::2])

    def _choose(self, name: str, head: str) -> None:
        data = self.view.data
        block = data.inside.tree.find(name) if data is not None else None
        if block is None:
            return
        self._block, self._head = name, int(head or 0)
        self._show_block()
        if block.layer:
            part, _, layer = block.layer.partition(" ")
            self.head_wanted.emit(part, int(layer), self._head)

    def _open(self, opened: Opened) -> None:
        """Show the diagram with something else open."""
        self._opened = opened
        if (data := self.view.data) is None:
            return
        self.view.show_model(data, opened)
        self._show_block()

    def _list_attention(self) -> "list[Block]":
        data = self.view.data
        return [] if data is None else [block for block in data.inside.tree.list_blocks() if block.layer]

    def _show_block(self) -> None:
        data = self.view.data
        assert data is not None
        if (block := data.inside.tree.find(self._block)) is not None:
            self.details.show_block(block, data.inside.tree, None)
            self.view.select(block.name, *([f"{block.name} · head {self._head}"] if block.layer else []))
