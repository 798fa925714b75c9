"""The layout of the weights dialog: two sides or one, a sentence and buttons below, a page shown while reading."""

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QLabel, QProgressBar, QStackedWidget, QVBoxLayout, QWidget

from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.dialog_parts import button, make_scroll_area
from attnlab.ui.base.dialog_size import fit
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.weights.array_list import ArrayList
from attnlab.ui.weights.mapping import MappingForm
from attnlab.ui.weights.trial_view import TrialView
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.fields.switch import Switch
from attnlab.ui.widgets.subscripts import FormulaLabel

_SMALL, _LARGE = (540, 400), (1000, 680)
_TWO_SIDES, _FORM = 760, 440
"""The least width for the mapping with its preview beside it, and the width of the mapping then, in pixels."""
_PATIENCE_MS = 250
MAPPING, PREVIEW, ARRAYS = "mapping", "preview", "arrays"


@guarded
class WeightsFrame(QDialog):
    """Arranges the parts of the dialog; the subclass connects them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Import weights")
        fit(self, _SMALL, _LARGE)
        self._side = MAPPING
        self.form, self.arrays, self.view = MappingForm(), ArrayList(), TrialView()
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(_PATIENCE_MS)
        self._late.timeout.connect(self._on_late)
        self._make()
        self.segments.chosen.connect(self._on_side)

    @property
    def two_sides(self) -> bool:
        """Whether the mapping and its preview stand side by side."""
        return self.width() >= px(_TWO_SIDES)

    def show_side(self, side: str) -> None:
        """Show the mapping, the preview or the arrays; with room for two, the mapping is always shown."""
        two, self._side = self.two_sides, side
        side = PREVIEW if two and side == MAPPING else side
        choices = [Choice(PREVIEW, "Preview"), Choice(ARRAYS, "Arrays")]
        self.segments.set_choices(choices if two else [Choice(MAPPING, "Mapping"), *choices])
        self.segments.set_value(side)
        self.left.setVisible(two or side == MAPPING)
        self.right.setVisible(side != MAPPING)
        self.right.setCurrentIndex(int(side == ARRAYS))
        self.left.setMaximumWidth(px(_FORM) if two else 16_777_215)
        self.left.setMinimumWidth(px(_FORM) if two else 0)

    def _show_busy(self, on: bool, steps: int = 0) -> None:
        """Show a progress bar if work takes long, with the progress if the number of steps is known."""
        self.progress.setRange(0, steps)
        self.progress.setValue(0)
        if not on:
            self._late.stop()
            self.progress.hide()
        elif not self._late.isActive():
            self._late.start()

    def _say(self, sentence: str) -> None:
        show_text(self.message, sentence)
        self.message.setVisible(bool(sentence))

    def _make(self) -> None:
        self.title = QLabel()
        self.title.setProperty("role", "title")
        self.waiting, self.message, self.info = QLabel(), FormulaLabel(), FormulaLabel()
        for label in (self.title, self.waiting):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.message.setAccessibleName("What does not fit")
        self.message.setProperty("role", "error")
        self.info.setProperty("role", "caption")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Progress")
        self.alone = Switch("Weights alone, with the settings here")
        self.alone.setToolTip(
            "Nothing here says which mask, scale and positions the layer has; say that those here are meant"
        )
        self.block = Switch("The whole block: its norms and its feed-forward too")
        self.block.setToolTip("Residuals, norms and the feed-forward stand around the attention, as in the model")
        self.segments = Segments("View")
        self.other_button = button("Other file…", "Read another file")
        self.draw_button = button("Draw new embeddings", "")
        self.cancel_button = button("Cancel", "Change nothing (Esc)")
        self.apply_button = button("Import", "Import these weights, as one step that can be undone")
        self.apply_button.setProperty("primary", True)
        self.waiting.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._lay_out()
        self._show_busy(False)
        for widget in (self.message, self.draw_button, self.alone, self.block):
            widget.hide()

    def _lay_out(self) -> None:
        self.left, self.right = make_scroll_area(self.form, "Arrays to import"), QStackedWidget()
        self.right.addWidget(make_scroll_area(self.view, "Preview"))
        self.right.addWidget(self.arrays)
        self._body = QWidget()
        sides = QHBoxLayout(self._body)
        sides.setContentsMargins(0, 0, 0, 0)
        sides.setSpacing(px(16))
        sides.addWidget(self.left)
        sides.addWidget(self.right, 1)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.waiting)
        self.pages.addWidget(self._body)
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.segments)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(px(16), px(12), px(16), px(16))
        whole.setSpacing(px(8))
        whole.addLayout(head)
        whole.addWidget(self._make_offer())
        whole.addWidget(self.pages, 1)
        whole.addWidget(self.progress)
        whole.addWidget(self.message)
        whole.addWidget(self.info)
        for switch in (self.block, self.alone):
            whole.addWidget(switch, 0, Qt.AlignmentFlag.AlignLeft)
        whole.addLayout(self._make_buttons())

    def _make_offer(self) -> QFrame:
        """Return the line that offers to open the whole model and says what Import sets; hidden without a model."""
        self.offer, self.whole_button = QFrame(), button("Open the model instead", "All its layers, on your own text")
        self.offer.setProperty("ground", "remark")
        self.offer.setAccessibleName("These weights belong to a model")
        self.offer_text = QLabel()
        self.offer_text.setTextFormat(Qt.TextFormat.PlainText)
        self.offer_text.setWordWrap(True)
        row = QHBoxLayout(self.offer)
        row.setContentsMargins(px(10), px(6), px(10), px(6))
        row.addWidget(self.offer_text, 1)
        row.addWidget(self.whole_button)
        self.offer.hide()
        return self.offer

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(px(8))
        row.addWidget(self.other_button)
        row.addStretch(1)
        for each in (self.draw_button, self.cancel_button, self.apply_button):
            row.addWidget(each)
        return row

    @Slot()
    def _on_late(self) -> None:
        """Show that the work takes longer."""
        self.progress.show()

    @Slot(object)
    def _on_side(self, side: object) -> None:
        self.show_side(str(side))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.show_side(self._side)
