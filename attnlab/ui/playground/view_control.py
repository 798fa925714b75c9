"""What a click, a key or a walk changes in the view: the selected cell, the head, the card alone, the step."""

from dataclasses import replace

from PySide6.QtCore import QObject, Slot

from attnlab.attention.stages.table import BY_NAME
from attnlab.attention.stages.walk import Place, stages_of
from attnlab.document.document import Document


class ViewControl(QObject):
    """Turns the signals of the canvas, the lenses and the bars into changes of a document's view."""

    def __init__(self, document: Document, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document

    @Slot(object)
    def select_cell(self, cell: object) -> None:
        """Select the cell under the pointer, None for none."""
        self._document.select(cell)  # type: ignore[arg-type]

    @Slot(object)
    def toggle_cell(self, cell: object) -> None:
        """Hold a cell, or release it if it is held."""
        view = self._document.view
        self._document.select(None if view.pinned and view.cell == cell else cell, pin=True)  # type: ignore[arg-type]

    @Slot(object)
    def hold_cell(self, cell: object) -> None:
        """Hold a cell."""
        self._document.select(cell, pin=True)  # type: ignore[arg-type]

    @Slot(object)
    def show_alone(self, name: object) -> None:
        """Let the card of a stage fill the canvas; None shows all cards."""
        self._document.show(alone=name)

    @Slot(object)
    def choose_head(self, head: object) -> None:
        """Show a head, "all" or "mean"; the selected cell moves to it, and from the mean to the first of all."""
        cell = self._document.view.cell
        if cell is not None and BY_NAME[cell.stage].has_heads:
            kept = None if head == "mean" else cell.head or 0
            cell = replace(cell, head=head if isinstance(head, int) else kept)
        self._document.show(head=head, cell=cell)

    @Slot(object)
    def show_place(self, place: object) -> None:
        """Show a place of the walk, None for the whole computation.

        A stage of the walk that is alone gives way to that of the place, or to the last one.
        """
        view, stages = self._document.view, [stage.name for stage in stages_of(self._document.experiment)]
        alone = view.alone
        if alone in stages and place != view.at:
            alone = place.stage if isinstance(place, Place) else stages[-1]
        self._document.show(at=place, alone=alone)

    @Slot(object)
    def show_depth(self, depth: object) -> None:
        """Walk in stages, rows, cells or terms."""
        self._document.show(depth=depth)
