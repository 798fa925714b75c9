"""The preview of a mapping: its matrices as small maps, and the attention weights of the open sentence."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from attnlab.ui.base.theme import px
from attnlab.ui.weights.small_maps import SmallMaps
from attnlab.ui.weights.trial import Trial
from attnlab.ui.widgets.maps.map_sheet import MapSheet

_LEAST_SHEET = 260


class TrialView(QWidget):
    """Shows a trial; if the attention weights cannot be computed, only the matrices that can be read."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.matrices, self.biases, self.sheet = SmallMaps(), SmallMaps(), MapSheet()
        self.matrices_title, self.sheet_title = QLabel("Matrices"), QLabel()
        for label in (self.matrices_title, self.sheet_title):
            label.setProperty("role", "strong")
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.sheet.setAccessibleName("Preview of the attention weights")
        self.sheet.plain_arrows, self.sheet.spoken_title = True, "weights"
        self.sheet.setMinimumHeight(px(_LEAST_SHEET))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, px(12), 0)
        column.setSpacing(px(8))
        parts: tuple[QWidget, ...] = (self.matrices_title, self.matrices, self.biases, self.sheet_title)
        for part in parts:
            if part is self.sheet_title:
                column.addSpacing(px(6))
            column.addWidget(part)
        column.addWidget(self.sheet, 1)
        column.addStretch(0)
        for part in (*parts, self.sheet):
            part.hide()

    def show_trial(self, trial: Trial) -> None:
        """Show another trial."""
        self.matrices.show_matrices([each for each in trial.matrices if len(each.shape) == 2])
        self.biases.show_matrices([each for each in trial.matrices if len(each.shape) == 1])
        self.biases.setVisible(bool(self.biases.maps))
        for part in (self.matrices_title, self.matrices):
            part.setVisible(bool(self.matrices.maps))
        for widget in (self.sheet_title, self.sheet):
            widget.setVisible(trial.maps is not None)
        if trial.maps is not None and trial.experiment is not None:
            heads = trial.experiment.n_heads
            of = f", {heads} heads" if heads > 1 else ""
            self.sheet_title.setText(f"Attention weights of “{_join_tokens(trial.experiment.tokens)}”{of}")
            self.sheet.show_maps(trial.maps)


def _join_tokens(tokens: tuple[str, ...]) -> str:
    text = " ".join(tokens)
    return text if len(text) <= 48 else f"{text[:47]}…"
